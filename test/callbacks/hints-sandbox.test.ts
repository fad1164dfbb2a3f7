import { createServer, type AddressInfo } from 'node:net';
import { until } from '../exactly-once/support/gate';
import { listening, startProgram } from '../gateway/fixtures/program';
import { unused } from '../gateway/fixtures/calls';
import { graphqlWsClient } from '../live/support/graphql-ws-client';
import { watchPayment, watchPayout, type Watching } from '../live/support/watching';
import { CHANNEL, temporaryDatabase, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { movedClock } from '../support/moved-clock';
import { NO_POLLING, endedAt, outcome } from './support/called-back';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

/** A port that nobody uses, so that the address of a gateway can be told before it is there. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

const CREATE_PAYMENT = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
  ... on PaymentSuccess { payment { ... on PaymentResource { transactionId redirectUrl } } } } }`;
const CREATE_PAYOUT = `mutation ($input: CreatePayoutInput!) { createPayout(input: $input) {
  ... on PayoutSuccess { payout { ... on PayoutResource { transactionId } } } } }`;

interface Bought {
  transactionId: string;
  redirectUrl: string;
}

const INPUT = { channel: CHANNEL, amount: { currency: 'EUR', value: '10.00' } };

async function buy(client: TestClient): Promise<Bought> {
  const input = { ...INPUT, ...unused(), method: { redirect: 'CARD' } };
  const { data } = await client.ask<{ createPayment: { payment: Bought } }>(CREATE_PAYMENT, { input });
  return data.createPayment.payment;
}

/** What the payer does on the hosted page. */
const choose = ({ redirectUrl }: Bought, choice: string) =>
  fetch(`${redirectUrl}/${choice}`, { method: 'POST', redirect: 'manual' });

const watchBought = async (url: string, { transactionId }: Bought): Promise<Watching> => {
  const watching = watchPayment(graphqlWsClient(url, { retryAttempts: 0 }), transactionId);
  await watching.told(1);
  return watching;
};

/** Resolves when it has ended. What is due at once goes off; the clock stands. */
async function endedWhile(clock: ReturnType<typeof movedClock>, watching: Watching): Promise<void> {
  await until(() => {
    clock.advance(0);
    return watching.completed || watching.errors;
  }, Boolean);
}

describe('Before the sandbox, which calls back by itself', () => {
  const clock = movedClock(Date.now());
  let client: TestClient;
  let sandbox: Awaited<ReturnType<typeof testSandbox>>;

  beforeAll(async () => {
    const PORT = await freePort();
    sandbox = await testSandbox();
    const env = { ...NO_POLLING, PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}` };
    client = await testGateway(sandbox.url, { env, clock, inSandbox: true });
  });

  test.each([
    ['pay', 'COMPLETED'],
    ['decline', 'FAILED'],
  ])('%s on the hosted page reaches who watches, and nobody has looked meanwhile', async (choice, status) => {
    const bought = await buy(client);
    const watching = await watchBought(client.url, bought);
    clock.advance(1000);
    const before = sandbox.control.counts().payment.lookups;
    const now = clock.now();
    expect((await choose(bought, choice)).status).toBe(303);
    await endedWhile(clock, watching);
    expect(clock.now()).toBe(now);
    expect(outcome(watching)).toEqual(endedAt('PENDING', status));
    expect(sandbox.control.counts().payment.lookups).toBe(before + 1);
  });

  test('a payout that is settled reaches who watches', async () => {
    const method = {
      bankTransfer: {
        bankCode: 'DEUTDEFF',
        bankName: 'Sample Bank',
        accountNumber: '1234567890',
        firstName: 'Ada',
        lastName: 'Payee',
      },
    };
    const { data } = await client.ask<{ createPayout: { payout: Bought } }>(CREATE_PAYOUT, {
      input: { ...INPUT, ...unused(), method },
    });
    const { transactionId } = data.createPayout.payout;
    const watching = watchPayout(graphqlWsClient(client.url, { retryAttempts: 0 }), transactionId);
    await watching.told(1);
    clock.advance(1000);
    sandbox.control.settle(transactionId);
    await endedWhile(clock, watching);
    expect(watching.last).toEqual({ status: 'COMPLETED' });
  });
});

test('The program with its embedded sandbox hears what the payer does on the hosted page', async () => {
  const PORT = await freePort();
  const program = startProgram({
    PORT,
    SANDBOX_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${PORT}/`,
    DATABASE_URL: temporaryDatabase(),
    AUDIT_LOG_FILE: `${temporaryDatabase().slice('file:'.length)}.audit`,
    MAX_EVENT_LOOP_LAG_MS: '0',
    LOG_LEVEL: 'trace',
    ...NO_POLLING,
  });
  const url = await listening(program);
  const client = { url: `${url}/graphql` };
  const ask = await fetch(client.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: CREATE_PAYMENT,
      variables: { input: { ...INPUT, ...unused(), method: { redirect: 'CARD' } } },
    }),
  });
  const { data } = (await ask.json()) as { data: { createPayment: { payment: Bought } } };
  const { payment } = data.createPayment;
  const watching = await watchBought(client.url, payment);
  await choose(payment, 'pay');
  await watching.ended();
  expect(outcome(watching)).toEqual(endedAt('PENDING', 'COMPLETED'));
  expect(program.output()).not.toContain('/callbacks/');
});

describe('The program does not start', () => {
  const RULE =
    'PUBLIC_URL: expected an https address without credentials, query or fragment (plain http for loopback only).';

  test.each([
    ['http to a public host', 'http://gateway.example'],
    ['http to a private host', 'http://10.0.0.7:4000'],
    ['a name that only looks like this machine', 'http://localhost.example'],
    ['credentials', 'https://ann:canary@gateway.example'],
    ['a user alone', 'https://canary@gateway.example'],
    ['a query', 'https://gateway.example/?canary=1'],
    ['a fragment', 'https://gateway.example/#canary'],
    ['another scheme', 'wss://gateway.example'],
    ['no scheme', 'gateway.example'],
    ['a path alone', '/callbacks'],
  ])('where PUBLIC_URL has %s', async (_what, publicUrl) => {
    const program = startProgram({ PORT: '0', SANDBOX_PORT: '0', PUBLIC_URL: publicUrl });
    expect(await program.exited).toBe(1);
    expect(program.output()).toContain(RULE);
    expect(program.output()).not.toContain('canary');
    expect(program.output()).not.toContain('listening');
  });
});
