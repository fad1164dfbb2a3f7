import { randomUUID } from 'node:crypto';
import {
  CHANNEL,
  clear,
  closeAfterTests,
  testGateway,
  type LoggedGateway,
  type TestClient,
} from '../support/gateway';
import { accepted, sendCall, validCall, type Json, type MutationResponse } from '../support/calls';
import type { FaultReply, ReceivedRequest, Reply } from '../support/payment-service/fake-payment-service';
import { LOST_RESPONSES, altered, html, status } from '../support/payment-service/faults';
import { expectErrors } from '../support/raw';
import { TcpProxy } from '../support/tcp-proxy';
import { startRuleHarness } from './fixtures/rig';

/** Timeout for calls with an unknown outcome: short, because lookups take up most of it. */
const SHORT_MS = 2500;
/** Timeout for calls that end with the service's response. */
const LONG_MS = 10_000;

const NOTHING: Reply = { status: 404, json: {} };

let short: LoggedGateway;
let longTimeout: LoggedGateway;

beforeAll(async () => {
  short = await startRuleHarness({ SERVICE_TIMEOUT_MS: String(SHORT_MS) });
  longTimeout = await startRuleHarness({ SERVICE_TIMEOUT_MS: String(LONG_MS) });
});

beforeEach(() => {
  for (const harness of [short, longTimeout]) clear(harness);
});

/** The result of a lookup (`found`), create or confirm (`result`). */
type CallResult = Partial<Pick<MutationResponse, 'result'>> &
  Omit<MutationResponse, 'result'> & { found?: unknown };

/** Sends a call that causes a request to the service, with ids that no other call uses. */
type Call = (client: TestClient) => Promise<CallResult>;

const lookup =
  (field: 'payment' | 'payout', type: string, by: 'transactionId' | 'externalId'): Call =>
  async (client) => {
    const query = `query Q($c: UUID!) { ${field}(channel: $c, ${by}: "${randomUUID()}") { ... on ${type} { rawStatus } } }`;
    const response = await client.request(query, { c: CHANNEL });
    return { ...response, found: response.data[field] };
  };

const lookUpPayment = lookup('payment', 'PaymentResource', 'transactionId');
const lookUpPayout = lookup('payout', 'PayoutResource', 'externalId');
const createPayment: Call = (client) => sendCall(client, validCall('createPayment', 'other'));
const createPayout: Call = (client) => sendCall(client, validCall('createPayout', 'other'));
const confirm: Call = (client) => {
  const { mutation, input } = validCall('confirmPayment', 'upi');
  return sendCall(client, { mutation, input: { ...input, transactionId: randomUUID() } });
};

const LOOKUPS = [lookUpPayment, lookUpPayout];
const MONEY_CALLS = [createPayment, createPayout, confirm];

/** Makes calls at the same time. */
const callAll = (calls: readonly Call[], client: TestClient): Promise<CallResult[]> =>
  Promise.all(calls.map((call) => call(client)));

/** Returns the result of a call to which the service responds in this way. */
function resultOf(call: Call, reply: Reply): Promise<CallResult> {
  longTimeout.service.respond(() => reply);
  return call(longTimeout.client);
}

const UNKNOWN = 'OutcomeUnknownError';
const REJECTED = 'RejectedByServiceError';
const UNAVAILABLE = 'SERVICE_UNAVAILABLE';
const TIMEOUT = 'SERVICE_TIMEOUT';
const INVALID = 'SERVICE_RESPONSE_INVALID';
const AUTH_FAILED = 'SERVICE_AUTH_FAILED';
const REFUSED = 'BAD_USER_INPUT';

/** Expects a type of result, or one error with a code. */
function expectEnd(ending: CallResult, end: string): void {
  expect(ending.status).toBe(200);
  expect(ending.text).not.toMatch(/<h1|<html/i);
  if (end.endsWith('Error')) {
    expect(ending.errors).toBeUndefined();
    expect(ending.result?.__typename).toBe(end);
    return;
  }
  expect(ending.result ?? ending.found ?? null).toBeNull();
  expectErrors(ending, end);
  const retryable = /UNAVAILABLE|TIMEOUT/.test(end);
  expect(ending.errors).toMatchObject([{ path: [expect.anything()], extensions: { retryable } }]);
}

