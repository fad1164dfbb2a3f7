import { CHANNEL, closeAfterTests, testGateway, clear, type LoggedGateway } from '../support/gateway';
import { accepted, type Json } from '../support/calls';
import type { ReceivedRequest, Reply } from '../support/payment-service/fake-payment-service';
import { expectErrors } from '../support/raw';
import { TcpProxy } from '../support/tcp-proxy';
import { startRuleHarness } from './fixtures/rig';
import {
  confirm,
  createPayment,
  createPayout,
  goodFor,
  idIn,
  lookUpPayment,
  lookUpPayout,
  newLookups,
  newMoneyCalls,
  type CallResult,
  type ServiceCall,
} from './fixtures/service-calls';
import {
  ANOTHER_ID,
  MEANINGS,
  SERVICE_FAULTS,
  SOME_HTML,
  UNKNOWN,
  type FaultMeaning,
  type ServiceFault,
} from './fixtures/service-faults';

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

function expectLookup(ending: CallResult, meaning: FaultMeaning): void {
  const { lookup } = MEANINGS[meaning];
  expect(ending).toMatchObject({ status: 200, found: null });
  expect(ending.errors).toHaveLength(1);
  expectErrors(ending, lookup.error);
  expect(ending.errors?.[0]?.extensions).toMatchObject({ retryable: lookup.retryable });
  expect(ending.errors?.[0]?.path).toHaveLength(1);
}

function expectMoney(ending: CallResult, meaning: FaultMeaning): void {
  const { money } = MEANINGS[meaning];
  expect(ending.status).toBe(200);
  if (money.error) {
    expect(ending.result).toBeUndefined();
    expectErrors(ending, money.error);
    expect(ending.errors?.[0]?.extensions).toMatchObject({ retryable: money.retryable });
    return;
  }
  expect(ending.errors).toBeUndefined();
  expect(ending.result?.__typename).toBe(money.result);
  if (money.result === UNKNOWN)
    expect(ending.result).toMatchObject({ code: 'OUTCOME_UNKNOWN', ...ending.names });
}

const isUnknown = (meaning: FaultMeaning): boolean => MEANINGS[meaning].money.result === UNKNOWN;

/** The result of a call, and the requests that were sent for it. */
interface Outcome {
  call: ServiceCall;
  ending: CallResult;
  requests: ReceivedRequest[];
}

type Met = Map<string, Outcome[]>;
type NewCalls = () => ServiceCall[];

/**
 * Makes the calls once for each fault, several faults at a time, and adds the outcomes to `met`. After each group one create succeeds, because 10
 * consecutive timeouts or 50 consecutive other failures would open the circuit breaker. Lookups for a lost create or
 * confirm find nothing.
 */
async function callWithFaults(
  { client, service }: LoggedGateway,
  faults: readonly ServiceFault[],
  newCalls: NewCalls,
  met: Met,
): Promise<void> {
  const replies = new Map<string, ServiceFault[2]>();
  service.respond((request) => {
    const isSearch = request.method === 'GET' && newCalls === newMoneyCalls;
    const reply = isSearch ? undefined : replies.get(idIn(request));
    if (reply) return reply(goodFor(request));
    return request.method === 'GET' ? NOTHING : accepted(request);
  });
  const meet = async ([fault, , reply]: ServiceFault): Promise<void> => {
    const run = async (call: ServiceCall): Promise<Outcome> => {
      replies.set(call.id, reply);
      const ending = await call.run(client);
      return { call, ending, requests: service.requests.filter((request) => idIn(request) === call.id) };
    };
    met.set(fault, await Promise.all(newCalls().map(run)));
  };
  const atOnce = faults.some(([, meaning]) => meaning === 'timeout') ? 2 : 8;
  for (let place = 0; place < faults.length; place += atOnce) {
    await Promise.all(faults.slice(place, place + atOnce).map(meet));
    expect((await createPayment().run(client)).result?.__typename).toBe('PaymentSuccess');
  }
}

