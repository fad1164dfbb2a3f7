import { createInput, CHANNEL } from '../support/caller';
import { AUTHORIZED, clientKeysFile } from '../support/credentials';
import { serviceSettings, testService } from '../support/gateway';
import type { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { listening, startProgram, type ChildProgram } from '../support/program';
import { exchange } from './support/exchange';
import { FAILING, lookupReply } from './support/transactions';

const READER = { authorization: 'Bearer pgk_reader-0123456789abcdef0123' };

/** The gateway runs in its own process, because an unhandled rejection ends a process, but not a test. */
describe('A gateway process', () => {
  let service: FakePaymentService;
  let program: ChildProgram;
  let ask: (
    query: string,
    variables?: object,
    headers?: Record<string, string>,
  ) => ReturnType<typeof exchange>;

  beforeAll(async () => {
    service = await testService(lookupReply);
    const key = READER.authorization.slice('Bearer '.length);
    program = startProgram({
      ...serviceSettings(service.url),
      CLIENT_KEYS_FILE: clientKeysFile({ id: 'reader', key, scopes: ['payments:read'] }),
    });
    const url = `${await listening(program)}/graphql`;
    ask = (query, variables, headers = AUTHORIZED) => exchange(url, { headers, body: { query, variables } });
  });

  test.each([
    ['fails', 'payment(channel: $channel, transactionId: $id) { __typename }'],
    ['has no id', 'payment(channel: $channel) { __typename }'],
  ])(
    'does not exit after an operation with a lookup that %s and one that the caller may not make',
    async (_what, lookup) => {
      const query = `query Q($channel: UUID!, $id: UUID!) { ${lookup} payout(channel: $channel, transactionId: $id) { __typename } }`;
      for (let count = 0; count < 4; count += 1)
        expect((await ask(query, { channel: CHANNEL, id: FAILING[0] }, READER)).status).toBe(200);
      expect((await ask('{ __typename }')).body).toContain('Query');
    },
  );

  test('survives the lookup of an attempt while the circuit breaker is open, and exits with 0', async () => {
    const CREATE = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
    const id = '0b7a1c52-6a55-4d0e-9c55-6f1f3e0d2a11';
    service.respond(() => ({ status: 200, json: { status: 'pending', transaction_id: id } }));
    const created = await ask(CREATE, { input: createInput('payment', 'key-1') });
    expect(created.body).toContain('PaymentSuccess');

    const ATTEMPT = '{ attempt(idempotencyKey: "key-1") { payment { __typename } } }';
    for (let count = 0; count < 2; count += 1) expect((await ask(ATTEMPT)).body).toContain('Payment"');

    service.respond(() => ({ status: 500, json: {} }));
    const ids = Array.from({ length: 100 }, (_, place) => id.slice(0, -3) + String(place).padStart(3, '0'));
    const MANY =
      'query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }';
    await ask(MANY, { c: CHANNEL, ids });
    expect((await ask(ATTEMPT)).body).toContain('SERVICE_UNAVAILABLE');
    expect((await ask('{ __typename }')).body).toContain('Query');
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
  });
});
