/** Types of settings that are used outside src/config and src/app. The type Config in index.ts has all settings. */

import type { PollIntervals } from '../shared/poll-intervals';
import type { Secret } from '../shared/secret';

/** Rules for the returnUrl and callbackUrl of callers. */
export interface UrlPolicy {
  /** Whether loopback hosts are allowed, with https or http. */
  allowsLoopback: boolean;
  /** Allowed host names and patterns such as *.shop.example, in lower case; null: any public host. */
  allowedHosts: readonly string[] | null;
}

/**
 * Rule for operations that are not in the manifest of persisted operations:
 * - `allow`: they are executed.
 * - `warn`: they are executed, and a warning is logged.
 * - `require`: they are rejected.
 */
export type PersistedMode = 'allow' | 'warn' | 'require';

export interface PollSettings {
  /** Poll intervals of a transaction that waits for the payer, waits for the provider, or is MISPAID. */
  intervalsByPhase: Readonly<Record<'payer' | 'provider' | 'mispaid', PollIntervals>>;
  /**
   * Time in ms since the first of consecutive failed lookups after which subscriptions end with an error; 0: no limit.
   * If no lookup has succeeded yet, a failed lookup ends them immediately.
   */
  maxOutageMs: number;
}

/**
 * Settings of the record of changes, and of the background lookups that find changes. The gateway repeatedly looks up
 * each created transaction until it is COMPLETED or FAILED, for at most `followAfterCreateMs` (docs/changes.md).
 */
export interface ChangeSettings {
  /** Maximum time in ms after a create in which background lookups are sent; 0: there are no background lookups. */
  followAfterCreateMs: number;
  /** Maximum number of background lookups per second at one instance. */
  lookupsPerSecond: number;
  /** Retention period of recorded changes, in ms. */
  keepMs: number;
}

/** Values of OTEL_TRACES_SAMPLER. */
export const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface TracingSettings {
  /** The full URL to which traces are posted. */
  tracesUrl: string;
  headers: Readonly<Record<string, Secret>>;
  otelServiceName: string;
  resourceAttributes: Readonly<Record<string, string>>;
  sampler: (typeof TRACE_SAMPLERS)[number];
  /** Fraction of traces that the samplers with `traceidratio` in their name keep, from 0 to 1. */
  samplingRatio: number;
}
