import { EventStream } from '../live/support/event-stream';
import { PAYMENT_UPDATED, sold, watching } from '../live/support/live-gateway';
import { graphqlWsClient } from '../live/support/graphql-ws-client';
import { until } from '../exactly-once/support/gate';
import { movedClock } from '../support/moved-clock';
import { testSandbox } from '../support/gateway';
import { below, only, traced, type Traced } from './support/traced';
import type { SeenSpan } from './support/otlp';

/** Subscriptions of one gateway; its spans came when it was closed, with the streams still open. */

const PARENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const asked = (id: string, operationName: string) => ({
  ...watching(id, PAYMENT_UPDATED.replace('PaymentUpdated', operationName)),
  operationName,
});

let gateway: Traced;
let spans: SeenSpan[];
let lines: Record<string, unknown>[];

beforeAll(async () => {
  const clock = movedClock();
  const sandbox = await testSandbox({ clock });
  gateway = await traced(sandbox.url, { clock, env: { SERVICE_TIMEOUT_MS: '20000' } });
  const { client } = gateway;
  const id = await sold(client);
  const url = `${client.url}/stream`;
  const traceparent = `00-${PARENT.traceId}-${PARENT.spanId}-01`;
  const stream = await EventStream.open(url, asked(id, 'BySse'), {
    method: 'POST',
    headers: { traceparent },
  });
  await stream.nextData();
  const first = (name: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      graphqlWsClient(client.url, { retryAttempts: 0 }).subscribe(asked(id, name), {
        next: resolve,
        error: reject,
        complete: () => undefined,
      });
    });
  await first('ByWebSocket');
  const refused = await EventStream.open(url, { query: 'subscription Invalid { nothing }' });
  await refused.rest();
  const lookups = (): number => sandbox.control.counts().payment.lookups;
  const before = lookups();
  // It is looked at again by itself.
  await until(
    () => {
      clock.advance(2000);
      return lookups();
    },
    (count) => count > before,
  );
  spans = await gateway.spans();
  lines = gateway.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
});

test('The span of a subscription ends with its first result, also while it goes on', () => {
  const span = only(spans, 'subscription ByWebSocket');
  expect(span).toMatchObject({ kind: 'server', parentSpanId: '', status: { isError: false } });
  expect(span.attributes).toEqual({
    'graphql.operation.type': 'subscription',
    'graphql.operation.name': 'ByWebSocket',
  });
});

test('One over server-sent events continues the trace of its caller', () => {
  expect(only(spans, 'subscription BySse')).toMatchObject({
    traceId: PARENT.traceId,
    parentSpanId: PARENT.spanId,
  });
});

test('One that does not begin says why, in codes', () => {
  const invalid = spans.filter(({ attributes }) => 'paygraph.error.codes' in attributes);
  expect(invalid.map(({ name, attributes }) => [name, attributes['paygraph.error.codes']])).toEqual([
    ['subscription', ['GRAPHQL_VALIDATION_FAILED']],
  ]);
});

test('Every look of a watch is a trace of its own', () => {
  const looks = spans.filter(({ name }) => name === 'watch payment');
  expect(looks.length).toBeGreaterThan(1);
  for (const look of looks) {
    expect(look).toMatchObject({ kind: 'internal', parentSpanId: '' });
    expect(below(spans, look).map(({ name }) => name)).toEqual(['GET /api/v1/payment/']);
  }
});

test('The line of a subscription in the log, written when it has ended, names its span', () => {
  for (const name of ['BySse', 'ByWebSocket']) {
    const line = lines.find((one) => one['name'] === name);
    expect(line?.['trace_id']).toBe(only(spans, `subscription ${name}`).traceId);
  }
});
