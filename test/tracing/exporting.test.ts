import { SpanKind } from '@opentelemetry/api';
import { CollectorExporter, type Lost } from '../../src/tracing/exporter';
import { tracerProvider } from '../../src/tracing/provider';
import type { TracingSettings } from '../../src/tracing/settings';
import { readConfig } from '../../src/config';
import { closeAfterTests } from '../support/gateway';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { gate, until } from '../exactly-once/support/gate';
import { startCollector, type Collector } from './support/collector';
import { traced } from './support/traced';

// A few hundred requests, while other tests run beside this one.
jest.setTimeout(180_000);

let service: FaultyService;

beforeAll(async () => {
  service = closeAfterTests(await FaultyService.start());
});

const ASK = 'query Asked { __typename }';

describe('What a collector gets', () => {
  test('comes to the address of the settings, with their headers, as protobuf', async () => {
    const collector = await startCollector();
    const gateway = await traced(service.url, {
      collector,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/below/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20key-1, x-tenant = a%2Cb',
      },
    });
    await gateway.client.ask(ASK);
    await gateway.spans();
    const [first] = collector.exports;
    expect(first?.url).toBe('/below/v1/traces');
    expect(first?.headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      authorization: 'Bearer key-1',
      'x-tenant': 'a,b',
    });
  });

  test('comes to the address for traces where there is one, just as it is', async () => {
    const collector = await startCollector();
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = `${collector.url}/take/these`;
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT };
    const gateway = await traced(service.url, { collector, env });
    await gateway.client.ask(ASK);
    expect(await gateway.spans()).toHaveLength(1);
    expect(collector.exports[0]?.url).toBe('/take/these');
  });

  test('says which process it came from, and what the settings say of it', async () => {
    const env = { OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test%20bed,service.name=hidden' };
    const named = await traced(service.url, { env: { ...env, OTEL_SERVICE_NAME: 'pay-eu' } });
    const other = await traced(service.url);
    await named.client.ask(ASK);
    await other.client.ask(ASK);
    const [[span], [fromOther]] = [await named.spans(), await other.spans()];
    expect(span?.resource).toMatchObject({
      'service.name': 'pay-eu',
      'deployment.environment.name': 'test bed',
      'process.pid': process.pid,
      'process.runtime.name': 'nodejs',
    });
    expect(span?.resource['service.instance.id']).toMatch(/^[\da-f-]{36}$/);
    expect(fromOther?.resource['service.name']).toBe('paygraph');
    expect(fromOther?.resource['service.instance.id']).not.toBe(span?.resource['service.instance.id']);
    expect(JSON.stringify(span)).not.toMatch(/host\.name|command|owner|argv|hidden/);
  });

  test('is what the settings say, whatever else the environment of the process says', async () => {
    const other = await startCollector();
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: other.url,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${other.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-from-environment=1',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-from-environment=2',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_TRACES_SAMPLER: 'always_off',
      OTEL_SERVICE_NAME: 'from-environment',
      OTEL_RESOURCE_ATTRIBUTES: 'from=environment',
      OTEL_SDK_DISABLED: 'true',
      OTEL_BSP_MAX_QUEUE_SIZE: '0',
    };
    const before = { ...process.env };
    Object.assign(process.env, environment);
    try {
      const gateway = await traced(service.url);
      await gateway.client.ask(ASK);
      const [span] = await gateway.spans();
      expect(span).toMatchObject({ name: 'query Asked', resource: { 'service.name': 'paygraph' } });
      const [{ headers } = { headers: {} }] = gateway.collector.exports;
      expect(JSON.stringify([span, headers])).not.toMatch(/environment"?=|from-environment|gzip/);
      expect(other.exports).toEqual([]);
    } finally {
      for (const name of Object.keys(environment)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });
});

test('However many names operations have, spans have a few hundred of them', async () => {
  const gateway = await traced(service.url);
  const letters = (number: number): string =>
    [...number.toString(26)].map((c) => 'abcdefghijklmnopqrstuvwxyz'[parseInt(c, 26)]).join('');
  const ask = (number: number): Promise<unknown> =>
    gateway.client.ask(`query Op${letters(number)} { __typename }`);
  for (let number = 0; number < 240; number += 4)
    await Promise.all([0, 1, 2, 3].map((place) => ask(number + place)));
  const names = new Set((await gateway.spans()).map(({ name }) => name));
  expect(names.size).toBe(201);
  expect(names).toContain('query');
});

describe('A collector in trouble', () => {
  test.each([
    [
      'answers with 500',
      (collector: Collector) => collector.answer((response) => response.writeHead(500).end('canary')),
    ],
    ['hangs up', (collector: Collector) => collector.answer((response) => response.destroy())],
    [
      'answers with garbage',
      (collector: Collector) => collector.answer((response) => response.socket?.end('canary')),
    ],
    [
      'takes it, and answers with garbage',
      (collector: Collector) => collector.answer((response) => response.end('canary')),
    ],
    ['never answers', (collector: Collector) => collector.answer(() => undefined)],
    ['is away', (collector: Collector) => void collector.close()],
  ])('(it %s) harms no operation, and does not keep the gateway from ending', async (_what, trouble) => {
    const collector = await startCollector();
    const env = { SHUTDOWN_GRACE_MS: '400', OTEL_EXPORTER_OTLP_HEADERS: 'x-key=canary-key' };
    const gateway = await traced(service.url, { collector, env });
    trouble(collector);
    for (let time = 0; time < 3; time += 1) {
      const { status, data } = await gateway.client.ask(ASK);
      expect([status, data]).toEqual([200, { __typename: 'Query' }]);
    }
    await gateway.client.gateway.close();
    expect(gateway.logLines.join('')).not.toContain('canary');
  });

  test('is in the log, without what it said', async () => {
    const gateway = await traced(service.url);
    gateway.collector.answer((response) => response.writeHead(500, 'canary').end('canary'));
    await gateway.client.ask(ASK);
    await gateway.spans();
    const [line, ...others] = gateway.logLines
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'the collector has not taken traces');
    expect(line).toMatchObject({ level: 40, spans: 1, why: 'HTTP 500' });
    expect(JSON.stringify([line, others])).not.toContain('canary');
  });

  const settingsFor = (collector: Collector): TracingSettings => {
    const { tracing } = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=canary-key',
    });
    if (!tracing) throw new Error('Nothing is traced.');
    return tracing;
  };

  /** Makes spans and sends them, without a gateway. */
  function start(collector: Collector) {
    const time = { now: 0 };
    const warnings: Lost[] = [];
    const settings = settingsFor(collector);
    const exporter = new CollectorExporter(
      settings,
      () => time.now,
      (lost) => warnings.push(lost),
    );
    const provider = tracerProvider(settings, exporter);
    closeAfterTests({ close: () => provider.shutdown().catch(() => undefined) });
    const tracer = provider.getTracer('test');
    const make = (count: number): void => {
      for (let made = 0; made < count; made += 1) tracer.startSpan('made', { kind: SpanKind.SERVER }).end();
    };
    return { time, warnings, make, flush: () => provider.forceFlush().catch(() => undefined) };
  }

  test('is told of once a minute, with how much was lost and why', async () => {
    const collector = await startCollector();
    collector.answer((response) => response.writeHead(413, 'canary').end('canary'));
    const { time, warnings, make, flush } = start(collector);
    make(1);
    await flush();
    expect(warnings).toEqual([{ spans: 1, why: 'HTTP 413' }]);
    make(2);
    await flush();
    time.now = 59_999;
    make(3);
    await flush();
    expect(warnings).toHaveLength(1);
    time.now = 60_000;
    make(4);
    await flush();
    expect(warnings.slice(1)).toEqual([{ spans: 9, why: 'HTTP 413' }]);
  });

  test('costs no more memory than some 2500 spans, and gets what comes later', async () => {
    const collector = await startCollector();
    const { opened, open } = gate();
    collector.answer((response) => void opened.then(() => response.writeHead(200).end()));
    const { make, flush } = start(collector);
    make(20_000);
    await until(
      () => collector.exports.length,
      (count) => count > 0,
    );
    expect(collector.exports).toHaveLength(1);
    open();
    await flush();
    // What was being sent, and what waited.
    const came = collector.spans().length;
    expect(came).toBeGreaterThan(1000);
    expect(came).toBeLessThanOrEqual(512 + 2048);
    make(10);
    await flush();
    expect(collector.spans()).toHaveLength(came + 10);
  });
});
