import { HINTED, addressOf, callBack } from '../callbacks/support/called-back';
import { reset } from '../exactly-once/service/faults';
import { until } from '../exactly-once/support/gate';
import { describeStores, newKey, type Rig } from '../exactly-once/support/rig';
import { startCollector, type Collector } from './support/collector';
import { below } from './support/traced';
import type { SeenSpan } from './support/otlp';

describeStores('What belongs to no request', (rigs) => {
  let collector: Collector;
  let rig: Rig;
  let spans: SeenSpan[];

  const hidden = (key: string): void => {
    rig.service.ledger.lag = { ms: 0, lookups: key === '' ? 0 : 1_000_000 };
  };
  /** A create of which nobody knows what became of it. */
  const lost = async (): Promise<string> => {
    const key = newKey();
    hidden(key);
    rig.service.next('create-payment', { acts: true, reply: reset });
    expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    hidden('');
    return key;
  };
  const shown = (key: string): void => {
    for (const entry of rig.service.created(key)) entry.hiddenLookups = 0;
  };
  const lookups = (): number => rig.service.asked('look-up-payment').length;

  beforeAll(async () => {
    collector = await startCollector();
    rig = await rigs.start({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SHUTDOWN_GRACE_MS: '120000', ...HINTED },
    });
    const hinted = await lost();
    const before = lookups();
    await callBack(rig, addressOf(rig, hinted));
    await until(lookups, (count) => count > before);
    const key = await lost();
    shown(key);
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
    '(%s) is a trace of its own that refers to the create it is about',
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

  test('holds what was asked of the service and of the journal', () => {
    const [found] = spans
      .filter(({ name }) => name === 'reconcile payment')
      .filter((span) => below(spans, span).some(({ name }) => name === 'journal settle'));
    expect(found && below(spans, found).map(({ name }) => name)).toContain('GET /api/v1/payment/');
  });

  test('says which kind of store the journal is', () => {
    const systems = spans.flatMap(({ attributes }) => attributes['db.system.name'] ?? []);
    expect(new Set(systems)).toEqual(new Set([rigs.kind === 'SQLite' ? 'sqlite' : 'postgresql']));
  });

  test('is not traced where it only looks for work, however often', () => {
    expect(spans.filter(({ name }) => /claimDue|renew|purge|ping/.test(name))).toEqual([]);
  });
});
