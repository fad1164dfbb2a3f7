import { createInput, CHANNEL } from '../exactly-once/support/caller';
import { listening, startProgram } from '../gateway/fixtures/program';
import { AUTHORIZED, clientKeysFile } from '../support/credentials';
import { API_KEY, SECRET_KEY, testSettings } from '../support/gateway';
import { scriptedService, type ScriptedService } from '../support/scripted-service';
import { exchange } from './support/exchange';
import { FAILING, tellTransaction } from './support/transactions';

/** A failure of one part of an operation must never be one of the process: a rejected promise that nobody awaits ends it. */

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const READER = { authorization: 'Bearer pgk_reader-0123456789abcdef0123' };

interface Running {
  service: ScriptedService;
  ask(query: string, variables?: object, headers?: Record<string, string>): ReturnType<typeof exchange>;
  /** Ends the program; fails where it had ended of itself. */
  stop(): Promise<void>;
}

/** The gateway as a process of its own, as an unhandled rejection ends that and no test. */
async function start(): Promise<Running> {
  const service = await scriptedService(tellTransaction);
  const key = READER.authorization.slice('Bearer '.length);
  const program = startProgram({
    ...testSettings(),
    PORT: '0',
    CLIENT_KEYS_FILE: clientKeysFile({ id: 'reader', key, scopes: ['payments:read'] }),
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: API_KEY,
    SERVICE_SECRET_KEY: SECRET_KEY,
  });
  const url = `${await listening(program)}/graphql`;
  return {
    service,
    ask: (query, variables, headers = AUTHORIZED) => exchange(url, { headers, body: { query, variables } }),
    stop: async () => {
      program.signal('SIGTERM');
      expect(await program.exited).toBe(0);
    },
  };
}

test.each([
  ['that fails', 'payment(channel: $channel, transactionId: $id) { __typename }'],
  ['without an id', 'payment(channel: $channel) { __typename }'],
])('a lookup %s, beside one that the caller may not make, ends no process', async (_what, lookup) => {
  const { ask, stop } = await start();
  const query = `query Q($channel: UUID!, $id: UUID!) { ${lookup} payout(channel: $channel, transactionId: $id) { __typename } }`;
  const statuses = [];
  for (let count = 0; count < 4; count += 1)
    statuses.push((await ask(query, { channel: CHANNEL, id: FAILING[0] }, READER)).status);
  expect(statuses).toEqual([200, 200, 200, 200]);
  expect((await ask('{ __typename }')).body).toContain('Query');
  await stop();
});

test('what an attempt created, asked for while the service counts as down, ends no process', async () => {
  const { ask, service, stop } = await start();
  const CREATE = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
  const id = '0b7a1c52-6a55-4d0e-9c55-6f1f3e0d2a11';
  service.answer(() => ({ status: 200, json: { status: 'pending', transaction_id: id } }));
  const created = await ask(CREATE, { input: createInput('payment', 'key-1') });
  expect(created.body).toContain('PaymentSuccess');

  const ATTEMPT = '{ attempt(idempotencyKey: "key-1") { payment { __typename } } }';
  for (let count = 0; count < 2; count += 1) expect((await ask(ATTEMPT)).body).toContain('Payment"');

  service.answer(() => ({ status: 500, json: {} }));
  const ids = Array.from({ length: 100 }, (_, place) => id.slice(0, -3) + String(place).padStart(3, '0'));
  const MANY =
    'query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }';
  await ask(MANY, { c: CHANNEL, ids });
  expect((await ask(ATTEMPT)).body).toContain('SERVICE_UNAVAILABLE');
  expect((await ask('{ __typename }')).body).toContain('Query');
  await stop();
});
