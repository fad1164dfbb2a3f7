import path from 'node:path';
import { CALLBACKS_ONLY, callBack, loseCreate } from '../callbacks/support/harness';
import { untilOutcome } from '../exactly-once/support/creates';
import { until } from '../support/latch';
import { closeAfterTests, serviceSettings } from '../support/gateway';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { post } from '../support/raw';
import { CHECKOUT, listening, startProgram, type ChildProgram } from '../support/program';
import { describeStores, type Harness } from '../support/harness';
import { startCollector, type Collector } from './support/collector';
import type { SeenSpan } from './support/otlp';
import { below } from './support/traced';

describeStores('Background work', (rigs) => {
  let collector: Collector;
  let rig: Harness;
  let spans: SeenSpan[];

  const lookups = (): number => rig.service.requestsTo('look-up-payment').length;

  beforeAll(async () => {
    collector = await startCollector();
    rig = await rigs.start({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SHUTDOWN_GRACE_MS: '120000', ...CALLBACKS_ONLY },
    });
    const hinted = await loseCreate(rig, 'payment');
    const before = lookups();
    await callBack(rig, hinted.callbackUrl);
    await until(lookups, (count) => count > before);
    const { key, entry } = await loseCreate(rig, 'payment');
    entry.hiddenLookups = 0;
    await untilOutcome(rig, key, 'SUCCEEDED');
    await rig.close();
    spans = collector.spans();
  });

  test.each(['reconcile payment', 'callback payment'])(
    'such as "%s" has its own trace, which is linked to its create',
    (name) => {
      const found = spans.filter((span) => span.name === name);
      const creates = spans.filter((span) => span.name === 'mutation');
      expect(found.length).toBeGreaterThan(0);
      for (const { links, traceId, ...span } of found) {
        expect(span).toMatchObject({ kind: 'internal', parentSpanId: '' });
        expect(links).toHaveLength(1);
        expect(creates.map(({ spanId }) => spanId)).toContain(links[0]?.spanId);
        expect(creates.map((create) => create.traceId)).not.toContain(traceId);
      }
    },
  );

  test('has spans of its requests and journal calls, with the kind of the database', () => {
    const children = spans
      .filter(({ name }) => name === 'reconcile payment')
      .map((span) => below(spans, span));
    const recording = children.find((calls) => calls.some(({ name }) => name === 'journal recordOutcome'));
    expect(recording?.map(({ name }) => name)).toContain('GET /api/v1/payment/');
    const system = rigs.kind === 'SQLite' ? 'sqlite' : 'postgresql';
    expect(recording?.find(({ name }) => name.startsWith('journal '))?.attributes['db.system.name']).toBe(
      system,
    );
  });

  test('has no spans when there is nothing to do', () => {
    expect(spans.filter(({ name }) => /claimDue|renew|purge|ping/.test(name))).toEqual([]);
  });
});

const LOADED = path.join(__dirname, 'support/loaded-modules.cjs');

async function start(env: Record<string, string> = {}): Promise<{ program: ChildProgram; url: string }> {
  const service = closeAfterTests(await FakePaymentService.start());
  const settings = { ...serviceSettings(service.url), SHUTDOWN_GRACE_MS: '120000', ...env };
  const program = startProgram(settings, CHECKOUT, ['--require', LOADED]);
  return { program, url: `${await listening(program)}/graphql` };
}

const ask = (url: string): Promise<unknown> =>
  post(url, '{"query":"query Asked { __typename }"}', { connection: 'close' });

describe('A gateway process', () => {
  test('loads no package of the OpenTelemetry SDK and logs no trace ids if no collector is configured', async () => {
    const { program, url } = await start({ OTEL_TRACES_SAMPLER: 'always_on' });
    await ask(url);
    // Only the API package may be loaded: it does nothing by itself, and the metrics use it too.
    program.signal('SIGUSR2');
    const [, names] = await program.printed(/loaded: (\[.*\])/);
    expect(names).toBe('["@opentelemetry/api"]');
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    expect(program.output()).not.toContain('trace_id');
  });

  test('sends its remaining spans to the collector at SIGTERM', async () => {
    const collector = await startCollector();
    const { program, url } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await ask(url);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    const spans = collector.spans();
    expect(spans.length).toBeGreaterThan(0);
    for (const { traceId } of spans) expect(program.output()).toContain(`"trace_id":"${traceId}"`);
  });
});
