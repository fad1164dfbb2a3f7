import { CHANNEL } from '../support/gateway';
import { createInput } from '../exactly-once/support/caller';
import type { Reply } from '../support/scripted-service';
import { BothWays, type Question, type Told } from './support/both-ways';
import { FAILING, FOUND, MISSING, tellTransaction } from './support/transactions';

/** Lookups that fail, by both ways: the same nulls and errors, and not a call more. */

const HUNDRED = Array.from(
  { length: 100 },
  (_, place) => `40000000-0000-4000-8000-${String(place).padStart(12, '0')}`,
);
const BAD = HUNDRED[41] ?? '';

const MANY = `query Many($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) {
  ... on PaymentResource { transactionId status amount { value } } } }`;

/** A gateway before a service that fails so for one transaction of a hundred; it has seen no failure before. */
async function failing(reply: Reply, timeoutMs: string): Promise<BothWays> {
  const ways = await BothWays.start({ SERVICE_TIMEOUT_MS: timeoutMs });
  ways.service.answer((request) => {
    if (request.query.includes(BAD)) return reply;
    const id = /transaction_id=([^&]*)/.exec(request.query)?.[1];
    return id && HUNDRED.includes(id)
      ? { status: 200, json: { status: 'pending', transaction_id: id } }
      : tellTransaction(request);
  });
  return ways;
}

const FAULTS: [string, Reply, string][] = [
  ['500', { status: 500, json: {} }, 'SERVICE_UNAVAILABLE'],
  ['silence', () => undefined, 'SERVICE_TIMEOUT'],
  ['no JSON', { status: 200, body: '<html>' }, 'SERVICE_RESPONSE_INVALID'],
  [
    'another transaction',
    { status: 200, json: { status: 'pending', transaction_id: MISSING } },
    'SERVICE_RESPONSE_INVALID',
  ],
  ['403', { status: 403, json: {} }, 'SERVICE_AUTH_FAILED'],
  ['a reset', (_response, socket) => void socket.resetAndDestroy(), 'SERVICE_UNAVAILABLE'],
];

test.each(FAULTS)(
  'one of a hundred fails with %s: one null, one error, the same bytes',
  async (_what, reply, code) => {
    const question = { query: MANY, variables: { c: CHANNEL, ids: HUNDRED } };
    const told: Told[] = [];
    for (const isApollo of [true, false]) {
      const ways = await failing(reply, code === 'SERVICE_TIMEOUT' ? '500' : '10000');
      if (!isApollo) await ways.prepare({ ...question, variables: { c: CHANNEL, ids: HUNDRED.slice(0, 2) } });
      told.push(isApollo ? await ways.byApollo(question) : await ways.byPrepared(question));
    }
    const [byApollo, byPrepared] = told;
    expect(byPrepared).toEqual(byApollo);
    const { data, errors } = JSON.parse(byPrepared?.body ?? '') as {
      data: { payments: unknown[] };
      errors: object[];
    };
    expect(data.payments.filter((found) => found === null)).toHaveLength(1);
    expect(data.payments[41]).toBeNull();
    expect(errors).toMatchObject([{ path: ['payments', 41], extensions: { code } }]);
  },
);

describe('With several that fail', () => {
  let ways: BothWays;
  beforeAll(async () => {
    ways = await BothWays.start();
  });

  const [first = '', second = ''] = FAILING;
  const c = CHANNEL;
  const QUESTIONS: [string, Question][] = [
    ['all of a list', { query: MANY, variables: { c, ids: [first, second, first] } }],
    ['some of a list', { query: MANY, variables: { c, ids: [first, FOUND.payment[0], second, MISSING] } }],
    [
      'two aliases',
      {
        query:
          'query ($c: UUID!, $a: UUID!, $b: UUID!) { b: payment(channel: $c, transactionId: $b) { __typename } a: payment(channel: $c, transactionId: $a) { __typename } }',
        variables: { c, a: first, b: second },
      },
    ],
    [
      'a lookup and a list',
      {
        query:
          'query ($c: UUID!, $a: UUID!) { a: payment(channel: $c, transactionId: $a) { __typename } b: payments(channel: $c, transactionIds: [$a]) { __typename } }',
        variables: { c, a: first },
      },
    ],
    [
      'a list and a lookup',
      {
        query:
          'query ($c: UUID!, $a: UUID!) { b: payments(channel: $c, transactionIds: [$a]) { __typename } a: payment(channel: $c, transactionId: $a) { __typename } }',
        variables: { c, a: first },
      },
    ],
    [
      'what is refused at once and what fails later',
      {
        query:
          'query ($c: UUID!, $a: UUID!) { a: payment(channel: $c, transactionId: $a) { __typename } b: payment(channel: $c) { __typename } d: node(id: "x") { __typename } }',
        variables: { c, a: first },
      },
    ],
    [
      'a list that is too long beside a lookup',
      {
        query:
          'query ($c: UUID!, $a: UUID!, $ids: [UUID!]!) { a: payment(channel: $c, transactionId: $a) { __typename } b: payments(channel: $c, transactionIds: $ids) { __typename } }',
        variables: { c, a: first, ids: Array.from({ length: 101 }, () => MISSING) },
      },
    ],
  ];

  /** One error after another as it is told, in whatever order: which comes first says nothing (GraphQL, 7.1.2). */
  const inAnyOrder = (told: Told): unknown => {
    const { data, errors } = JSON.parse(told.body) as { data: unknown; errors: unknown[] };
    return { ...told, body: { data, errors: new Set(errors) } };
  };

  test.each(QUESTIONS)(
    '%s: the same errors, and each transaction is asked for once',
    async (_what, question) => {
      const byApollo = await ways.byApollo(question);
      await ways.prepare(question);
      const byPrepared = await ways.byPrepared(question);
      expect(inAnyOrder(byPrepared)).toEqual(inAnyOrder(byApollo));
      expect(new Set(byPrepared.calls).size).toBe(byPrepared.calls.length);
    },
  );

  // A lookup's error is told before a list's by one way and behind it by the other.
  test.each(QUESTIONS)('%s: the same errors in the same order', async (_what, question) => {
    await ways.expectSame(question);
  });
});

test('an attempt whose payment fails to be found costs the service one call, by both ways', async () => {
  const ways = await BothWays.start();
  const id = FOUND.payment[0];
  const CREATE = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
  ways.service.answer(() => ({ status: 201, json: { status: 'pending', transaction_id: id } }));
  await ways.ask({ body: { query: CREATE, variables: { input: createInput('payment', 'key-1') } } });
  ways.service.answer(() => ({ status: 403, json: {} }));
  const told = await ways.expectSame({
    query:
      '{ attempt(idempotencyKey: "key-1") { payment { __typename } again: payment { ... on Node { id } } } }',
  });
  expect(told.calls).toHaveLength(1);
});
