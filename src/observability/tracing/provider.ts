import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { EXPORT_TIMEOUT_MS } from './exporter';
import type { SamplerName, TracingSettings } from '../../config/types';

/** Spans that wait to be sent: more than these are dropped, so that a collector that is away costs no memory. */
const MAX_WAITING = 2048;
const MAX_AT_ONCE = 512;

const orAsParent = (root: Sampler): Sampler => new ParentBasedSampler({ root });

const SAMPLER_OF: Record<SamplerName, (ratio: number) => Sampler> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => orAsParent(new AlwaysOnSampler()),
  parentbased_always_off: () => orAsParent(new AlwaysOffSampler()),
  parentbased_traceidratio: (ratio) => orAsParent(new TraceIdRatioBasedSampler(ratio)),
};

/** What every span says of the process that made it. */
const resourceOf = ({ serviceName, resource }: TracingSettings): Resource =>
  defaultResource()
    .merge(
      resourceFromAttributes({
        'service.instance.id': randomUUID(),
        'process.pid': process.pid,
        'process.runtime.name': 'nodejs',
        'process.runtime.version': process.versions.node,
      }),
    )
    .merge(resourceFromAttributes({ ...resource, 'service.name': serviceName }));

/** Makes spans as the settings say, whatever the environment says. */
export const tracerProvider = (settings: TracingSettings, exporter: SpanExporter): TracerProvider =>
  new TracerProvider({
    resource: resourceOf(settings),
    sampler: SAMPLER_OF[settings.sampler](settings.ratio),
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING,
        maxExportBatchSize: MAX_AT_ONCE,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS + 2000,
      }),
    ],
  });
