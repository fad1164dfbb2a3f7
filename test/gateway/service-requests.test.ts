import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createSecureServer, type Http2ServerRequest } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { CHANNEL, closeAfterTests, testGateway, testService, type TestClient } from '../support/gateway';
import { DOCUMENTS, TRANSACTION_ID, accepted, sendCall, validCall, type Json } from '../support/calls';
import type { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { expectSigned } from '../support/signatures';

const NOW = 1_700_000_000_999;

const LOOKUP = `query Q($c: UUID!, $t: UUID, $e: String) {
  payment(channel: $c, transactionId: $t, externalId: $e) { ... on PaymentResource { transactionId externalId } } }`;

const upi: Json = { idempotencyKey: 'k', channel: CHANNEL, amount: { currency: 'INR', value: '10' } };

let service: FakePaymentService;
let client: TestClient;
/** The time of the gateway's clock; undefined for the real time. */
let now: number | undefined;

beforeAll(async () => {
  service = await testService();
  client = await testGateway(service.url, { now: () => now ?? Date.now() });
});

beforeEach(() => {
  now = undefined;
  service.requests.length = 0;
  service.respond((request) => (request.method === 'GET' ? { status: 404, json: {} } : accepted(request)));
});

/** Sends a payment of the method `other` with these fields, and returns the JSON that the service received. */
async function sentWith(more: Json): Promise<Json | undefined> {
  const { mutation, input } = validCall('createPayment', 'other');
  const { result } = await sendCall(client, { mutation, input: { ...input, ...more } });
  expect(result?.__typename).toBe('PaymentSuccess');
  expect(service.requests).toHaveLength(1);
  return service.requests[0]?.json;
}

/**
 * Signatures by another program. Each was printed by
 *   printf '%s' "$TIMESTAMP$DATA" | openssl dgst -sha256 -hmac 'test-secret-key'
 * with the timestamp 1700000000, and with the data that follows.
 */
const VECTORS: [what: string, query: string, variables: Json, data: string, signature: string][] = [
  [
    'a lookup by an external id with reserved characters',
    LOOKUP,
    { c: CHANNEL, e: 'a b&c=d+e%f#g?h/i' },
    `channel=${CHANNEL}&external_id=a%20b%26c%3Dd%2Be%25f%23g%3Fh%2Fi`,
    '712c5715150fddd5f6bf299297d81a13eb32257820e70c4e73e63215fd124979',
  ],
  [
    'a create with text in other scripts',
    DOCUMENTS.createPayment,
    { input: { ...upi, externalId: 'заказ-1 😀', method: { upi: { firstName: 'Żółć "Q"' } } } },
    `{"channel":"${CHANNEL}","amount":{"currency":"INR","value":"10.00"},"external_id":"заказ-1 😀","payment_method":{"type":"upi","first_name":"Żółć \\"Q\\""}}`,
    '020643183e2c6ade0f59d4c4fd726245a2d90017dbad55c58098ee34ecb4dfd1',
  ],
];

describe('The signature of a request to the payment service', () => {
  test.each(VECTORS)(
    'for %s equals the signature that openssl computes over the sent bytes',
    async (...[, query, variables, data, signature]) => {
      now = NOW;
      service.respond(accepted);
      await client.request(query, variables);
      const [sent] = service.requests;
      expect(sent?.method === 'GET' ? sent.query : sent?.body).toBe(data);
      expect(sent?.headers).toMatchObject({ 'x-timestamp': '1700000000', 'x-signature': signature });
    },
  );

  test('covers the time at which the request is sent, in whole seconds', async () => {
    const times = [NOW, NOW + 1, NOW + 999, NOW + 600_000, NOW - 86_400_000];
    for (const time of times) {
      now = time;
      const { mutation, input } = validCall('confirmPayment', 'dcb');
      await sendCall(client, { mutation, input: { ...input, transactionId: randomUUID() } });
    }
    const sent = service.requestsTo('confirm').map(({ headers }) => headers['x-timestamp']);
    expect(sent).toEqual(times.map((time) => String(Math.floor(time / 1000))));
    service.requests.forEach(expectSigned);
  });

  test('is valid when SERVICE_BASE_URL has a path, which precedes the paths of the service', async () => {
    const env = { PAYOUT_PREFLIGHT: 'off' };
    const other = await testGateway(`${service.url}merchant/eu/`, { env });
    await sendCall(other, validCall('createPayout', 'other'));
    await sendCall(other, validCall('confirmPayment', 'upi'));
    await other.request(LOOKUP, { c: CHANNEL, t: TRANSACTION_ID });
    expect(service.requests.map(({ method, path: sentTo }) => `${method} ${sentTo}`)).toEqual([
      'POST /merchant/eu/api/v1/payout/',
      'POST /merchant/eu/api/v1/payment/confirm/',
      'GET /merchant/eu/api/v1/payment/',
    ]);
    service.requests.forEach(expectSigned);
  });

  test.each([`"quoted" \\ / `, '漢字 \u00e9 e\u0301 😀', '</script>', '\u2060\ufeff', '{"json": true}'])(
    'covers exactly the sent bytes of a create with the text %j',
    async (text) => {
      const fields = { text, [text]: [text, { deep: text }], large: 1e5, small: 1e-7, minus: -0, none: null };
      const json = await sentWith({ method: { other: { fields } }, externalId: text, description: text });
      const [sent] = service.requests;
      if (sent) expectSigned(sent);
      const payment_method = { type: 'other', text };
      expect(json).toMatchObject({ external_id: text, description: text, payment_method });
      expect(sent?.headers['content-length']).toBe(String(Buffer.byteLength(sent?.body ?? '')));
    },
  );
});

describe('An input value', () => {
  test('is sent in lower case when it is a UUID', async () => {
    expect((await sentWith({ channel: CHANNEL.toUpperCase() }))?.['channel']).toBe(CHANNEL);
  });

  test('that is a JSON literal in the document is sent with its GraphQL variables replaced by their values', async () => {
    const query = `mutation M($inner: String!) { createPayment(input: { idempotencyKey: "literal", channel: "${CHANNEL}",
      amount: { currency: "USD", value: "1" }, method: { other: { fields: { a: [1, 2.5, true, null, WORD], b: { c: $inner } } } }
    }) { __typename } }`;
    const { errors } = await client.request(query, { inner: 'x' });
    expect(errors).toBeUndefined();
    const fields = { a: [1, 2.5, true, null, 'WORD'], b: { c: 'x' } };
    expect(service.requests[0]?.json['payment_method']).toEqual({ type: 'other', ...fields });
  });
});

test('Decimals, times and unknown currencies of the payment service are returned to the caller unchanged', async () => {
  const amount = { currency: 'XYZ', value: '10', received: '9.990' };
  const createDate = '2024-05-31T09:12:45.123456+02:30';
  const transaction_id = TRANSACTION_ID.toUpperCase();
  const json = { status: 'mispaid', transaction_id, amount, create_date: createDate };
  service.respond(() => ({ status: 200, json }));
  const query = `query Q($c: UUID!) { payment(channel: $c, externalId: "o") { ... on PaymentResource {
    transactionId amount { currency value received } createDate } } }`;
  const { data, errors } = await client.request(query, { c: CHANNEL });
  expect(errors).toBeUndefined();
  expect(data).toEqual({ payment: { transactionId: TRANSACTION_ID, amount, createDate } });
});

const newPayment = (): string => JSON.stringify({ status: 'processing', transaction_id: randomUUID() });

async function create(caller: TestClient): Promise<void> {
  expect((await sendCall(caller, validCall('createPayment', 'other'))).result?.__typename).toBe(
    'PaymentSuccess',
  );
}

test('A payment service that offers HTTP/2 gets requests over HTTP/1.1, and TLS sessions are resumed', async () => {
  const pem = readFileSync(path.join(__dirname, 'fixtures', 'localhost.pem'), 'utf8');
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))]);
  const requests: (IncomingMessage | Http2ServerRequest)[] = [];
  const resumed: boolean[] = [];
  const secure = createSecureServer({ key: pem, cert: pem, allowHTTP1: true }, (request, response) => {
    requests.push(request);
    response.writeHead(201, { 'content-type': 'application/json', connection: 'close' });
    response.end(newPayment());
  });
  secure.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()));
  await once(secure.listen(0, 'localhost'), 'listening');
  closeAfterTests({
    close: async () => {
      setDefaultCACertificates(before);
      secure.close();
      await once(secure, 'close');
    },
  });
  const url = `https://localhost:${(secure.address() as AddressInfo).port}/`;
  const caller = await testGateway(url, { env: { SERVICE_TIMEOUT_MS: '5000' } });
  for (let count = 0; count < 3; count += 1) await create(caller);
  const creates = [...requests];
  await caller.request(LOOKUP, { c: CHANNEL, t: TRANSACTION_ID });
  expect(requests.map(({ httpVersion }) => httpVersion)).toEqual(['1.1', '1.1', '1.1', '1.1']);
  expect(new Set(creates.map(({ socket }) => socket)).size).toBe(3);
  while (resumed.length < 4) await once(secure, 'secureConnection');
  expect(resumed.slice(2)).toContain(true);
});

