import { startRuleHarness } from '../gateway/fixtures/rig';
import { graphqlWsClient } from '../subscriptions/support/graphql-ws-client';
import { watchPayment, watchPayout, type Watching } from '../subscriptions/support/subscriptions';
import { sendCall, redirectCall, newIds, validCall, withValue, type MutationCall } from '../support/calls';
import { freePort } from '../support/free-port';
import { until } from '../support/latch';
import { testGateway, testSandbox, type TestClient, type LoggedGateway } from '../support/gateway';
import { fakeClock } from '../support/fake-clock';
import { describeSqlite, newKey } from '../support/harness';
import { expectSigned } from '../support/signatures';
import { NO_POLLING, callbackUrlOf, completedWith, outcome } from './support/harness';

const CREATES = [validCall('createPayment', 'upi'), validCall('createPayout', 'imps')];
const OWN = 'https://shop.example/hooks/1?from=service&order=%C3%A9';
const ADDRESS = /^https:\/\/gateway\.example\/pay\/callbacks\/[\w-]{43}$/;

const again = ({ mutation, input }: MutationCall): MutationCall => ({
  mutation,
  input: { ...input, ...newIds() },
});

const withOwn = (call: MutationCall, callbackUrl: string | null): MutationCall => ({
  ...call,
  input: withValue(call.input, ['callbackUrl'], callbackUrl),
});

async function requestsOf({ client, service }: LoggedGateway, calls: readonly MutationCall[]) {
  const before = service.requests.length;
  for (const call of calls) await sendCall(client, call);
  return service.requests.slice(before);
}

test.each([
  ['https://gateway.example:8443/', 'https://gateway.example:8443'],
  ['HTTPS://Gateway.Example/Money/in/', 'https://gateway.example/Money/in'],
])('A create sends a callback URL below PUBLIC_URL %s, in the signed body', async (PUBLIC_URL, base) => {
  const sent = await requestsOf(await startRuleHarness({ PUBLIC_URL }), CREATES.map(again));
  expect(sent).toHaveLength(2);
  for (const request of sent) {
    const address = String(request.json['callback_url']);
    expect(address.slice(0, base.length)).toBe(base);
    expect(address.slice(base.length)).toMatch(/^\/callbacks\/[\w-]{43}$/);
    expect(request.body.split('callback_url')).toHaveLength(2);
    expectSigned(request);
  }
});

