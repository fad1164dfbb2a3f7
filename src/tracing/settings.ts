import type { Secret } from '../secret';

/** Which traces are kept, in the words of OTEL_TRACES_SAMPLER. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

/** Where spans go, and which. */
export interface TracingSettings {
  /** Where the collector takes traces: the whole address. */
  url: string;
  /** Sent with every export: what the collector knows the gateway by. */
  headers: Readonly<Record<string, Secret>>;
  serviceName: string;
  /** Says more of the gateway, with every export. */
  resource: Readonly<Record<string, string>>;
  sampler: SamplerName;
  /** The share of traces that is kept, from 0 to 1, where the sampler goes by one. */
  ratio: number;
}
