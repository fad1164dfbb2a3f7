import { isSpanContextValid } from '@opentelemetry/api';
import { pino, type Logger } from 'pino';
import { journalSpans, serviceSpans, type ServiceSpanSettings } from './client-spans';
import { CollectorExporter, createTracerProvider } from './exporter';
import { RequestSpans } from './request-spans';
import type { TracingSettings } from '../../config/types';
import { withTimeout } from '../../shared/timeout';
import { Spans } from './spans';

/** The functions that startTracing() returns (docs/tracing.md). */
export type Tracing = ReturnType<typeof startTracing>;

interface TracingOptions {
  settings: TracingSettings;
  service: ServiceSpanSettings;
  log: Logger;
  /** Returns monotonic time in milliseconds, to limit the rate of warnings. */
  now(): number;
  /** Maximum time in milliseconds that `close` waits for the export of the remaining spans. */
  flushMs: number;
}

/**
 * Starts the export of spans to the collector in `settings`. Returns functions that create spans, a function that adds
 * trace ids to a log, and `close`.
 */
export function startTracing({ settings, service, log, now, flushMs }: TracingOptions) {
  const exporter = new CollectorExporter(settings, now, (exportFailure) =>
    log.warn(
      { event: 'trace_export_failed', ...exportFailure },
      'export of trace spans to the collector failed',
    ),
  );
  const provider = createTracerProvider(settings, exporter);
  const spans = new Spans(provider.getTracer('paygraph'));
  const requestSpans = new RequestSpans(spans);
  const { traceJournal, runInBackgroundSpan } = journalSpans(spans);
  return {
    withTraceIds: (logger: Logger): Logger => withTraceIds(logger, spans),
    instrument: requestSpans.instrument.bind(requestSpans),
    operationEnded: requestSpans.operationEnded.bind(requestSpans),
    startSubscriptionSpan: requestSpans.startSubscriptionSpan.bind(requestSpans),
    runInRequestSpan: serviceSpans(spans, service),
    traceJournal,
    runInBackgroundSpan,
    /** Exports the remaining spans, for at most `flushMs`, and disconnects from the collector. Never rejects. */
    close: async (): Promise<void> => {
      // Ignore errors: the exporter reports failed exports, and spans left after `flushMs` are lost.
      await withTimeout(flushMs, provider.shutdown()).catch(() => undefined);
      exporter.destroy();
    },
  };
}

/** Returns a child log. If a span is active, the log adds its trace_id, span_id and trace_flags to each line. */
function withTraceIds(log: Logger, spans: Spans): Logger {
  const mixin = (): object => {
    const context = spans.activeSpan?.spanContext();
    if (!context || !isSpanContextValid(context)) return {};
    const { traceId, spanId, traceFlags } = context;
    return { trace_id: traceId, span_id: spanId, trace_flags: `0${(traceFlags & 1).toString()}` };
  };
  return Object.assign(log.child({}), { [pino.symbols.mixinSym]: mixin });
}
