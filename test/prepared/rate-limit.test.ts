import { randomUUID } from 'node:crypto';
import { CHANNEL } from '../support/gateway';
import { BothWays } from './support/both-ways';
import { MISSING } from './support/transactions';

/** Both ways take the same points from a caller, and refuse at the same one. */

const BATCH =
  'query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }';
const CREATE = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';

const batchOf = (count: number) => ({ c: CHANNEL, ids: Array.from({ length: count }, () => MISSING) });
/** Refused by a rule: what it costs it costs all the same. */
const badInput = () => ({
  input: {
    idempotencyKey: randomUUID(),
    channel: CHANNEL,
    amount: { currency: 'INR', value: '1.00' },
    externalId: '',
    method: { redirect: 'UPI' },
  },
});

interface Spending {
  query: string;
  variables: () => object;
  /** What it costs. */
  points: number;
}

const SPENDINGS: [string, Spending][] = [
  ['a batch of seven', { query: BATCH, variables: () => batchOf(7), points: 7 }],
  ['a batch of one', { query: BATCH, variables: () => batchOf(1), points: 1 }],
  ['a batch of none', { query: BATCH, variables: () => batchOf(0), points: 1 }],
  ['a mutation', { query: CREATE, variables: badInput, points: 5 }],
  ['nothing looked up', { query: '{ __typename }', variables: () => ({}), points: 1 }],
];

test.each(SPENDINGS)('%s costs the same by both ways', async (_what, { query, variables, points }) => {
  // As many as two to learn it and three prepared cost, and one point less than another costs.
  const most = points * 6 - 1;
  const told = [];
  for (const isApollo of [true, false]) {
    const ways = await BothWays.start({ RATE_LIMIT_PER_MINUTE: String(most) });
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      const body = { query, variables: variables() };
      const { told: answer, isPrepared } = isApollo
        ? { told: await ways.askApollo({ body }), isPrepared: false }
        : await ways.ask({ body });
      // The last is refused: by Apollo, in front of which nothing was answered then.
      expect(isPrepared).toBe(!isApollo && count > 1 && count < 5);
      statuses.push(answer.status);
      if (count === 5) told.push(answer);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  }
  expect(told[1]).toEqual(told[0]);
});

test('of many prepared calls at once no more are let in than points are left', async () => {
  const ways = await BothWays.start({ RATE_LIMIT_PER_MINUTE: '44' });
  for (let count = 0; count < 2; count += 1)
    await ways.ask({ body: { query: BATCH, variables: batchOf(2) } });
  const answers = await Promise.all(Array.from({ length: 40 }, () => ways.client.ask(BATCH, batchOf(4))));
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(10);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
});