describe('A faulty payment service', () => {
  const lookups: Met = new Map();
  const moneyCalls: Met = new Map();
  let paths: string[];

  beforeAll(async () => {
    const timeouts = SERVICE_FAULTS.filter(([, meaning]) => meaning === 'timeout');
    const others = SERVICE_FAULTS.filter(([, meaning]) => meaning !== 'timeout');
    const unknown = others.filter(([, meaning]) => isUnknown(meaning));
    const known = others.filter(([, meaning]) => !isUnknown(meaning));
    const inShort = async (): Promise<void> => {
      await callWithFaults(short, timeouts, newLookups, lookups);
      await callWithFaults(short, timeouts, newMoneyCalls, moneyCalls);
      await callWithFaults(short, unknown, newMoneyCalls, moneyCalls);
    };
    const withLongTimeout = async (): Promise<void> => {
      await callWithFaults(longTimeout, others, newLookups, lookups);
      await callWithFaults(longTimeout, known, newMoneyCalls, moneyCalls);
    };
    await Promise.all([inShort(), withLongTimeout()]);
    paths = [short, longTimeout].flatMap(({ service }) => service.requests.map(({ path }) => path));
  });

  const lookupRows = SERVICE_FAULTS.map(
    ([fault, meaning]) => [fault, MEANINGS[meaning].lookup.error, meaning] as const,
  );
  test.each(lookupRows)('that %s makes a lookup fail with %s', (fault, _error, meaning) => {
    for (const { ending } of lookups.get(fault)!) {
      expectLookup(ending, meaning);
      expect(ending.text).not.toMatch(/<h1|<html/i);
    }
  });

  const mutationRows = SERVICE_FAULTS.map(([fault, meaning]) => {
    const { error, result } = MEANINGS[meaning].money;
    return [fault, error ?? result, meaning] as const;
  });
  test.each(mutationRows)('that %s makes a mutation end with %s, sent once', (fault, _end, meaning) => {
    for (const { ending, call, requests } of moneyCalls.get(fault)!) {
      expectMoney(ending, meaning);
      expect(ending.text).not.toMatch(/<h1|<html/i);
      const sent = requests.filter(({ method }) => method === 'POST').map(({ path }) => path);
      expect(sent).toEqual([call.path]);
      // Unknown outcomes and refused confirms cause lookups.
      const isLookedUp = isUnknown(meaning) || (meaning === 'refused' && call.path.endsWith('/confirm/'));
      expect(requests.some(({ method }) => method === 'GET')).toBe(isLookedUp);
    }
  });

  test('does not make the gateway send requests to another path, such as the target of a redirect', () => {
    expect(paths.filter((path) => !path.startsWith('/api/v1/'))).toEqual([]);
  });
});

describe('A request that was not sent', () => {
  const stalledHandshake = async (): Promise<string> => {
    const proxy = closeAfterTests(await TcpProxy.to(longTimeout.service.url));
    proxy.discards = true;
    return proxy.through(longTimeout.service.url).replace('http:', 'https:');
  };

  test.each<[string, ms: number, url: () => string | Promise<string>, code: RegExp]>([
    ['the connection is refused', LONG_MS, () => 'http://127.0.0.1:1/', /^SERVICE_UNAVAILABLE$/],
    [
      'the service does not speak TLS',
      LONG_MS,
      () => longTimeout.service.url.replace('http:', 'https:'),
      /^SERVICE_UNAVAILABLE$/,
    ],
    [
      'the host is unknown',
      SHORT_MS,
      () => 'https://no-such-host.invalid/',
      /^SERVICE_(TIMEOUT|UNAVAILABLE)$/,
    ],
    ['the TLS handshake stalls', SHORT_MS, stalledHandshake, /^SERVICE_(TIMEOUT|UNAVAILABLE)$/],
  ])('is retryable when %s (SERVICE_TIMEOUT_MS: %i)', async (_what, ms, url, code) => {
    const env = { SERVICE_TIMEOUT_MS: String(ms), PAYOUT_PREFLIGHT: 'off' };
    const client = await testGateway(await url(), { env });
    const run = (call: ServiceCall): Promise<CallResult> => call.run(client);
    for (const ending of await Promise.all(newMoneyCalls().map(run))) expectMoney(ending, 'unreachable');
    for (const ending of await Promise.all(newLookups().map(run))) {
      expectErrors(ending, code);
      expect(ending).toMatchObject({
        status: 200,
        found: null,
        errors: [{ extensions: { retryable: true } }],
      });
    }
    expect(longTimeout.service.requests).toHaveLength(0);
  });
});

function resultOfCall(call: ServiceCall, reply: Reply): Promise<CallResult> {
  longTimeout.service.respond(() => reply);
  return call.run(longTimeout.client);
}

const json = (request: ReceivedRequest, more: Json): Reply => ({
  status: 200,
  json: { ...goodFor(request), channel: CHANNEL, ...more },
});

