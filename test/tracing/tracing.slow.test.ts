import { randomUUID } from 'node:crypto';
import { ROOT_CONTEXT, SpanKind, trace, type Tracer } from '@opentelemetry/api';
import { readConfig } from '../../src/config';
import {
  CollectorExporter,
  createTracerProvider,
  type ExportFailure,
} from '../../src/observability/tracing/exporter';
import { EventStream } from '../subscriptions/support/event-stream';
import { firstOf, webSocketClient } from '../subscriptions/support/subscriptions';
import { createInput } from '../support/caller';
import { DOCUMENTS } from '../support/calls';
import { AUTHORIZED, CLIENT_ID, CLIENT_KEY } from '../support/credentials';
import { latch, until } from '../support/latch';
import { API_KEY, CHANNEL, SECRET_KEY, closeAfterTests } from '../support/gateway';
import { fakeClock } from '../support/fake-clock';
import { altered, reset, status } from '../support/payment-service/faults';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { raw } from '../support/raw';
import { newKey } from '../support/harness';
import { startCollector, type Collector } from './support/collector';
import type { SeenSpan } from './support/otlp';
import { below, only, traced, type Traced } from './support/traced';

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = (flags = '01'): Record<string, string> => ({
  traceparent: `00-${PARENT.traceId}-${PARENT.spanId}-${flags}`,
});
const ASK = 'query Asked { __typename }';

