import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import process from 'node:process';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { ProtobufTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../../config/types';

/** Timeout of an export, including retries, in milliseconds. */
const EXPORT_TIMEOUT_MS = 8000;
const MAX_CONCURRENT_REQUESTS = 8;
/** Maximum number of spans that wait for export. Further spans are dropped. */
const MAX_QUEUED_SPANS = 2048;
const MAX_BATCH_SPANS = 512;
const WARN_INTERVAL_MS = 60_000;

/**
 * Report of failed exports. `spans`: number of spans that could not be exported. `why`: reason for the last failure,
 * which is `HTTP <status>`, an error code such as ECONNREFUSED, or UNAVAILABLE.
 */
export type ExportFailure = Readonly<{ spans: number; why: string }>;

/** Exports spans to the collector, and warns about spans that could not be exported. */
export class CollectorExporter extends OTLPExporterBase<ReadableSpan[]> implements SpanExporter {
  readonly #agent: HttpAgent;
  #lostSpanCount = 0;
  #lastWarningAt = -Infinity;

  /**
   * @param onExportFailure called after a failed export, but at most once a minute. Its argument counts all spans that
   *   were lost since its previous call.
   */
  constructor(
    { url, headers }: TracingSettings,
    private readonly monotonic: () => number,
    private readonly onExportFailure: (exportFailure: ExportFailure) => void,
  ) {
    const agent = new (url.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
    const headerValues = Object.entries(headers).map(([name, value]) => [name, value.reveal()] as const);
    // Do not use OTLPTraceExporter, because it reads headers and compression from the environment.
    const delegate = createOtlpHttpExportDelegate(
      {
        url,
        headers: async () => ({
          ...Object.fromEntries(headerValues),
          'content-type': 'application/x-protobuf',
        }),
        timeoutMillis: EXPORT_TIMEOUT_MS,
        concurrencyLimit: MAX_CONCURRENT_REQUESTS,
        compression: 'none',
        agentFactory: () => agent,
      },
      ProtobufTraceSerializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    );
    super(delegate);
    this.#agent = agent;
  }

  override export(spans: ReadableSpan[], onExported: (result: ExportResult) => void): void {
    super.export(spans, (result) => {
      if (result.code !== ExportResultCode.SUCCESS) this.#reportLost(spans.length, result.error);
      onExported(result);
    });
  }

  /** Closes the connections to the collector, including those in use. */
  destroy(): void {
    this.#agent.destroy();
  }

  #reportLost(spanCount: number, error: unknown): void {
    this.#lostSpanCount += spanCount;
    const now = this.monotonic();
    if (now - this.#lastWarningAt < WARN_INTERVAL_MS) return;
    this.#lastWarningAt = now;
    this.onExportFailure({ spans: this.#lostSpanCount, why: errorReason(error) });
    this.#lostSpanCount = 0;
  }
}

/** Returns `HTTP <status>`, the error code or UNAVAILABLE. Omits the message, because the collector can choose it. */
function errorReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `HTTP ${code}`;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'UNAVAILABLE';
}

/** Creates the sampler for a value of OTEL_TRACES_SAMPLER. */
function createSampler(samplerName: string, ratio: number): Sampler {
  const [, rootName] = /^parentbased_(.*)$/.exec(samplerName) ?? [];
  if (rootName !== undefined) return new ParentBasedSampler({ root: createSampler(rootName, ratio) });
  if (samplerName === 'traceidratio') return new TraceIdRatioBasedSampler(ratio);
  return samplerName === 'always_off' ? new AlwaysOffSampler() : new AlwaysOnSampler();
}

/** Creates a tracer provider from the settings, without reading the environment. */
export function createTracerProvider(settings: TracingSettings, exporter: SpanExporter): TracerProvider {
  const resourceAttributes = {
    'service.instance.id': randomUUID(),
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    ...settings.resourceAttributes,
    'service.name': settings.serviceName,
  };
  return new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resourceAttributes)),
    sampler: createSampler(settings.sampler, settings.samplingRatio),
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_QUEUED_SPANS,
        maxExportBatchSize: MAX_BATCH_SPANS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS + 2000,
      }),
    ],
  });
}