const goodFor = ({ json, parameters }: ReceivedRequest): Json => ({
  status: 'processing',
  transaction_id: json['id'] ?? parameters.get('transaction_id') ?? randomUUID(),
});

const brokenUtf8: FaultReply = (connection, response) =>
  connection.send(response, Buffer.from(JSON.stringify({ ...Object(response.json), x: '\xff' }), 'latin1'));
const list: FaultReply = (connection, response) => connection.send({ ...response, json: [response.json] });
const noContent: FaultReply = (connection) => connection.write('HTTP/1.1 204 No Content\r\n\r\n');

/** Faults of the service, the error of a lookup, and the result or error of a create or confirm. */
const FAULTS: [fault: string, reply: FaultReply, lookup: string, money: string][] = [
  ['sends broken UTF-8', brokenUtf8, INVALID, UNKNOWN],
  ['sends a list', list, INVALID, UNKNOWN],
  ['sends a status that is a number', altered({ status: 1 }), INVALID, UNKNOWN],
  ['responds with 204', noContent, INVALID, UNKNOWN],
  ['responds with 307', status(307, { location: '/elsewhere' }), INVALID, UNKNOWN],
  ['responds with 400 in HTML', html(400), REFUSED, REJECTED],
  ['responds with 401', status(401), AUTH_FAILED, AUTH_FAILED],
  ['responds with 403', status(403), AUTH_FAILED, REJECTED],
  ['responds with 408', status(408), UNAVAILABLE, UNKNOWN],
  ['responds with 425', status(425), UNAVAILABLE, UNKNOWN],
  ['responds with 429', status(429), UNAVAILABLE, UNAVAILABLE],
  ['responds with 499', status(499), REFUSED, REJECTED],
  ['responds with 599', status(599), UNAVAILABLE, UNKNOWN],
];

/** Returns the error of a lookup after one of LOST_RESPONSES. */
function lostLookup(fault: string): string {
  if (/nothing|slowly|head/.test(fault)) return TIMEOUT;
  if (/connection|cuts|speak|50\d/.test(fault)) return UNAVAILABLE;
  return fault === 'responds with 409' ? REFUSED : INVALID;
}

/** Without the faults that change a value which the response to a lookup does not have. */
const LOST = Object.entries(LOST_RESPONSES)
  .filter(([fault]) => !/currency|value|external id/.test(fault))
  .map(([fault, reply]) => [fault, lostLookup(fault), reply] as const);

describe('A faulty payment service', () => {
  // A success before every fault, because consecutive failures open the circuit breaker.
  beforeEach(async () => {
    for (const { client, service } of [short, longTimeout]) {
      service.respond(accepted);
      expect((await createPayment(client)).result?.__typename).toBe('PaymentSuccess');
      service.requests.length = 0;
    }
  });

  const faulty =
    (reply: FaultReply) =>
    (request: ReceivedRequest): Reply =>
    (connection) =>
      reply(connection, { status: 200, json: goodFor(request) });

  test.each([...LOST, ...FAULTS.map(([fault, reply, end]) => [fault, end, reply] as const)])(
    'that %s makes a lookup fail with %s',
    async (_fault, end, reply) => {
      const { client, service } = end === TIMEOUT ? short : longTimeout;
      service.respond(faulty(reply));
      for (const ending of await callAll(LOOKUPS, client)) expectEnd(ending, end);
      expect(service.requests.filter(({ path }) => !/^\/api\/v1\/pay(ment|out)\/$/.test(path))).toEqual([]);
    },
  );

  // Creates after each of LOST_RESPONSES are tested in test/exactly-once/lost-responses.slow.test.ts.
  test.each(FAULTS.map(([fault, reply, , end]) => [fault, end, reply] as const))(
    'that %s gets each create or confirm once, and the call returns %s',
    async (_fault, end, reply) => {
      const { client, service } = end === UNKNOWN ? short : longTimeout;
      service.respond((request) => (request.method === 'POST' ? faulty(reply)(request) : NOTHING));
      for (const ending of await callAll(MONEY_CALLS, client)) expectEnd(ending, end);
      const sent = service.requests.filter(({ method }) => method === 'POST').map(({ path }) => path);
      expect(sent.sort()).toEqual(['/api/v1/payment/', '/api/v1/payment/confirm/', '/api/v1/payout/']);
    },
  );
});