describe('Spans of a gateway', () => {
  const PAN = '5555555555554444';
  const CVC = '8351';
  const GET = 'GET /api/v1/payment/';
  const POST = 'POST /api/v1/payment/';
  const lookup = (name: string): string =>
    `query ${name}($c: UUID!, $t: UUID, $e: String) { payment(channel: $c, transactionId: $t, externalId: $e) { ... on PaymentResource { status } } }`;
  const watch = (name: string, t: string) => ({
    query: `subscription ${name}($c: UUID!, $t: UUID!) {
      paymentUpdated(channel: $c, transactionId: $t) { ... on PaymentResource { status } } }`,
    operationName: name,
    variables: { c: CHANNEL, t },
  });

  let service: FakePaymentService;
  let gateway: Traced;
  let spans: SeenSpan[];
  let lines: Record<string, unknown>[];
  /** All bytes that the collector received. */
  let bytes: string;
  /** Values that the received bytes must not contain. */
  const hidden: string[] = [];

  const hide = <T extends string>(value: T): T => {
    hidden.push(value);
    return value;
  };

  async function pay(name: string, over: Record<string, unknown> = {}, key = newKey()): Promise<string> {
    const input = createInput('payment', key, over);
    const { text } = await gateway.client.request(DOCUMENTS.createPayment.replace('Call', name), { input });
    return /"transactionId":"([^"]+)"/.exec(text)?.[1] ?? 'none';
  }

  /** Sends one operation of every kind. */
  async function queries(t: string): Promise<void> {
    const { client } = gateway;
    const look = (name: string, headers: object = {}): Promise<unknown> =>
      client.request(lookup(name), { c: CHANNEL, t }, { ...AUTHORIZED, ...headers });
    await look('Found');
    await look('Continued', { ...traceparent(), tracestate: 'vendor=4711' });
    await look('Unsampled', traceparent('00'));
    await look('Garbled', { traceparent: '00-nothing-of-the-kind-01' });
    const error = { code: 'DECLINED_GENERIC', message: hide('The payment was declined') };
    const declined = { status: 'failed', error };
    service.next('look-up-payment', { acts: true, reply: altered(declined) });
    await look('Declined');
    service.next('look-up-payment', { acts: true, reply: status(503) }, { acts: true, reply: status(503) });
    await look('Retried');
    const down = { acts: false, reply: reset };
    service.next('look-up-payment', down, down, down);
    await look('Down');
    service.next('create-payment', { acts: false, reply: status(400) });
    await pay('Refused');
    await client.request(lookup('Missing'), { c: CHANNEL, t: randomUUID() });
    await client.request(`query Invalid { ${hide('canaryField')} }`);
    await client.request('query NotLetIn { __typename }', {}, {});
    await client.request(`query TooLarge { ${'a: __typename '.repeat(2000)} }`);
    await client.request('{ __typename }');
    for (let time = 0; time < 4; time += 1) await look('Again');
  }

  /** Sends secrets and personal data in every place where a caller or the service can write them. */
  async function secrets(t: string): Promise<void> {
    const { client } = gateway;
    const key = hide(newKey());
    const expiry = { expiryMonth: '12', expiryYear: '2099' };
    const card = { pan: PAN, cvc: CVC, ...expiry, cardholder: 'CANARY HOLDERSON' };
    const amount = { currency: 'EUR', value: hide('4711.47') };
    const over = { method: { card }, amount, returnUrl: hide('https://shop.example/back/canary') };
    hide(await pay('Card', over, key));
    const e = hide(`order ${key}`);
    await client.request(lookup('ByExternalId'), { c: CHANNEL, e });
    await client.request(`query { payment(channel: "${CHANNEL}", externalId: "${e}") { __typename } }`);
    await client.request('query Attempt($key: ID!) { attempt(idempotencyKey: $key) { outcome } }', { key });
    await client.request(DOCUMENTS.confirmPayment.replace('Call', 'Confirm'), {
      input: { channel: CHANNEL, transactionId: t, confirmation: { upi: { utr: '123456789012' } } },
    });
    await client.request(DOCUMENTS.createPayout, { input: createInput('payout', newKey()) });
    const said = altered({ message: hide('canary message'), status: hide('canary_word') });
    service.next('look-up-payment', { acts: true, reply: said });
    await client.request(lookup('Changed'), { c: CHANNEL, t });
    await client.request(`query N${PAN} { a: __typename }`);
    await pay('WrongCard', { method: { card: { pan: [PAN], cvc: { cvc: CVC } } } });
    const agent = { 'user-agent': hide('canary-agent'), baggage: `user=${hide(randomUUID())}` };
    await raw(`${client.url}?query=%7B__typename%7D&${hide('canary-query')}=1`, {
      headers: { 'apollo-require-preflight': '1', ...agent },
    });
  }

  beforeAll(async () => {
    const clock = fakeClock();
    service = closeAfterTests(await FakePaymentService.start(() => clock.now()));
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=collector-key-4711', SERVICE_TIMEOUT_MS: '20000' };
    gateway = await traced(service.url, { env, clock });
    const t = hide(await pay('Pay'));
    await queries(t);
    await secrets(t);
    const url = `${gateway.client.url}/stream`;
    const address = `${url}?secret=${hide('canary-parameter')}`;
    const opening = { method: 'POST', headers: traceparent() } as const;
    await (await EventStream.open(address, watch('BySse', t), opening)).nextData();
    await firstOf(webSocketClient(gateway.client), watch('ByWebSocket', t));
    await (await EventStream.open(url, { query: 'subscription Invalid { nothing }' })).rest();
    const lookups = (): number => service.requestsTo('look-up-payment').length;
    const before = lookups();
    await until(() => {
      clock.advance(2000);
      return lookups() > before;
    });
    spans = await gateway.spans();
    lines = gateway.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
    bytes = Buffer.concat(gateway.collector.exports.map(({ body }) => body)).toString('latin1');
  });

  const names = (some: readonly SeenSpan[]): string[] => some.map(({ name }) => name).sort();

  test('include one root span of kind server per operation, with the type and name of the operation', () => {
    const span = only(spans, 'query Found');
    expect(span).toMatchObject({ kind: 'server', parentSpanId: '', status: { isError: false, message: '' } });
    expect(span.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'http.response.status_code': 200,
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'Found',
    });
    for (const unnamed of spans.filter(({ name }) => name === 'query'))
      expect(unnamed.attributes).not.toHaveProperty('graphql.operation.name');
  });

  test('include one span of kind client per lookup, below the span of its operation', () => {
    const calls = below(spans, only(spans, 'query Found'));
    expect(calls).toMatchObject([{ name: GET, kind: 'client', status: { isError: false } }]);
    expect(calls[0]?.attributes).toEqual({
      'http.request.method': 'GET',
      'url.template': '/api/v1/payment/',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(service.url).port),
      'http.response.status_code': 200,
    });
  });

  test('include the journal calls and the request of a create', () => {
    // On a busy machine the fence is read again.
    const calls = below(spans, only(spans, 'mutation Pay')).filter(
      ({ name }) => name !== 'journal readFenceState',
    );
    expect(names(calls)).toEqual([POST, 'journal insertAttempt', 'journal recordOutcome']);
    expect(calls[0]).toMatchObject({
      name: 'journal insertAttempt',
      kind: 'client',
      attributes: { 'db.system.name': 'sqlite', 'db.operation.name': 'insertAttempt' },
    });
  });

  const ERROR_CODE = expect.stringMatching(/^[A-Z_]+$/) as unknown;

  test.each<[string, boolean, unknown[][]]>([
    ['query Declined', false, [[200, undefined, undefined]]],
    ['query Missing', false, [[404, undefined, undefined]]],
    ['mutation Refused', false, [[400, undefined, '400']]],
    [
      'query Retried',
      false,
      [503, 503, 200].map((code, at) => [code, at || undefined, at < 2 ? '503' : undefined]),
    ],
    ['query Down', true, [undefined, 1, 2].map((at) => [undefined, at, ERROR_CODE])],
  ])(
    'show the retries, status codes and errors of requests to the service (operation: %s)',
    (name, isError, expected) => {
      const span = only(spans, name);
      expect(span).toMatchObject({ status: { isError, message: '' }, events: 0 });
      expect(span.attributes['error.type']).toBe(isError ? 'SERVICE_UNAVAILABLE' : undefined);
      expect(span.attributes['paygraph.error.codes']).toEqual(isError ? ['SERVICE_UNAVAILABLE'] : undefined);
      const calls = below(spans, span).filter((call) => [GET, POST].includes(call.name));
      const shown = ['http.response.status_code', 'http.request.resend_count', 'error.type'];
      expect(calls.map(({ attributes }) => shown.map((key) => attributes[key]))).toEqual(expected);
      for (const { status: ended, attributes, events } of calls)
        expect([ended, events]).toEqual([{ isError: 'error.type' in attributes, message: '' }, 0]);
    },
  );

  test('of invalid requests have no error status and no operation name, and unauthenticated requests have no span', () => {
    const [invalid, tooLarge] = spans.filter(({ name }) => name === 'GraphQL Operation');
    expect(invalid?.attributes['paygraph.error.codes']).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    for (const span of [invalid, tooLarge]) expect(span?.status.isError).toBe(false);
    expect(JSON.stringify(spans)).not.toContain('NotLetIn');
  });

  test('continue the trace of a caller, unless its traceparent header is malformed', () => {
    const span = only(spans, 'query Continued');
    const continued = { traceId: PARENT.traceId, parentSpanId: PARENT.spanId, traceState: 'vendor=4711' };
    expect(span).toMatchObject(continued);
    expect(names(below(spans, span))).toEqual([GET]);
    expect(only(spans, 'query Garbled').parentSpanId).toBe('');
  });

  test('are not recorded if the caller does not sample its trace, but its trace id is logged', () => {
    expect(names(spans)).not.toContain('query Unsampled');
    expect(lines).toContainEqual(expect.objectContaining({ name: 'Unsampled', trace_id: PARENT.traceId }));
  });

  test('are not propagated to the payment service by headers', () => {
    expect(service.requests.length).toBeGreaterThan(10);
    for (const { headers } of service.requests) {
      expect(Object.keys(headers)).not.toContain('traceparent');
      expect(JSON.stringify(headers)).not.toContain(PARENT.traceId);
    }
  });

  test('of compiled operations are the same as those of other operations', () => {
    const again = spans.filter(({ name }) => name === 'query Again');
    expect(again).toHaveLength(4);
    const { attributes } = only(spans, 'query Found');
    for (const span of again) {
      expect(span.attributes).toEqual({ ...attributes, 'graphql.operation.name': 'Again' });
      expect(names(below(spans, span))).toEqual([GET]);
    }
  });

  test('include one span per subscription, from its start to its first result', () => {
    const span = only(spans, 'subscription ByWebSocket');
    expect(span).toMatchObject({ kind: 'server', parentSpanId: '', status: { isError: false } });
    expect(span.attributes).toEqual({
      'graphql.operation.type': 'subscription',
      'graphql.operation.name': 'ByWebSocket',
    });
    expect(only(spans, 'subscription BySse')).toMatchObject({ parentSpanId: PARENT.spanId });
    const [invalid] = spans.filter(({ name }) => name === 'subscription');
    expect(invalid?.attributes['paygraph.error.codes']).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  test('of each poll for subscribers form a separate trace', () => {
    const looks = spans.filter(({ name }) => name === 'watch payment');
    expect(looks.length).toBeGreaterThan(1);
    for (const look of looks) {
      expect(look).toMatchObject({ kind: 'internal', parentSpanId: '' });
      expect(names(below(spans, look))).toEqual([GET]);
    }
  });

  test('have their ids in the log lines of operations and of failed requests', () => {
    const idsOf = (span: SeenSpan): object => ({ trace_id: span.traceId, span_id: span.spanId });
    for (const name of ['Found', 'Continued', 'BySse', 'ByWebSocket']) {
      const [span] = spans.filter((one) => one.name.endsWith(` ${name}`));
      expect(lines.find((line) => line['name'] === name)).toMatchObject(idsOf(span!));
    }
    const down = idsOf(only(spans, 'query Down'));
    const failed = lines.filter((line) => 'call' in line && line['event'] === 'service_request_failed');
    expect(failed).toContainEqual(expect.objectContaining({ ...down, call: 'GET payment/' }));
  });

  test('contain no secret, personal data, document, id, amount or message', () => {
    for (const name of ['mutation Card', 'query ByExternalId', 'query Attempt', 'mutation Confirm'])
      expect(bytes).toContain(name);
    expect(hidden.length).toBeGreaterThan(12);
    const numbers = [PAN, CVC, '000123456789', '123456789012'];
    const fixed = [...numbers, API_KEY, SECRET_KEY, CLIENT_KEY, CLIENT_ID, CHANNEL];
    const words = ['HOLDERSON', 'ann@example.com', 'collector-key', '__typename', 'transaction_id='];
    for (const secret of [...fixed, ...words, ...hidden, 'declined_generic'])
      expect(bytes.toLowerCase()).not.toContain(secret.toLowerCase());
  });
});

