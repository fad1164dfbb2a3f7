import path from 'node:path';
import { CALLBACKS_ONLY, callbackUrlOf, callBack } from '../callbacks/support/harness';
import { until } from '../support/latch';
import { closeAfterTests, testSettings } from '../support/gateway';
import { reset } from '../support/payment-service/faults';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { post } from '../support/raw';
import { CHECKOUT, listening, startProgram, type ChildProgram } from '../support/program';
import { describeStores, newKey, type Harness } from '../support/harness';
import { startCollector, type Collector } from './support/collector';
import type { SeenSpan } from './support/otlp';
import { below } from './support/traced';

describeStores('Background work', (rigs) => {
  let collector: Collector;
  let rig: Harness;
  let spans: SeenSpan[];

  /** Makes a create whose outcome is unknown, and which lookups do not find yet. Returns its key. */
  const lost = async (): Promise<string> => {
    const key = newKey();
    rig.service.ledger.lag = { ms: 0, lookups: 1_000_000 };
    rig.service.next('create-payment', { acts: true, reply: reset });
    expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    rig.service.ledger.lag = { ms: 0, lookups: 0 };
    return key;
  };
  const lookups = (): number => rig.service.requestsTo('look-up-payment').length;

  beforeAll(async () => {
    collector = await startCollector();
    rig = await rigs.start({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SHUTDOWN_GRACE_MS: '120000', ...CALLBACKS_ONLY },
    });
    const hinted = await lost();
    const before = lookups();
    await callBack(rig, callbackUrlOf(rig, hinted));
    await until(lookups, (count) => count > before);
    const key = await lost();
    for (const entry of rig.service.created(key)) entry.hiddenLookups = 0;
    await until(
      async () => {
        rig.clock.advance(1000);
        return rig.attempt(key);
      },
      (attempt) => attempt?.outcome === 'SUCCEEDED',
    );
    await rig.close();
    spans = collector.spans();
  });

  const creates = (): SeenSpan[] => spans.filter(({ name }) => name === 'mutation');

  test.each(['reconcile payment', 'callback payment'])(
    'such as %s has its own trace, which is linked to its create',
    (name) => {
      const found = spans.filter((span) => span.name === name);
      expect(found.length).toBeGreaterThan(0);
      const begun = new Set(creates().map(({ spanId }) => spanId));
      for (const span of found) {
        expect(span).toMatchObject({ kind: 'internal', parentSpanId: '' });
        expect(span.links.map(({ spanId }) => begun.has(spanId))).toEqual([true]);
        expect(creates().map(({ traceId }) => traceId)).not.toContain(span.traceId);
      }
    },
  );

  test('has spans of its requests and journal calls', () => {
    const [found] = spans
      .filter(({ name }) => name === 'reconcile payment')
      .filter((span) => below(spans, span).some(({ name }) => name === 'journal recordOutcome'));
    expect(found && below(spans, found).map(({ name }) => name)).toContain('GET /api/v1/payment/');
  });

  test('names the kind of the database', () => {
    const systems = new Set(spans.flatMap(({ attributes }) => attributes['db.system.name'] ?? []));
    expect([...systems]).toEqual([rigs.kind === 'SQLite' ? 'sqlite' : 'postgresql']);
  });

  test('has no spans when there is nothing to do', () => {
    expect(spans.filter(({ name }) => /claimDue|renew|purge|ping/.test(name))).toEqual([]);
  });
});

const LOADED = path.join(__dirname, 'support/loaded-modules.cjs');

async function start(env: Record<string, string> = {}): Promise<{ program: ChildProgram; url: string }> {
  const service = closeAfterTests(await FakePaymentService.start());
  const settings = {
    ...testSettings(),
    PORT: '0',
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: 'api-key',
    SERVICE_SECRET_KEY: 'secret-key',
    SHUTDOWN_GRACE_MS: '120000',
    ...env,
  };
  const program = startProgram(settings, CHECKOUT, ['--require', LOADED]);
  return { program, url: `${await listening(program)}/graphql` };
}

const ask = (url: string): Promise<unknown> =>
  post(url, '{"query":"query Asked { __typename }"}', { connection: 'close' });

async function loadedIn(program: ChildProgram): Promise<string[]> {
  program.signal('SIGUSR2');
  const [, names = ''] = await program.printed(/loaded: (\[.*\])/);
  return JSON.parse(names) as string[];
}

describe('A started gateway', () => {
  test('loads no package of the SDK and logs no trace ids without a collector', async () => {
    const { program, url } = await start({ OTEL_TRACES_SAMPLER: 'always_on' });
    await ask(url);
    // Only the API package may be loaded: it does nothing by itself, and the metrics use it too.
    expect(await loadedIn(program)).toEqual(['@opentelemetry/api']);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    expect(program.output()).not.toContain('trace_id');
  });

  test('sends the remaining spans at SIGTERM', async () => {
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