const amount = (currency: string, value: unknown): Json => ({ amount: { currency, value } });

// exactly-once/lost-responses.slow.test.ts and unknown-outcomes.slow.test.ts have more contradictions.
describe('A response that contradicts the request', () => {
  test.each([
    ['a lookup by transaction id returns another transaction', lookUpPayment, { transaction_id: ANOTHER_ID }],
    ['a lookup by external id returns another external id', lookUpPayout, { external_id: 'order-2' }],
  ])('is discarded when %s', async (_call, newCall, more) => {
    longTimeout.service.respond((request) => json(request, more));
    expectErrors(await newCall().run(longTimeout.client), 'SERVICE_RESPONSE_INVALID');
  });

  /** Expects an unknown outcome, one POST, and lookups. */
  async function expectUnknown(call: ServiceCall): Promise<void> {
    expectMoney(await call.run(short.client), 'unreadable');
    const methods = short.service.requests.map(({ method }) => method);
    expect(methods.filter((method) => method === 'POST')).toHaveLength(1);
    expect(methods).toContain('GET');
  }

  test.each([
    ['a create of a payment returns an amount that is no number', createPayment, amount('USD', 'ten')],
    ['a create of a payout returns another external id', createPayout, { external_id: 'another' }],
    ['a confirm returns another payment', confirm, { transaction_id: ANOTHER_ID }],
  ])('leaves the outcome unknown when %s', async (_call, newCall, more) => {
    short.service.respond((request) => (request.method === 'POST' ? json(request, more) : NOTHING));
    await expectUnknown(newCall());
  });

  /** Loses the response to a create; lookups return a transaction that matches it except for `more`. */
  const lostThenFound = ({ service }: LoggedGateway, newCall: () => ServiceCall, more: Json): void =>
    service.respond((request) => {
      if (request.method === 'POST') return { status: 500, json: {} };
      // Created at the time of the lookup, because an older transaction cannot match.
      const matching = { ...amount('USD', '10.00'), create_date: new Date().toISOString() };
      const method = newCall === createPayment && { payment_method: { type: 'other' } };
      return json(request, { ...matching, ...method, ...more });
    });

  test.each([
    ['a payment of another amount', createPayment, amount('USD', '10.01')],
    ['a payment on another channel', createPayment, { channel: ANOTHER_ID }],
    ['a payout of another amount', createPayout, amount('USD', '10.01')],
  ])(
    'does not settle a create with a lost response when a lookup returns %s',
    async (_what, newCall, more) => {
      lostThenFound(short, newCall, more);
      await expectUnknown(newCall());
    },
  );

  test.each([
    ['payment', createPayment],
    ['payout', createPayout],
  ])('is the reason: without a contradiction, the %s of a lost response is found', async (_kind, newCall) => {
    lostThenFound(longTimeout, newCall, {});
    const { result } = await newCall().run(longTimeout.client);
    expect(result?.__typename).toMatch(/Success$/);
    expect(result?.replayed).toBe(true);
  });
});

describe('A response that differs only in form', () => {
  test.each<[string, () => ServiceCall, (request: ReceivedRequest) => Reply]>([
    ['capital letters', confirm, (request) => json(request, { transaction_id: idIn(request).toUpperCase() })],
    ['an amount without decimals', createPayment, (request) => json(request, amount('USD', '10'))],
    ['an amount that is a number', createPayment, (request) => json(request, amount('USD', 10))],
    [
      'null instead of missing fields',
      createPayout,
      (request) => json(request, { external_id: null, amount: null, channel: null }),
    ],
    [
      'another content type of JSON',
      createPayment,
      (request) => ({
        status: 201,
        json: goodFor(request),
        headers: { 'content-type': 'application/problem+json; charset=utf-8' },
      }),
    ],
    [
      'early hints before it',
      createPayment,
      (request) => (connection) => {
        connection.write('HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n');
        connection.send({ status: 201, json: goodFor(request) });
      },
    ],
  ])('is accepted: %s', async (_what, newCall, script) => {
    longTimeout.service.respond(script);
    expect((await newCall().run(longTimeout.client)).result?.__typename).toMatch(/Success$/);
    expect(longTimeout.service.requests.map(({ method }) => method)).toEqual(['POST']);
  });
});