describe('A create request', () => {
  let server: Server;
  /** The connections of the gateway, in the order in which they were opened. */
  let connections: Socket[];
  /** The connection of each create, as its index in `connections`. */
  let used: number[];
  let responseHeaders: Record<string, string>;
  let caller: TestClient;

  beforeEach(async () => {
    [connections, used, responseHeaders] = [[], [], {}];
    server = createServer((request, response) => {
      used.push(connections.indexOf(request.socket));
      response.writeHead(201, { 'content-type': 'application/json', ...responseHeaders });
      response.end(newPayment());
    });
    server.keepAliveTimeout = 0;
    server.on('connection', (socket: Socket) => connections.push(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    caller = await testGateway(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });

  afterEach(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  async function opened(count: number): Promise<void> {
    while (connections.length < count) await once(server, 'connection');
  }

  test('is sent over the connection of a create that has just ended', async () => {
    for (let count = 0; count < 3; count += 1) {
      await create(caller);
      // A real wait, because sockets have no simulated time; a connection is reused after 5 ms.
      await setTimeout(10);
    }
    expect(used).toEqual([0, 0, 0]);
  });

  test('succeeds when the service closes each connection after its response without "Connection: close"', async () => {
    server.on('request', ({ socket }, response) => response.on('finish', () => socket.end()));
    for (let count = 0; count < 20; count += 1) await create(caller);
    expect(new Set(used).size).toBe(20);
  });

  test.each<Record<string, string>>([
    { connection: 'close' },
    { 'keep-alive': 'timeout=1' },
    { 'keep-alive': 'timeout=9, max=0' },
  ])('is sent over a new connection, opened in advance, after a response with %j', async (headers) => {
    responseHeaders = headers;
    await create(caller);
    await opened(2);
    await create(caller);
    expect(used).toEqual([0, 1]);
    expect(connections.length).toBeGreaterThan(2);
  });

  test.each<[string, (standby: Socket) => unknown]>([
    ['was then closed by the service', (standby) => standby.destroy()],
    [
      'received bytes before any request',
      (standby) => standby.write('HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}'),
    ],
  ])('is not sent over a connection that was opened in advance and %s', async (_what, spoil) => {
    responseHeaders = { connection: 'close' };
    await create(caller);
    await opened(2);
    const standby = connections[1]!;
    spoil(standby);
    await once(standby, 'close');
    await create(caller);
    expect(used).toHaveLength(2);
    expect(used).not.toContain(1);
  });

  test('is not sent over a connection that has been idle for more than a second', async () => {
    await create(caller);
    await once(connections[0]!, 'close');
    await create(caller);
    expect(used[1]).not.toBe(0);
  });
});