describe('A call that cannot be sent to the payment service', () => {
  const overTls = (url: string): string => url.replace('http:', 'https:');
  const stalledHandshake = async (): Promise<string> => {
    const proxy = closeAfterTests(await TcpProxy.to(longTimeout.service.url));
    proxy.discards = true;
    return overTls(proxy.through(longTimeout.service.url));
  };

  test.each<[string, ms: number, url: () => string | Promise<string>, code: string | RegExp]>([
    ['the connection is refused', LONG_MS, () => 'http://127.0.0.1:1/', UNAVAILABLE],
    ['the service does not speak TLS', LONG_MS, () => overTls(longTimeout.service.url), UNAVAILABLE],
    ['the host is unknown', SHORT_MS, () => 'https://nowhere.invalid/', /^SERVICE_(TIMEOUT|UNAVAILABLE)$/],
    ['the TLS handshake stalls', SHORT_MS, stalledHandshake, /^SERVICE_(TIMEOUT|UNAVAILABLE)$/],
  ])('fails with a retryable error when %s (SERVICE_TIMEOUT_MS: %i)', async (_what, ms, url, code) => {
    const env = { SERVICE_TIMEOUT_MS: String(ms), PAYOUT_PREFLIGHT: 'off' };
    const client = await testGateway(await url(), { env });
    for (const ending of await callAll(MONEY_CALLS, client)) expectEnd(ending, UNAVAILABLE);
    for (const ending of await callAll(LOOKUPS, client)) {
      expectErrors(ending, code);
      expect(ending).toMatchObject({ found: null, errors: [{ extensions: { retryable: true } }] });
    }
    expect(longTimeout.service.requests).toHaveLength(0);
  });
});

const json = (request: ReceivedRequest, more: Json): Reply => ({
  status: 200,
  json: { ...goodFor(request), channel: CHANNEL, ...more },
});

const amount = (currency: string, value: unknown): Json => ({ amount: { currency, value } });

