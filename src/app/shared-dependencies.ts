import type { Logger } from 'pino';
import type { Config } from '../config';
import type { Metrics } from '../observability/metrics/metrics';
import type { Tracing } from '../observability/tracing/start-tracing';
import type { Clock } from '../shared/clock';

/** Created once in startGateway() and passed to the parts of the gateway that it starts. */
export interface SharedDependencies {
  config: Config;
  log: Logger;
  clock: Clock;
  metrics: Metrics;
  /** Undefined if tracing is not configured. */
  tracing: Tracing | undefined;
}
