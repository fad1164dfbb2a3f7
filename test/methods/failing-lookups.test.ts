import type { Reply } from '../support/scripted-service';
import { openBench, type Bench } from './bench';
import { THE_LOOKUP, confirm, confirms, create, creates, leastOf, lookups, named } from './short-calls';

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});

describe('a lookup that fails after the money has moved', () => {
  const golden = named(creates, 'upi, server-to-server');
  const failures: [string, Reply][] = [
    ['breaks down', { status: 500, body: 'oops' }],
    ['does not know the payment yet', { status: 404, json: {} }],
    ['refuses the credentials', { status: 401, json: {} }],
    ['refuses the parameters', { status: 400, json: { message: 'no' } }],
    ['sends half of an answer', { status: 200, body: '{"status":"processing","transac' }],
    [
      'speaks of another payment',
      { status: 200, json: { ...golden.answer, transaction_id: 'b1a9e0c4-52d7-4c36-8a1f-0c9d2e7b6f02' } },
    ],
    ['cuts the connection', (_response, socket) => void socket.destroy()],
  ];

  test.each(failures)('leaves null and never fails the create: the service %s', async (_what, get) => {
    const found = await create(bench, golden, { post: leastOf(golden.answer), get });
    expect(found).toStrictEqual({
      ...golden.data,
      redirectUrl: null,
      createDate: null,
      state: null,
      upiId: null,
      upiLink: null,
      nextAction: { __typename: 'AwaitProviderAction', pollAfterMs: 2000 },
    });
    // Some failures are worth another try; never another question.
    expect(lookups(bench).length).toBeLessThanOrEqual(3);
    expect(new Set(lookups(bench))).toEqual(new Set([THE_LOOKUP]));
  });

  test.each(failures)('leaves null and never fails the confirm: the service %s', async (_what, get) => {
    const completed = named(confirms, 'upi, completed');
    const selection = '{ ... on UpiPayment { status amount { value } redirectUrl upiId } }';
    const found = await confirm(bench, completed, { selection, post: completed.answer, get });
    expect(found).toEqual({
      status: 'COMPLETED',
      amount: { value: '100.00' },
      redirectUrl: null,
      upiId: null,
    });
    // Some failures are worth another try; never another question.
    expect(lookups(bench).length).toBeLessThanOrEqual(3);
    expect(new Set(lookups(bench))).toEqual(new Set([THE_LOOKUP]));
  });
});
