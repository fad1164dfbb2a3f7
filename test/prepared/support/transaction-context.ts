import type { Caller } from '../../../src/access/caller';
import type { Attempt } from '../../../src/datasources/journal/journal';
import type { LookupKey, ServiceClient } from '../../../src/datasources/service/client';
import { operationLoader, lookupLimit } from '../../../src/datasources/service/lookups';
import { PaymentService } from '../../../src/datasources/service/payments';
import { PayoutService } from '../../../src/datasources/service/payouts';
import { ServiceError } from '../../../src/datasources/service/service-error';
import type { OperationContext } from '../../../src/resolvers/context';
import { DEFAULT_POLL_AFTER } from '../../../src/schema/poll-after';
import { ALL_SCOPES, CLIENT_ID } from '../../support/credentials';
import { CHANNEL } from '../../support/gateway';
import { ATTEMPT_KEYS } from './generated-operations';
import { answerFor, FAILING, FOUND } from './transactions';

/** A caller that may do everything. */
export const ALL_SCOPES_CALLER = {
  id: CLIENT_ID,
  kind: 'service',
  scopes: new Set(ALL_SCOPES),
  channels: '*',
} as unknown as Caller;

/** The service's side, without a socket: its answers are read as any answer is. */
const client = {
  lookUp: (_path: string, { transactionId = FOUND.payment[0] ?? '' }: LookupKey) => {
    if (FAILING.includes(transactionId)) return Promise.reject(new ServiceError('AUTH_FAILED', 'Refused.'));
    const answer = answerFor(transactionId);
    return Promise.resolve({ answer: answer ?? null, isOwn: true, serviceTime: undefined });
  },
  queue: () => null,
} as unknown as ServiceClient;

const payments = new PaymentService(client, DEFAULT_POLL_AFTER);
const payouts = new PayoutService(client);

/** The attempts of the caller: one settled as a payment, one under way as a payout. */
const ATTEMPTS = [
  { kind: 'payment', transactionId: FOUND.payment[3], outcome: 'succeeded', settledAt: 1_700_000_001_000 },
  { kind: 'payout', transactionId: null, outcome: 'in_progress', settledAt: null },
].map((facts, place) => ({
  ...facts,
  key: ATTEMPT_KEYS[place],
  seq: 3 - place,
  channel: CHANNEL,
  externalId: `order-${place}`,
  startedAt: 1_700_000_000_000,
  method: 'upi',
  currency: 'INR',
  value: '10.00',
})) as unknown as Attempt[];

/** What the resolvers of one operation share, on the transactions of transactions.ts. */
export function contextOfTransactions(caller: Caller): OperationContext {
  const limit = lookupLimit();
  return {
    requestId: 'request',
    caller,
    visiblePayments: operationLoader((key) => payments.lookUp(key), limit),
    visiblePayouts: operationLoader((key) => payouts.lookUp(key), limit),
    attempts: {
      find: (_client: string, key: string) =>
        Promise.resolve(ATTEMPTS.find((attempt) => attempt.key === key) ?? null),
      list: ({ limit: most }: { limit: number }) => Promise.resolve(ATTEMPTS.slice(0, most)),
    },
  } as unknown as OperationContext;
}