// exactly-once/lost-responses.slow.test.ts and unknown-outcomes.slow.test.ts have more contradictions.
describe('A service response that contradicts the request', () => {
  test.each([
    ['a lookup by id returns another transaction', lookUpPayment, { transaction_id: randomUUID() }],
    ['a lookup by external id returns another external id', lookUpPayout, { external_id: 'order-2' }],
  ])('is discarded when %s', async (_call, call, more) => {
    longTimeout.service.respond((request) => json(request, more));
    expectEnd(await call(longTimeout.client), INVALID);
  });

  test.each([
    ['a create returns an amount that is not a number', createPayment, amount('USD', 'ten')],
    ['a confirm returns another payment', confirm, { transaction_id: randomUUID() }],
  ])('leaves the outcome unknown when %s', async (_call, call, more) => {
    short.service.respond((request) => (request.method === 'POST' ? json(request, more) : NOTHING));
    expectEnd(await call(short.client), UNKNOWN);
    expect(short.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

describe('A service response in an unusual but valid form', () => {
  test.each<[string, Call, (request: ReceivedRequest) => Reply]>([
    [
      'a transaction id in upper case',
      confirm,
      (request) => json(request, { transaction_id: String(request.json['id']).toUpperCase() }),
    ],
    ['an amount without decimals', createPayment, (request) => json(request, amount('USD', '10'))],
    ['an amount that is a number', createPayment, (request) => json(request, amount('USD', 10))],
    [
      'null instead of missing fields',
      createPayout,
      (request) => json(request, { external_id: null, amount: null, channel: null }),
    ],
    [
      'the content type application/problem+json',
      createPayment,
      (request) => ({
        status: 201,
        json: goodFor(request),
        headers: { 'content-type': 'application/problem+json; charset=utf-8' },
      }),
    ],
    [
      'a 103 Early Hints response before it',
      createPayment,
      (request) => (connection) => {
        connection.write('HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n');
        connection.send({ status: 201, json: goodFor(request) });
      },
    ],
  ])('is accepted with %s', async (_what, call, script) => {
    longTimeout.service.respond(script);
    expect((await call(longTimeout.client)).result?.__typename).toMatch(/Success$/);
    expect(longTimeout.service.requests.map(({ method }) => method)).toEqual(['POST']);
  });
});

describe('The reason of a rejection', () => {
  const SMALL = 'Amount too small';
  const HTML = '<!DOCTYPE html><html><body><h1>Bad gateway</h1></body></html>';
  const withJson = (body: unknown): Reply => ({ status: 400, json: body });
  const withText = (body: string): Reply => ({
    status: 400,
    body,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  });

  /** Shape, reply, and the message that callers get; null if the reply has no message that may be shown. */
  const SHAPES: [string, Reply, string | null][] = [
    ['a field message', withJson({ message: SMALL }), SMALL],
    ['a field detail', withJson({ detail: SMALL }), SMALL],
    ['an error object', withJson({ error: { code: 'X', message: SMALL } }), SMALL],
    [
      'a list of error objects',
      withJson({ errors: [{ message: 'Too small' }, { detail: 'Too late' }] }),
      'Too small; Too late',
    ],
    [
      'a message and errors of fields',
      withJson({ message: 'Invalid', errors: { amount: ['Too small'] } }),
      'Invalid; amount: Too small',
    ],
    ['plain text', withText(SMALL), SMALL],
    ['HTML as plain text', withText(HTML), null],
    ['HTML in a message', withJson({ message: HTML }), null],
    ['a very long message', withJson({ message: 'x'.repeat(5000) }), null],
    ['control characters', withJson({ message: 'a\u001b[31mb' }), null],
    ['a number as message', withJson({ message: 17 }), null],
    ['a deeply nested object', { status: 400, body: `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}` }, null],
  ];

  let silent: string | undefined;
  beforeAll(async () => {
    silent = (await resultOf(lookUpPayment, withJson({}))).errors?.[0]?.message;
  });

  test.each(SHAPES)('is shown only if it is short plain text: %s', async (_shape, reply, text) => {
    const message = text ?? silent ?? '';
    for (const call of MONEY_CALLS) {
      const { result } = await resultOf(call, reply);
      expect(result).toMatchObject({ __typename: REJECTED, code: 'REJECTED_BY_SERVICE', httpStatus: 400 });
      // The message of a confirm also contains advice.
      expect(result?.message?.startsWith(message)).toBe(true);
    }
    const { errors } = await resultOf(lookUpPayment, reply);
    expect(errors?.[0]).toMatchObject({ message, extensions: { code: REFUSED } });
  });
});

describe('The response status', () => {
  const expectNothing = ({ found, errors }: CallResult): void =>
    expect({ found, errors }).toEqual({ found: null });

  test('404 rejects a create or confirm, and makes a lookup return null', async () => {
    for (const call of MONEY_CALLS) expectEnd(await resultOf(call, NOTHING), REJECTED);
    for (const call of LOOKUPS) expectNothing(await resultOf(call, NOTHING));
  });

  test('in SERVICE_NOT_FOUND_STATUS makes a lookup return null, in place of 404', async () => {
    const { client, service } = await startRuleHarness({ SERVICE_NOT_FOUND_STATUS: '400' });
    service.respond(() => ({ status: 400, json: {} }));
    expectNothing(await lookUpPayment(client));
    expectEnd(await createPayment(client), REJECTED);
    service.respond(() => NOTHING);
    expectEnd(await lookUpPayment(client), REFUSED);
  });

  test.each([
    ['70', 70_000],
    ['soon', undefined],
    ['-1', undefined],
  ])('429 with Retry-After: %s sets retryAfterMs to %s', async (header, retryAfterMs) => {
    const reply = { status: 429, json: {}, headers: { 'retry-after': header } };
    for (const call of [...LOOKUPS, ...MONEY_CALLS]) {
      const { errors } = await resultOf(call, reply);
      expect(errors?.[0]?.extensions['code']).toBe(UNAVAILABLE);
      expect(errors?.[0]?.extensions['retryAfterMs']).toBe(retryAfterMs);
    }
  });
});
