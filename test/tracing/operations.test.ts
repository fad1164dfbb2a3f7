import { createHash, randomUUID } from 'node:crypto';
import { altered, reset, status } from '../exactly-once/service/faults';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { createInput } from '../exactly-once/support/caller';
import { newKey } from '../exactly-once/support/rig';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, closeAfterTests } from '../support/gateway';
import { below, only, traced, type Traced } from './support/traced';
import type { SeenSpan } from './support/otlp';

/** What callers asked, all of one gateway; its spans came when it was closed. */

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const TRACEPARENT = `00-${PARENT.traceId}-${PARENT.spanId}-01`;

const lookup = (name: string): string =>
  `query ${name}($c: UUID!, $t: UUID) { payment(channel: $c, transactionId: $t) { ... on PaymentResource { status } } }`;
const create = (name: string): string =>
  `mutation ${name}($input: CreatePaymentInput!) { createPayment(input: $input) {
    __typename ... on PaymentSuccess { payment { ... on PaymentResource { transactionId } } } } }`;

type Created = { createPayment: { payment: { transactionId: string } } };

let service: FaultyService;
let gateway: Traced;
let spans: SeenSpan[];
let lines: Record<string, unknown>[];

beforeAll(async () => {
  service = closeAfterTests(await FaultyService.start());
  gateway = await traced(service.url, { env: { SERVICE_TIMEOUT_MS: '20000' } });
  const { client } = gateway;
  const pay = async (name: string, over = {}): Promise<string> => {
    const input = createInput('payment', newKey(), over);
    const { data } = await client.ask<Created>(create(name), { input });
    return data.createPayment.payment?.transactionId;
  };
  const t = await pay('Pay');
  const look = (name: string, headers = {}): Promise<unknown> =>
    client.ask(lookup(name), { c: CHANNEL, t }, { ...AUTHORIZED, ...headers });
  await look('Found');
  await look('Continued', { traceparent: TRACEPARENT, tracestate: 'vendor=4711' });
  await look('Garbled', { traceparent: '00-nothing-of-the-kind-01' });
  service.next('look-up-payment', {
    acts: true,
    reply: altered({
      status: 'failed',
      error: { code: 'DECLINED_GENERIC', message: 'The payment was declined' },
    }),
  });
  await look('Declined');
  service.next('look-up-payment', { acts: true, reply: status(503) }, { acts: true, reply: status(503) });
  await look('Retried');
  const down = { acts: false, reply: reset };
  service.next('look-up-payment', down, down, down);
  await look('Down');
  service.next('create-payment', { acts: false, reply: status(400) });
  await pay('Refused');
  await client.ask(lookup('Missing'), { c: CHANNEL, t: randomUUID() });
  await client.ask('query Invalid { nothing }');
  await client.ask('query NotLetIn { __typename }', {}, {});
  await client.ask(`query TooLarge { ${'a: __typename '.repeat(2000)} }`);
  await client.ask('{ __typename }');
  for (let time = 0; time < 4; time += 1) await look('Again');
  const query = 'query ByHash { __typename }';
  const sha256Hash = createHash('sha256').update(query).digest('hex');
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  for (const body of [{ extensions }, { extensions, query }, { extensions }])
    await fetch(client.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...AUTHORIZED },
      body: JSON.stringify(body),
    });
  spans = await gateway.spans();
  lines = gateway.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
});

const names = (some: readonly SeenSpan[]): string[] => some.map(({ name }) => name).sort();
const GET = 'GET /api/v1/payment/';
const POST = 'POST /api/v1/payment/';

test('An operation is a span of a server, named by its type and its name', () => {
  const span = only(spans, 'query Found');
  expect(span).toMatchObject({ kind: 'server', parentSpanId: '', status: { isError: false, message: '' } });
  expect(span.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/graphql',
    'http.response.status_code': 200,
    'graphql.operation.type': 'query',
    'graphql.operation.name': 'Found',
  });
  expect(only(spans, 'query').attributes).not.toHaveProperty('graphql.operation.name');
});

test('A lookup is one request to the service below it', () => {
  const [call, ...others] = below(spans, only(spans, 'query Found'));
  expect(others).toEqual([]);
  expect(call).toMatchObject({ name: GET, kind: 'client', status: { isError: false } });
  expect(call?.attributes).toEqual({
    'http.request.method': 'GET',
    'url.template': '/api/v1/payment/',
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(service.url).port),
    'http.response.status_code': 200,
  });
});

test('A create is written to the journal, sent, and settled in the journal', () => {
  const calls = below(spans, only(spans, 'mutation Pay'));
  expect(names(calls)).toEqual([POST, 'journal begin', 'journal settle']);
  const [begin] = calls;
  expect(begin).toMatchObject({
    name: 'journal begin',
    kind: 'client',
    attributes: { 'db.system.name': 'sqlite', 'db.operation.name': 'begin' },
  });
});

test('A payment that was declined is no fault, and why it was is in no span', () => {
  const span = only(spans, 'query Declined');
  expect([span, ...below(spans, span)].map((one) => one.status.isError)).toEqual([false, false]);
  expect(JSON.stringify(spans)).not.toMatch(/declined_generic|was declined/i);
});