/** Starts a tracer that exports its spans, without a gateway. */
function startTracer(settings: Record<string, string | undefined>) {
  const { tracing } = readConfig(settings);
  if (!tracing) throw new Error('Tracing is off.');
  const time = { now: 0 };
  const warnings: ExportFailure[] = [];
  const now = () => time.now;
  const exporter = new CollectorExporter(tracing, now, (lost) => warnings.push(lost));
  const provider = createTracerProvider(tracing, exporter);
  closeAfterTests({
    close: async () => {
      await provider.shutdown().catch(() => undefined);
      exporter.destroy();
    },
  });
  const tracer: Tracer = provider.getTracer('test');
  const make = (count: number): void => {
    for (let made = 0; made < count; made += 1) tracer.startSpan('made', { kind: SpanKind.SERVER }).end();
  };
  return { time, warnings, tracer, make, flush: () => provider.forceFlush().catch(() => undefined) };
}

describe('OTEL_TRACES_SAMPLER', () => {
  /** A trace id that is sampled at a ratio of 0.5. */
  const KEPT = `00000001${'0'.repeat(24)}`;
  const SAMPLED = 1;
  const UNSAMPLED = 0;

  test.each<[string | undefined, string | undefined, number | undefined, boolean]>([
    [undefined, undefined, undefined, true],
    [undefined, undefined, UNSAMPLED, false],
    ['always_on', undefined, UNSAMPLED, true],
    ['always_off', undefined, SAMPLED, false],
    ['parentbased_always_off', undefined, undefined, false],
    ['traceidratio', '0.5', UNSAMPLED, true],
    ['parentbased_traceidratio', '0', SAMPLED, true],
  ])(
    'set to %s with the argument %s decides whether a span whose parent has the flags %s is recorded: %s',
    (name, ratio, traceFlags, expected) => {
      const { tracer } = startTracer({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
        OTEL_TRACES_SAMPLER: name,
        OTEL_TRACES_SAMPLER_ARG: ratio,
      });
      const remote = { traceId: KEPT, spanId: PARENT.spanId, traceFlags: traceFlags ?? 0, isRemote: true };
      const parent = traceFlags === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
      expect(tracer.startSpan('made', {}, parent).isRecording()).toBe(expected);
    },
  );
});

