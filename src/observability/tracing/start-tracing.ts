import { isSpanContextValid } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { pino, type Logger } from 'pino';
import { JournalSpans, type BackgroundWork } from './journal-spans';
import { CollectorExporter } from './exporter';
import { tracerProvider } from './provider';
import { RequestSpans, type EndedOperation } from './request-spans';
import { ServiceCalls } from './service-calls';
import type { TracingSettings } from '../../config/types';
import { Spans } from './spans';
import { beginSubscription, type SubscriptionSpan } from './subscriptions';

/** What the gateway tells of itself to whoever makes spans of it. */
export interface Tracing {
  /** The same log; its lines name the span in which they were written. */
  named(log: Logger): Logger;
  /** Begins a span for each operation that an app is asked for. To be called before routes are added. */
  follow(app: FastifyInstance): void;
  /** Tells the span that is open here what has been asked, and how it ended. */
  ended(operation: EndedOperation): void;
  /** Begins the span of a subscription. */
  subscription(): SubscriptionSpan;
  /** Sends a request to the payment service as a span. */
  send: ServiceCalls['send'];
  /** The same journal; what an operation asks of it is a span. */
  journal: JournalSpans['journal'];
  /** Does something that belongs to no request, as a trace of its own. */
  background<T>(what: BackgroundWork, work: () => Promise<T>): Promise<T>;
  /** Sends what is left, and waits for the collector no longer than it may. */
  close(): Promise<void>;
}

interface TracingOptions {
  settings: TracingSettings;
  service: { baseUrl: string; notFoundStatus: number };
  log: Logger;
  /** Milliseconds since 1970. */
  now(): number;
  /** How long the last sending may take, in milliseconds. */
  flushMs: number;
}

/** Starts to make spans. What is known of them goes to the collector of the settings, and to nobody else. */
export function startTracing({ settings, service, log, now, flushMs }: TracingOptions): Tracing {
  const exporter = new CollectorExporter(settings, now, (lost) =>
    log.warn(lost, 'the collector has not taken traces'),
  );
  const provider = tracerProvider(settings, exporter);
  const spans = new Spans(provider.getTracer('paygraph'));
  const requests = new RequestSpans(spans);
  const attempts = new JournalSpans(spans);
  const calls = new ServiceCalls({ spans, ...service });
  return {
    named: (named) => withSpans(named, spans),
    follow: (app) => requests.follow(app),
    ended: (operation) => requests.ended(operation),
    subscription: () => beginSubscription(spans, requests),
    send: (call, exchange) => calls.send(call, exchange),
    journal: (journal, system) => attempts.journal(journal, system),
    background: (what, work) => attempts.background(what, work),
    close: async () => {
      let patience: NodeJS.Timeout | undefined;
      const tooLong = new Promise<void>((resolve) => {
        patience = setTimeout(resolve, flushMs);
      });
      // What could not be sent is told of where it fails.
      await Promise.race([provider.shutdown().catch(() => undefined), tooLong]);
      clearTimeout(patience);
      exporter.destroy();
    },
  };
}

/** By the names that OpenTelemetry gives these fields in logs. */
function withSpans(log: Logger, spans: Spans): Logger {
  const mixin = (): object => {
    const context = spans.current?.spanContext();
    if (!context || !isSpanContextValid(context)) return {};
    const { traceId, spanId, traceFlags } = context;
    return { trace_id: traceId, span_id: spanId, trace_flags: `0${(traceFlags & 1).toString()}` };
  };
  return Object.assign(log.child({}), { [pino.symbols.mixinSym]: mixin });
}