describe('The callback URL of a create', () => {
  let harness: LoggedGateway;

  beforeAll(async () => {
    harness = await startRuleHarness({
      PUBLIC_URL: 'https://gateway.example/pay',
      ALLOWED_URL_HOSTS: 'shop.example',
    });
  });

  test('is new for each create, also with callbackUrl null, and need not match ALLOWED_URL_HOSTS', async () => {
    const calls = CREATES.flatMap((call) => [again(call), again(call), withOwn(again(call), null)]);
    const addresses = (await requestsOf(harness, calls)).map(({ json }) => json['callback_url']);
    expect(new Set(addresses).size).toBe(calls.length);
    for (const address of addresses) expect(address).toMatch(ADDRESS);
  });

  test('is the callbackUrl of the caller, unchanged, with and without PUBLIC_URL', async () => {
    for (const one of [harness, await startRuleHarness()]) {
      const sent = await requestsOf(
        one,
        CREATES.map((call) => withOwn(again(call), OWN)),
      );
      expect(sent.map(({ json }) => json['callback_url'])).toEqual([OWN, OWN]);
      expect(JSON.stringify(sent)).not.toMatch(/gateway\.example|callbacks/);
      sent.forEach(expectSigned);
    }
  });

  test('is missing without PUBLIC_URL, and in a confirm', async () => {
    const confirms = await requestsOf(harness, [validCall('confirmPayment', 'upi')]);
    expect(confirms.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const creates = await requestsOf(await startRuleHarness(), CREATES.map(again));
    expect(creates).toHaveLength(2);
    for (const { json } of [...confirms, ...creates]) expect(json).not.toHaveProperty('callback_url');
  });
});

describeSqlite('A retry by the same key', (harnesses) => {
  const NONE = {};
  const SET = { PUBLIC_URL: 'https://gateway.example' };
  const OTHER = { PUBLIC_URL: 'https://other.example/pay' };

  test('replays the create when PUBLIC_URL was set, changed, removed or kept meanwhile', async () => {
    const none = await harnesses.start({ env: NONE });
    const { service, clock } = none;
    const [set, other] = [
      await harnesses.start({ env: SET, service, clock }),
      await harnesses.start({ env: OTHER, service, clock }),
    ];
    for (const [first, second] of [
      [none, set],
      [set, other],
      [set, none],
      [set, set],
    ] as const)
      for (const kind of ['payment', 'payout'] as const) {
        const key = newKey();
        const { transactionId } = await first.create(kind, key);
        for (const harness of [second, first])
          expect(await harness.create(kind, key)).toMatchObject({ replayed: true, transactionId });
        expect(service.created(key)).toHaveLength(1);
        expect(callbackUrlOf(first, key)).toMatch(first === none ? /^undefined$/ : /^https:\/\/gateway\.ex/);
      }
  });
});

describe('The callbacks of the sandbox', () => {
  const clock = fakeClock(Date.now());
  let client: TestClient;
  let sandbox: Awaited<ReturnType<typeof testSandbox>>;

  beforeAll(async () => {
    const PORT = String(await freePort());
    sandbox = await testSandbox();
    const env = { ...NO_POLLING, PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}` };
    client = await testGateway(sandbox.url, { env, clock, inSandbox: true });
  });

  type Created = Record<string, Record<string, { transactionId: string; redirectUrl?: string }>>;
  const CREATE = {
    payment: `mutation ($input: CreatePaymentInput!) { done: createPayment(input: $input) {
      ... on PaymentSuccess { payment { ... on PaymentResource { transactionId redirectUrl } } } } }`,
    payout: `mutation ($input: CreatePayoutInput!) { done: createPayout(input: $input) {
      ... on PayoutSuccess { payout { ... on PayoutResource { transactionId } } } } }`,
  };

  async function create(kind: keyof typeof CREATE) {
    const { input } = kind === 'payment' ? redirectCall('CARD') : validCall('createPayout', 'bankTransfer');
    const { data } = await client.request<Created>(CREATE[kind], { input });
    return data['done']![kind]!;
  }

  /** Runs `act` and waits until the subscription has ended. Resolves with the number of lookups meanwhile. */
  async function endedAfter(watching: Watching, act: () => Promise<unknown>) {
    clock.advance(1000);
    const [before, now] = [sandbox.control.counts().payment.lookups, clock.now()];
    await act();
    await until(() => {
      clock.advance(0);
      return watching.completed || watching.errors;
    });
    expect(clock.now()).toBe(now);
    return sandbox.control.counts().payment.lookups - before;
  }

  const wsClient = () => graphqlWsClient(client.url, { retryAttempts: 0 });

  test.each([
    ['pay', 'COMPLETED'],
    ['decline', 'FAILED'],
  ])('update a subscriber by one lookup after %s on the hosted page', async (choice, status) => {
    const { transactionId, redirectUrl } = await create('payment');
    const watching = watchPayment(wsClient(), transactionId);
    await watching.received(1);
    const cost = await endedAfter(watching, async () => {
      const response = await fetch(`${redirectUrl}/${choice}`, { method: 'POST', redirect: 'manual' });
      expect(response.status).toBe(303);
    });
    expect(outcome(watching)).toEqual(completedWith('PENDING', status));
    expect(cost).toBe(1);
  });

  test('update a subscriber when a payout is settled', async () => {
    const { transactionId } = await create('payout');
    const watching = watchPayout(wsClient(), transactionId);
    await watching.received(1);
    await endedAfter(watching, async () => sandbox.control.settle(transactionId));
    expect(watching.last).toEqual({ status: 'COMPLETED' });
  });
});
