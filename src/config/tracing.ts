import type { EnvReader } from './env-reader';
import type { SETTINGS } from './env-vars';
import type { TracingSettings } from './types';

/** Reads the settings of tracing. Null if it is off. */
export function readTracing(env: EnvReader<typeof SETTINGS>): TracingSettings | null {
  // Only validated: the exporter supports one protocol.
  env.get('OTEL_EXPORTER_OTLP_PROTOCOL');
  const base = env.get('OTEL_EXPORTER_OTLP_ENDPOINT');
  const url =
    env.get('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base && `${base.replace(/\/*$/, '/')}v1/traces`);
  const attributes = env.get('OTEL_RESOURCE_ATTRIBUTES') ?? {};
  const { 'service.name': name = 'paygraph', ...resourceAttributes } = attributes;
  const settings = {
    headers: env.get('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
    serviceName: env.get('OTEL_SERVICE_NAME') ?? name,
    resourceAttributes,
    sampler: env.get('OTEL_TRACES_SAMPLER'),
    samplingRatio: env.get('OTEL_TRACES_SAMPLER_ARG'),
  };
  return url === undefined ? null : { url, ...settings };
}
