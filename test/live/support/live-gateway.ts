import { randomUUID } from 'node:crypto';
import type { Sandbox } from '../../../src/sandbox/server';
import { movedClock } from '../../support/moved-clock';
import { CHANNEL, testGateway, testSandbox, type TestClient } from '../../support/gateway';

const CREATE_PAYMENT = `mutation ($input: CreatePaymentInput!) {
  createPayment(input: $input) { ... on PaymentSuccess { payment { ... on PaymentResource { transactionId } } } }
}`;
const CREATE_PAYOUT = `mutation ($input: CreatePayoutInput!) {
  createPayout(input: $input) { ... on PayoutSuccess { payout { ... on PayoutResource { transactionId } } } }
}`;
const LOOK_UP = `query ($channel: UUID!, $transactionId: UUID!) {
  payment(channel: $channel, transactionId: $transactionId) { ... on PaymentResource { status } }
}`;

/** What of a payment the tests watch. */
export const PAYMENT_UPDATED = `subscription PaymentUpdated($channel: UUID!, $transactionId: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $transactionId) {
    ... on PaymentResource { transactionId status amount { received } }
  }
}`;
export const PAYOUT_UPDATED = `subscription PayoutUpdated($channel: UUID!, $transactionId: UUID!) {
  payoutUpdated(channel: $channel, transactionId: $transactionId) {
    ... on PayoutResource { transactionId status }
  }
}`;

/** Asks for a payment to be watched. */
export const watching = (transactionId: string, query = PAYMENT_UPDATED) => ({
  query,
  variables: { channel: CHANNEL, transactionId },
});

/** A gateway and its sandbox, with one clock that only the test moves. */
export interface LiveGateway {
  client: TestClient;
  sandbox: Sandbox;
  clock: ReturnType<typeof movedClock>;
  /** Where the events are. */
  streamUrl: string;
  logLines: string[];
  /** A new payment that waits for its payer. Returns its id. */
  sell(): Promise<string>;
  /** A new payout that is under way. Returns its id. */
  payOut(): Promise<string>;
  /** Somebody looks the payment up: whoever watches it hears of what was found. */
  look(transactionId: string): Promise<unknown>;
  /** How often the service was asked for payments. */
  lookups(): number;
}

interface LiveOptions {
  env?: Record<string, string>;
  sandbox?: Sandbox;
  clock?: ReturnType<typeof movedClock>;
}

export async function liveGateway(options: LiveOptions = {}): Promise<LiveGateway> {
  const clock = options.clock ?? movedClock();
  const sandbox = options.sandbox ?? (await testSandbox({ clock }));
  const logLines: string[] = [];
  const client = await testGateway(sandbox.url, { clock, logLines, env: options.env });
  return {
    client,
    sandbox,
    clock,
    logLines,
    streamUrl: `${client.url}/stream`,
    sell: () => sold(client),
    payOut: () =>
      create(client, CREATE_PAYOUT, {
        idempotencyKey: randomUUID(),
        channel: CHANNEL,
        amount: { currency: 'USD', value: '25.00' },
        externalId: `payout-${randomUUID()}`,
        method: BANK_TRANSFER,
      }),
    look: async (transactionId) => {
      const { data, text } = await client.ask<{ payment: { status: string } | null } | null>(LOOK_UP, {
        channel: CHANNEL,
        transactionId,
      });
      if (!data) throw new Error(text);
      return data.payment?.status;
    },
    lookups: () => sandbox.control.counts().payment.lookups,
  };
}

/** A new payment that waits for its payer. Returns its id. */
export const sold = (client: TestClient): Promise<string> =>
  create(client, CREATE_PAYMENT, {
    idempotencyKey: randomUUID(),
    channel: CHANNEL,
    amount: { currency: 'EUR', value: '10.00' },
    method: { redirect: 'CARD' },
  });

const BANK_TRANSFER = {
  bankTransfer: {
    bankCode: 'DEUTDEFF',
    bankName: 'Sample Bank',
    accountNumber: '1234567890',
    firstName: 'Ada',
    lastName: 'Payee',
  },
};

type Created = Record<string, Record<string, { transactionId: string }>>;

async function create(client: TestClient, mutation: string, input: object): Promise<string> {
  const { data, text } = await client.ask<Created | null>(mutation, { input });
  const [result = {}] = Object.values(data ?? {});
  const [created] = Object.values(result);
  if (!created) throw new Error(text);
  return created.transactionId;
}
