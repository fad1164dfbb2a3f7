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
const MAX_CONCURRENT_EXPORTS = 8;
/** Maximum number of spans that wait for export. Further spans are dropped. */
const MAX_QUEUED_SPANS = 2048;
const MAX_BATCH_SPANS = 512;
const MIN_WARNING_INTERVAL_MS = 60_000;

/**
 * Report of failed exports. `spans`: number of spans that could not be exported. `why`: reason for the last failure,
 * which is `HTTP <status>`, an error code such as ECONNREFUSED, or UNAVAILABLE.
 */
export type ExportFailure = Readonly<{ spans: number; why: string }>;

/** Exports spans to the collector, and warns about spans that could not be exported. */
export class CollectorExporter extends OTLPExporterBase<ReadableSpan[]> implements SpanExporter {
  readonly #httpAgent: HttpAgent;
  #lostSpanCount = 0;
  #lastWarnedAtMs = -Infinity;

  /**
   * @param onExportFailure called after a failed export, but at most once a minute. Its argument counts all spans that
   *   were lost since its previous call.
   */
  constructor(
    { tracesUrl, headers }: TracingSettings,
    private readonly monotonic: () => number,
    private readonly onExportFailure: (exportFailure: ExportFailure) => void,
  ) {
    const httpAgent = new (tracesUrl.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
    const revealedHeaders = Object.entries(headers).map(([name, value]) => [name, value.reveal()] as const);
    // Do not use OTLPTraceExporter, because it reads headers and compression from the environment.
    const exportDelegate = createOtlpHttpExportDelegate(
      {
        url: tracesUrl,
        headers: async () => ({
          ...Object.fromEntries(revealedHeaders),
          'content-type': 'application/x-protobuf',
        }),
        timeoutMillis: EXPORT_TIMEOUT_MS,
        concurrencyLimit: MAX_CONCURRENT_EXPORTS,
        compression: 'none',
        agentFactory: () => httpAgent,
      },
      ProtobufTraceSerializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    );
    super(exportDelegate);
    this.#httpAgent = httpAgent;
  }

  override export(spans: ReadableSpan[], onExported: (result: ExportResult) => void): void {
    super.export(spans, (result) => {
      if (result.code !== ExportResultCode.SUCCESS) this.#reportLostSpans(spans.length, result.error);
      onExported(result);
    });
  }

  /** Closes the connections to the collector, including those in use. */
  destroy(): void {
    this.#httpAgent.destroy();
  }

  #reportLostSpans(spanCount: number, exportError: unknown): void {
    this.#lostSpanCount += spanCount;
    const nowMs = this.monotonic();
    if (nowMs - this.#lastWarnedAtMs < MIN_WARNING_INTERVAL_MS) return;
    this.#lastWarnedAtMs = nowMs;
    this.onExportFailure({ spans: this.#lostSpanCount, why: exportErrorReason(exportError) });
    this.#lostSpanCount = 0;
  }
}

/** Returns `HTTP <status>`, the error code or UNAVAILABLE. Omits the message, because the collector can choose it. */
function exportErrorReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `HTTP ${code}`;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'UNAVAILABLE';
}

/** Creates the sampler for a value of OTEL_TRACES_SAMPLER. */
function createSampler(samplerName: string, samplingRatio: number): Sampler {
  const [, rootName] = /^parentbased_(.*)$/.exec(samplerName) ?? [];
  if (rootName !== undefined) return new ParentBasedSampler({ root: createSampler(rootName, samplingRatio) });
  if (samplerName === 'traceidratio') return new TraceIdRatioBasedSampler(samplingRatio);
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
    'service.name': settings.otelServiceName,
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