describe('The reason of a rejection', () => {
  const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };
  const withJson = (body: unknown, status = 400): Reply => ({ status, json: body });
  const SMALL = 'Amount too small';

  /** Shape, reply, and the message that callers get; null if the reply has no message that may be shown. */
  const SHAPES: [string, Reply, string | null][] = [
    ['message', withJson({ message: SMALL }), SMALL],
    ['detail', withJson({ detail: SMALL }), SMALL],
    ['error', withJson({ error: SMALL }), SMALL],
    ['an error object', withJson({ error: { code: 'X', message: SMALL } }), SMALL],
    [
      'a list of error objects',
      withJson({ errors: [{ message: 'Too small' }, { detail: 'Too late' }] }),
      'Too small; Too late',
    ],
    ['fields alone', withJson({ amount: ['Too small'] }), 'amount: Too small'],
    [
      'a message and errors',
      withJson({ message: 'Invalid', errors: { amount: ['Too small'] } }, 422),
      'Invalid; amount: Too small',
    ],
    ['plain text', { status: 400, body: SMALL, headers: PLAIN }, SMALL],
    ['HTML as plain text', { status: 400, body: SOME_HTML, headers: PLAIN }, null],
    ['HTML in a message', withJson({ message: SOME_HTML }), null],
    ['a very long message', withJson({ message: 'x'.repeat(5000) }), null],
    ['control characters', withJson({ message: 'a\u001b[31mb' }), null],
    ['a number', withJson({ message: 17 }), null],
    ['a deep object', { status: 400, body: `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}` }, null],
  ];

  let silent: string | undefined;
  beforeAll(async () => {
    silent = (await resultOfCall(lookUpPayment(), withJson({}))).errors?.[0]?.message;
  });

  test.each(SHAPES)('reaches the caller only if it can be shown: %s', async (_shape, reply, text) => {
    const message = text ?? silent ?? '';
    for (const call of newMoneyCalls()) {
      const { result } = await resultOfCall(call, reply);
      expect(result).toMatchObject({ __typename: 'RejectedByServiceError', code: 'REJECTED_BY_SERVICE' });
      // The message of a confirm also contains advice.
      expect(result?.message?.startsWith(message)).toBe(true);
      expect(result?.httpStatus).toBe('status' in reply ? reply.status : 0);
    }
    const { errors } = await resultOfCall(lookUpPayment(), reply);
    expect(errors?.[0]).toMatchObject({ message, extensions: { code: 'BAD_USER_INPUT' } });
  });
});

describe('The status', () => {
  const no = (status: number): Reply => ({ status, json: { message: 'no' } });

  test.each([403, 404])('%d rejects a create or confirm', async (status) => {
    for (const call of newMoneyCalls())
      expect((await resultOfCall(call, no(status))).result).toMatchObject({
        __typename: 'RejectedByServiceError',
        httpStatus: status,
      });
  });

  test('404 in a lookup means that there is no such transaction, 403 that the credentials were refused', async () => {
    for (const call of newLookups()) {
      const { found, errors } = await resultOfCall(call, no(404));
      expect({ found, errors }).toEqual({ found: null, errors: undefined });
      expectErrors(await resultOfCall(call, no(403)), 'SERVICE_AUTH_FAILED');
    }
  });

  test('in SERVICE_NOT_FOUND_STATUS means in a lookup that there is no such transaction', async () => {
    const { client, service } = await startRuleHarness({ SERVICE_NOT_FOUND_STATUS: '400' });
    service.respond(() => no(400));
    const missing = await lookUpPayment().run(client);
    expect(missing.found).toBeNull();
    expect(missing.errors).toBeUndefined();
    expect((await createPayment().run(client)).result?.__typename).toBe('RejectedByServiceError');
    service.respond(() => no(404));
    expectErrors(await lookUpPayment().run(client), 'BAD_USER_INPUT');
  });

  test.each([
    ['70', 70_000],
    ['soon', undefined],
    ['-1', undefined],
  ])('429 with Retry-After %s gives retryAfterMs %s', async (header, retryAfterMs) => {
    const reply = { status: 429, json: {}, headers: { 'retry-after': header } };
    for (const call of [...newLookups(), ...newMoneyCalls()]) {
      const { errors } = await resultOfCall(call, reply);
      expect(errors?.[0]?.extensions['code']).toBe('SERVICE_UNAVAILABLE');
      expect(errors?.[0]?.extensions['retryAfterMs']).toBe(retryAfterMs);
    }
  });
});
