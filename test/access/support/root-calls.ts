import { ALL_SCOPES, OWN_SCOPES } from '../../support/credentials';
import { encodeNodeId } from '../../../src/schema/node';
import {
  DOCUMENTS,
  TRANSACTION_ID,
  redirectCall,
  unused,
  validCall,
  type Json,
  type MoneyCall,
} from '../../gateway/fixtures/calls';

/** A call of one root field, and who may make it. */
export interface RootCall {
  /** What is special about it; empty where the field has one call only. */
  about: string;
  field: string;
  document: string;
  /** On that channel; a create has a key of its own every time. */
  variables(channel: string): Json;
  /** Any one of these is enough. */
  anyOf: string[];
  /** Needed beside it. */
  also?: string;
}

const LOOKUP = (field: string): string =>
  `query Q($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionId: $t) { __typename } }`;
const BATCH = (field: string): string =>
  `query Q($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionIds: [$t]) { __typename } }`;
const WATCH = (field: string): string =>
  `subscription S($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionId: $t) { __typename } }`;
const NODE = 'query Q($id: ID!) { node(id: $id) { __typename id } }';
const ATTEMPTS = 'query Q($c: UUID!) { attempts(channel: $c) { edges { cursor } } }';
const ATTEMPT = 'query Q($key: ID!) { attempt(idempotencyKey: $key) { operation } }';

const lookup = (field: string, document: string, anyOf: string[]): RootCall => ({
  about: '',
  field,
  document,
  variables: (c) => ({ c, t: TRANSACTION_ID }),
  anyOf,
});

const node = (kind: 'payment' | 'payout'): RootCall => ({
  about: `of a ${kind}`,
  field: 'node',
  document: NODE,
  variables: (channel) => ({ id: encodeNodeId({ kind, channel, transactionId: TRANSACTION_ID }) }),
  anyOf: [`${kind}s:read`, `${kind}s:read:own`],
});

const money = (about: string, call: () => MoneyCall, anyOf: string[], also?: string): RootCall => {
  const { mutation } = call();
  const variables = (channel: string): Json => ({ input: { ...call().input, channel } });
  return { about, field: mutation, document: DOCUMENTS[mutation], variables, anyOf, ...(also && { also }) };
};

const SEES_ATTEMPTS = [...ALL_SCOPES, ...OWN_SCOPES].filter((scope) =>
  /^pay.*:(read|read:own|create)$/.test(scope),
);

/** Every root field, in every way that needs other scopes. */
export const ROOT_CALLS: RootCall[] = [
  lookup('payment', LOOKUP('payment'), ['payments:read', 'payments:read:own']),
  lookup('payments', BATCH('payments'), ['payments:read', 'payments:read:own']),
  lookup('payout', LOOKUP('payout'), ['payouts:read', 'payouts:read:own']),
  lookup('payouts', BATCH('payouts'), ['payouts:read', 'payouts:read:own']),
  lookup('paymentUpdated', WATCH('paymentUpdated'), ['payments:read', 'payments:read:own']),
  lookup('payoutUpdated', WATCH('payoutUpdated'), ['payouts:read', 'payouts:read:own']),
  node('payment'),
  node('payout'),
  lookup('attempts', ATTEMPTS, SEES_ATTEMPTS),
  {
    about: '',
    field: 'attempt',
    document: ATTEMPT,
    variables: () => ({ key: unused().idempotencyKey }),
    anyOf: SEES_ATTEMPTS,
  },
  money('by UPI', () => validCall('createPayment', 'upi'), ['payments:create']),
  money('by redirect', () => redirectCall('CARD'), ['payments:create']),
  money('with a card number', () => validCall('createPayment', 'card'), ['payments:create'], 'cards:direct'),
  money('to a bank', () => validCall('createPayout', 'bankTransfer'), ['payouts:create']),
  money('with a card number', () => validCall('createPayout', 'card'), ['payouts:create'], 'cards:direct'),
  money('', () => validCall('confirmPayment', 'upi'), ['payments:confirm', 'payments:confirm:own']),
];
