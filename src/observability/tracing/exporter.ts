import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { ProtobufTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../../config/types';

/** How long the sending of spans may take in all, tries and pauses between them included. */
export const EXPORT_TIMEOUT_MS = 8000;
/** So many requests to the collector at a time: what waits in the queue at the end goes in fewer. */
const MAX_REQUESTS = 8;
const WARN_EVERY_MS = 60_000;

/** Spans that nobody has got, and why in one word. */
export interface Lost {
  spans: number;
  why: string;
}

/**
 * The exporter of the SDK, put together here and not by `OTLPTraceExporter`: that one reads the environment too, and sends
 * headers that it finds there along with ours.
 */
function otlpExporter({ url, headers }: TracingSettings, agent: HttpAgent): SpanExporter {
  const revealed = Object.entries(headers).map(([name, value]) => [name, value.reveal()] as const);
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      {
        url,
        headers: async () => ({ ...Object.fromEntries(revealed), 'content-type': 'application/x-protobuf' }),
        timeoutMillis: EXPORT_TIMEOUT_MS,
        concurrencyLimit: MAX_REQUESTS,
        compression: 'none',
        agentFactory: () => agent,
      },
      ProtobufTraceSerializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    ),
  );
}

/** Sends spans to the collector, and tells now and then of those that it could not. */
export class CollectorExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #agent: HttpAgent;
  readonly #warn: (lost: Lost) => void;
  readonly #now: () => number;
  #lost = 0;
  #warnedAt = -Infinity;

  /** @param warn hears of lost spans, at most once a minute */
  constructor(settings: TracingSettings, now: () => number, warn: (lost: Lost) => void) {
    const Agent = settings.url.startsWith('https:') ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true });
    this.#inner = otlpExporter(settings, this.#agent);
    this.#now = now;
    this.#warn = warn;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#inner.export(spans, (result) => {
      if (result.code !== ExportResultCode.SUCCESS) this.#lose(spans.length, result.error);
      done(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.#inner.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  /** Ends the connections to the collector, also those that something is sent over. */
  destroy(): void {
    this.#agent.destroy();
  }

  #lose(spans: number, error: unknown): void {
    this.#lost += spans;
    const now = this.#now();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    this.#warn({ spans: this.#lost, why: wordOf(error) });
    this.#lost = 0;
  }
}

/** The status of HTTP, or the system's word. Never the message: a collector writes into it what it likes. */
function wordOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `HTTP ${code}`;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'UNAVAILABLE';
}
