import { isSpanContextValid } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { pino, type Logger } from 'pino';
import { JournalSpans, ServiceSpans, type TracedService } from './client-spans';
import { CollectorExporter, tracerProvider } from './exporter';
import { RequestSpans } from './request-spans';
import type { TracingSettings } from '../../config/types';
import { withTimeout } from '../../shared/timeout';
import { Spans } from './spans';

/** Tracing of the gateway (docs/tracing.md). */
export interface Tracing {
  /** The same log, whose lines contain the ids of the active span. */
  withTraceIds(log: Logger): Logger;
  /** Adds a span for each operation of an app. Call it before routes are added. */
  instrument(app: FastifyInstance): void;
  ended: RequestSpans['ended'];
  subscription: RequestSpans['subscription'];
  send: ServiceSpans['send'];
  journal: JournalSpans['journal'];
  background: JournalSpans['background'];
  /** Exports the remaining spans, for flushMs at most. */
  close(): Promise<void>;
}

interface TracingOptions {
  settings: TracingSettings;
  service: TracedService;
  log: Logger;
  /** Milliseconds since 1970. */
  now(): number;
  /** Timeout of the last export in milliseconds. */
  flushMs: number;
}

/** Starts to export spans to the collector of the settings. */
export function startTracing({ settings, service, log, now, flushMs }: TracingOptions): Tracing {
  const exporter = new CollectorExporter(settings, now, (lost) =>
    log.warn({ event: 'trace_export_failed', ...lost }, 'export of traces to the collector failed'),
  );
  const provider = tracerProvider(settings, exporter);
  const spans = new Spans(provider.getTracer('paygraph'));
  const requests = new RequestSpans(spans);
  const attempts = new JournalSpans(spans);
  const calls = new ServiceSpans(spans, service);
  return {
    withTraceIds: (plain) => withTraceIds(plain, spans),
    instrument: (app) => requests.instrument(app),
    ended: (operation) => requests.ended(operation),
    subscription: () => requests.subscription(),
    send: (call, exchange) => calls.send(call, exchange),
    journal: (journal, system) => attempts.journal(journal, system),
    background: (what, work) => attempts.background(what, work),
    close: async () => {
      // Failures are reported by the exporter.
      await withTimeout(flushMs, provider.shutdown()).catch(() => undefined);
      exporter.destroy();
    },
  };
}

/** Adds trace ids to log lines, in fields named by OpenTelemetry's conventions. */
function withTraceIds(log: Logger, spans: Spans): Logger {
  const mixin = (): object => {
    const context = spans.current?.spanContext();
    if (!context || !isSpanContextValid(context)) return {};
    const { traceId, spanId, traceFlags } = context;
    return { trace_id: traceId, span_id: spanId, trace_flags: `0${(traceFlags & 1).toString()}` };
  };
  return Object.assign(log.child({}), { [pino.symbols.mixinSym]: mixin });
}
