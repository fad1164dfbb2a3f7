import { AUTHORIZED } from '../support/credentials';
import { Caller, createInput } from '../exactly-once/support/caller';
import { newKey } from '../exactly-once/support/rig';
import { CHANNEL } from '../support/gateway';
import { auditedCalls, startServer, type Server } from './support/servers';

/** Headers with which callers try to reach what is behind the gateway. */
const STRANGE: Record<string, string> = {
  accept: 'text/evil',
  'accept-encoding': 'gzip, evil',
  'accept-language': 'xx-evil',
  cookie: 'session=evil',
  forwarded: 'for=1.2.3.4;host=evil.example;proto=https',
  from: 'evil@example.com',
  'idempotency-key': 'evil',
  origin: 'https://evil.example',
  referer: 'https://evil.example/',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  'user-agent': 'evil/1.0',
  via: '1.1 evil',
  'x-api-key': 'evil',
  'x-forwarded-for': '1.2.3.4',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-http-method-override': 'DELETE',
  'x-original-url': '/api/v1/evil/',
  'x-real-ip': '1.2.3.4',
  'x-request-id': 'evil',
  'x-rewrite-url': '/api/v1/evil/',
  'x-signature': 'evil',
  'x-timestamp': '1',
};

const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }`;
const LOOKUP = `query ($c: UUID!) { payment(channel: $c, externalId: "order-1") { __typename } }`;

describe("Callers' headers end at the gateway", () => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer();
  });

  const ALWAYS = ['accept', 'connection', 'host', 'x-api-key', 'x-signature', 'x-timestamp'];

  test.each([
    ['a lookup', LOOKUP, { c: CHANNEL }, ALWAYS],
    [
      'a create',
      CREATE,
      { input: createInput('payment', newKey()) },
      [...ALWAYS, 'content-length', 'content-type'],
    ],
  ])('of %s the service sees the headers of the gateway alone', async (_what, query, variables, names) => {
    server.service.seen.length = 0;
    await server.client.ask(query, variables, { ...STRANGE, ...AUTHORIZED });
    expect(server.service.seen.length).toBeGreaterThan(0);
    for (const { headers } of server.service.seen) {
      expect(Object.keys(headers).sort()).toEqual([...names].sort());
      expect(JSON.stringify(headers)).not.toMatch(/evil|1\.2\.3\.4/);
    }
  });

  test('the method and address of a request are not what a header says', async () => {
    server.service.seen.length = 0;
    await server.client.ask(LOOKUP, { c: CHANNEL }, { ...STRANGE, ...AUTHORIZED });
    expect(server.service.seen.map(({ method, path }) => [method, path])).toEqual([
      ['GET', '/api/v1/payment/'],
    ]);
  });
});

describe('X-Forwarded-For', () => {
  /** Where the gateway says that a create came from. */
  async function seenAs(server: Server, forwardedFor: string): Promise<string | undefined> {
    const key = newKey();
    const headers = { ...AUTHORIZED, 'x-forwarded-for': forwardedFor };
    await server.client.ask(CREATE, { input: createInput('payment', key) }, headers);
    const calls = auditedCalls(server, key);
    expect(calls).toHaveLength(1);
    return calls[0]?.ip;
  }

  test.each(['203.0.113.7', '203.0.113.7, 127.0.0.1', '127.0.0.1, 203.0.113.7'])(
    'is not believed where no proxy is trusted: %s',
    async (header) => {
      expect(await seenAs(await startServer(), header)).toBe('127.0.0.1');
    },
  );

  test('is not believed of an address that is none of the trusted', async () => {
    const server = await startServer({ TRUSTED_PROXIES: '10.0.0.0/8,192.0.2.1' });
    expect(await seenAs(server, '203.0.113.7')).toBe('127.0.0.1');
  });

  describe('of a trusted proxy', () => {
    let server: Server;
    beforeAll(async () => {
      server = await startServer({ TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8' });
    });

    test.each([
      ['names the caller', '203.0.113.7', '203.0.113.7'],
      [
        'is read from the near end: what a caller put before counts for nothing',
        '198.51.100.1, 203.0.113.7',
        '203.0.113.7',
      ],
      ['may pass several proxies', '203.0.113.7, 10.1.2.3', '203.0.113.7'],
      ['may be an IPv6 address', '2001:db8::7', '2001:db8::7'],
    ])('%s', async (_what, header, ip) => {
      expect(await seenAs(server, header)).toBe(ip);
    });

    test.each(['not an address', '<script>', 'a'.repeat(4000), '\x9b2J\x85', ' , ,', '1.2.3.4:80'])(
      'harms nothing when it is %j',
      async (header) => {
        const ip = await seenAs(server, header);
        expect(ip?.length ?? 0).toBeLessThan(100);
        expect(server.auditText()).toMatch(/^[\x20-\x7e\n]*$/);
      },
    );
  });

  test('does not change who is calling, nor whether it may', async () => {
    const server = await startServer({ TRUSTED_PROXIES: '127.0.0.0/8' });
    const answer = await server.client.ask(LOOKUP, { c: CHANNEL }, { 'x-forwarded-for': '127.0.0.1' });
    expect(answer.status).toBe(401);
    const end = await new Caller(server.base).create('payment', newKey());
    expect(end.result).toBe('PaymentSuccess');
  });
});