test('Every try of a lookup is a request of its own, which says how often it was sent before', () => {
  const span = only(spans, 'query Retried');
  expect(span.status.isError).toBe(false);
  expect(
    below(spans, span).map(({ attributes, status: { isError } }) => [
      attributes['http.response.status_code'],
      attributes['http.request.resend_count'],
      attributes['error.type'],
      isError,
    ]),
  ).toEqual([
    [503, undefined, '503', true],
    [503, 1, '503', true],
    [200, 2, undefined, false],
  ]);
});

test('A service that is away is a fault of its requests and of the operation, told by codes alone', () => {
  const span = only(spans, 'query Down');
  expect(span).toMatchObject({
    status: { isError: true, message: '' },
    attributes: { 'error.type': 'SERVICE_UNAVAILABLE', 'paygraph.error.codes': ['SERVICE_UNAVAILABLE'] },
  });
  const calls = below(spans, span);
  expect(calls).toHaveLength(3);
  for (const call of calls) {
    expect(call).toMatchObject({ status: { isError: true, message: '' }, events: 0 });
    expect(call.attributes['error.type']).toMatch(/^[A-Z_]+$/);
    expect(call.attributes).not.toHaveProperty('http.response.status_code');
  }
});

test('A create that the service refuses is a fault of the request, not of the operation', () => {
  const span = only(spans, 'mutation Refused');
  expect(span.status.isError).toBe(false);
  expect(below(spans, span).find(({ name }) => name === POST)).toMatchObject({
    status: { isError: true },
    attributes: { 'http.response.status_code': 400, 'error.type': '400' },
  });
});

test('That there is no such payment is an answer', () => {
  const [call] = below(spans, only(spans, 'query Missing'));
  expect(call).toMatchObject({
    status: { isError: false },
    attributes: { 'http.response.status_code': 404 },
  });
});

test('What callers got wrong has codes and no fault, and no name where it is not known what was meant', () => {
  const unclear = spans.filter(({ name }) => name === 'GraphQL Operation');
  const seen = unclear.map(({ attributes }) => [
    attributes['http.response.status_code'],
    attributes['paygraph.error.codes'],
  ]);
  expect(seen).toEqual([
    [400, ['GRAPHQL_VALIDATION_FAILED']],
    [400, undefined],
    [200, ['PERSISTED_QUERY_NOT_FOUND']],
  ]);
  expect(unclear.some((span) => span.status.isError)).toBe(false);
});

test('Who may not ask makes no span', () => {
  expect(JSON.stringify(spans)).not.toContain('NotLetIn');
});

test('A trace that the caller has begun is continued', () => {
  const span = only(spans, 'query Continued');
  expect(span).toMatchObject({
    traceId: PARENT.traceId,
    parentSpanId: PARENT.spanId,
    traceState: 'vendor=4711',
  });
  expect(names(below(spans, span))).toEqual([GET]);
});

test('A traceparent that is none is none', () => {
  expect(only(spans, 'query Garbled').parentSpanId).toBe('');
});

test('Nothing of a trace is told to the service', () => {
  expect(service.seen.length).toBeGreaterThan(10);
  for (const { headers } of service.seen) {
    expect(Object.keys(headers)).not.toContain('traceparent');
    expect(JSON.stringify(headers)).not.toContain(PARENT.traceId);
  }
});

test('An operation that is known well, and answered without Apollo, is traced as it was at first', () => {
  const again = spans.filter(({ name }) => name === 'query Again');
  expect(again).toHaveLength(4);
  for (const span of again) {
    expect(span.attributes).toEqual({
      ...only(spans, 'query Found').attributes,
      'graphql.operation.name': 'Again',
    });
    expect(names(below(spans, span))).toEqual([GET]);
  }
});

test('An operation that is asked for by its hash is traced as one that is written out', () => {
  const asked = spans.filter(({ name }) => name === 'query ByHash');
  expect(asked.map(({ attributes }) => attributes['graphql.operation.name'])).toEqual(['ByHash', 'ByHash']);
});

test('Every trace has a root of the gateway, or of its caller', () => {
  const known = new Set([...spans.map(({ spanId }) => spanId), PARENT.spanId, '']);
  expect(spans.filter(({ parentSpanId }) => !known.has(parentSpanId))).toEqual([]);
});

describe('The log', () => {
  const idsOf = ({ traceId, spanId }: SeenSpan): object => ({
    trace_id: traceId,
    span_id: spanId,
    trace_flags: '01',
  });

  test('names the span of an operation in its line', () => {
    for (const name of ['Found', 'Continued', 'Again']) {
      const [line] = lines.filter((one) => one['msg'] === 'operation' && one['name'] === name);
      const candidates = spans.filter((span) => span.name === `query ${name}`).map(idsOf);
      expect(candidates).toContainEqual({
        trace_id: line?.['trace_id'],
        span_id: line?.['span_id'],
        trace_flags: line?.['trace_flags'],
      });
    }
  });

  test('names it where a call to the service did not go well', () => {
    const faults = lines.filter(({ msg }) => msg === 'a call to the service did not go well');
    const ids = idsOf(only(spans, 'query Down'));
    expect(faults.filter((line) => line['trace_id'] === only(spans, 'query Down').traceId)).toHaveLength(3);
    expect(faults).toContainEqual(expect.objectContaining(ids));
  });
});