describe('An OpenTelemetry collector', () => {
  let service: FakePaymentService;

  beforeAll(async () => {
    service = closeAfterTests(await FakePaymentService.start());
  });

  test('receives spans according to the settings (endpoint, headers, resource), whatever process.env contains', async () => {
    const [collector, other] = [await startCollector(), await startCollector()];
    const environment = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${other.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-from-environment=2',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_TRACES_SAMPLER: 'always_off',
      OTEL_SERVICE_NAME: 'from-environment',
      OTEL_SDK_DISABLED: 'true',
    };
    Object.assign(process.env, environment);
    try {
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/below/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20key-1, x-tenant = a%2Cb',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test%20bed,service.name=hidden',
        OTEL_SERVICE_NAME: 'pay-eu',
      };
      const gateway = await traced(service.url, { collector, env });
      for (let count = 0; count < 225; count += 1)
        await gateway.client.request(`query Op${count} { __typename }`);
      const spans = await gateway.spans();
      expect(spans).toHaveLength(225);
      expect(new Set(spans.map(({ name }) => name)).size).toBe(201);
      const { url, headers } = collector.exports[0]!;
      const own = { authorization: 'Bearer key-1', 'x-tenant': 'a,b' };
      expect(headers).toMatchObject({ 'content-type': 'application/x-protobuf', ...own });
      expect(spans[0]?.resource).toMatchObject({
        'service.name': 'pay-eu',
        'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
        'deployment.environment.name': 'test bed',
        'process.pid': process.pid,
      });
      const shown = JSON.stringify([spans[0], headers]);
      expect(shown).not.toMatch(/host\.name|command|owner|argv|hidden|from-environment|gzip/);
      expect([url, other.exports]).toEqual(['/below/v1/traces', []]);
    } finally {
      for (const name of Object.keys(environment)) delete process.env[name];
    }
  });

  test('receives spans at OTEL_EXPORTER_OTLP_TRACES_ENDPOINT even if OTEL_EXPORTER_OTLP_ENDPOINT is also set', async () => {
    const collector = await startCollector();
    const { make, flush } = startTracer({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/take/these`,
    });
    make(1);
    await flush();
    expect(collector.exports[0]?.url).toBe('/take/these');
  });

  test.each<[string, Partial<Collector>]>([
    ['responds with 500', { answer: (response) => response.writeHead(500, 'canary').end('canary') }],
    ['never responds', { answer: () => undefined }],
    ['is down', { url: 'http://127.0.0.1:9' }],
  ])('that %s does not affect operations or the shutdown', async (trouble, part) => {
    const collector = Object.assign(await startCollector(), part);
    // The last export gets a quarter of this. It is long only where the log must show the collector's response.
    const graceMs = trouble === 'responds with 500' ? '120000' : '400';
    const env = { SHUTDOWN_GRACE_MS: graceMs, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=canary-key' };
    const gateway = await traced(service.url, { collector, env });
    const { status: code, data } = await gateway.client.request(ASK);
    expect([code, data]).toEqual([200, { __typename: 'Query' }]);
    await gateway.client.gateway.close();
    const log = gateway.logLines.join('');
    expect(log).not.toContain('canary');
    if (trouble === 'responds with 500') expect(log).toMatch(/"level":40.*"spans":1,"why":"HTTP 500"/);
  });

  test('that fails is reported at most once a minute, with the number of lost spans and the reason', async () => {
    const collector = await startCollector();
    collector.answer = (response) => response.writeHead(413, 'canary').end('canary');
    const { time, warnings, make, flush } = startTracer({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const lose = async (count: number): Promise<void> => {
      make(count);
      await flush();
    };
    await lose(1);
    expect(warnings).toEqual([{ spans: 1, why: 'HTTP 413' }]);
    await lose(2);
    time.now = 59_999;
    await lose(3);
    expect(warnings).toHaveLength(1);
    time.now = 60_000;
    await lose(4);
    expect(warnings.slice(1)).toEqual([{ spans: 9, why: 'HTTP 413' }]);
  });

  test('that is slow causes at most 2560 spans to be kept in memory, and receives later spans', async () => {
    const collector = await startCollector();
    const { opened, open } = latch();
    collector.answer = (response) => void opened.then(() => response.writeHead(200).end());
    const { make, flush } = startTracer({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    make(5_000);
    await until(() => collector.exports.length > 0);
    expect(collector.exports).toHaveLength(1);
    open();
    await flush();
    // These are one batch in flight, and the queue.
    const received = collector.spans().length;
    expect(received).toBeGreaterThan(1000);
    expect(received).toBeLessThanOrEqual(512 + 2048);
    make(10);
    await flush();
    expect(collector.spans()).toHaveLength(received + 10);
  });
});
