import { isSpanContextValid } from '@opentelemetry/api';
import { pino, type Logger } from 'pino';
import { createJournalTracing, createServiceTracing, type ServiceSpanSettings } from './client-spans';
import { CollectorExporter, createTracerProvider } from './exporter';
import { RequestTracer } from './request-spans';
import type { TracingSettings } from '../../config/types';
import { withTimeout } from '../../shared/timeout';
import { SpanTracker } from './spans';

/** Functions that create spans, add trace ids to a log and stop the export of spans (docs/tracing.md). */
export type Tracing = ReturnType<typeof startTracing>;

interface TracingOptions {
  settings: TracingSettings;
  serviceSettings: ServiceSpanSettings;
  log: Logger;
  /** Returns monotonic time in milliseconds, to limit the rate of warnings. */
  monotonic(): number;
  /** Maximum time in milliseconds that `close` waits for the export of the remaining spans. */
  flushTimeoutMs: number;
}

/**
 * Starts the export of spans to the collector in `settings`. Returns functions that create spans, a function that adds
 * trace ids to a log, and `close`.
 */
export function startTracing({ settings, serviceSettings, log, monotonic, flushTimeoutMs }: TracingOptions) {
  const exporter = new CollectorExporter(settings, monotonic, (exportFailure) =>
    log.warn(
      { event: 'trace_export_failed', ...exportFailure },
      'export of trace spans to the collector failed',
    ),
  );
  const tracerProvider = createTracerProvider(settings, exporter);
  const tracker = new SpanTracker(tracerProvider.getTracer('paygraph'));
  const requestTracer = new RequestTracer(tracker);
  const { traceJournal, runInBackgroundSpan } = createJournalTracing(tracker);
  return {
    withTraceIds: (logger: Logger): Logger => withTraceIds(logger, tracker),
    instrument: requestTracer.instrument.bind(requestTracer),
    onOperationEnded: requestTracer.onOperationEnded.bind(requestTracer),
    startSubscriptionSpan: requestTracer.startSubscriptionSpan.bind(requestTracer),
    runInRequestSpan: createServiceTracing(tracker, serviceSettings),
    traceJournal,
    runInBackgroundSpan,
    /** Exports the remaining spans, for at most `flushTimeoutMs`, and disconnects from the collector. Never rejects. */
    close: async (): Promise<void> => {
      // Ignore errors: the exporter reports failed exports, and spans left after `flushTimeoutMs` are lost.
      await withTimeout(flushTimeoutMs, tracerProvider.shutdown()).catch(() => undefined);
      exporter.destroy();
    },
  };
}

/** Returns a child log. If a span is active, the log adds its trace_id, span_id and trace_flags to each line. */
function withTraceIds(log: Logger, tracker: SpanTracker): Logger {
  const traceIdsMixin = (): object => {
    const spanContext = tracker.activeSpan?.spanContext();
    if (!spanContext || !isSpanContextValid(spanContext)) return {};
    const { traceId, spanId, traceFlags } = spanContext;
    return { trace_id: traceId, span_id: spanId, trace_flags: `0${(traceFlags & 1).toString()}` };
  };
  return Object.assign(log.child({}), { [pino.symbols.mixinSym]: traceIdsMixin });
}
