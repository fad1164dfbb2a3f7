import { testGateway, type TestClient } from '../../support/gateway';
import type { Clock } from '../../../src/shared/clock';
import { startCollector, type Collector } from './collector';
import type { SeenSpan } from './otlp';

/** A gateway that exports its spans to a collector. */
export interface Traced {
  client: TestClient;
  collector: Collector;
  logLines: string[];
  /** Closes the gateway, which exports the remaining spans. Returns all received spans. */
  spans(): Promise<SeenSpan[]>;
}

interface TracedOptions {
  env?: Record<string, string>;
  clock?: Clock;
  collector?: Collector;
}

/** Starts a collector, unless given, and a gateway in front of the service at that URL. */
export async function traced(serviceUrl: string, options: TracedOptions = {}): Promise<Traced> {
  const collector = options.collector ?? (await startCollector());
  const logLines: string[] = [];
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    // Long, because the last export takes part of the grace period, and machines may be busy.
    SHUTDOWN_GRACE_MS: '120000',
    PAYOUT_PREFLIGHT: 'off',
    ...options.env,
  };
  const client = await testGateway(serviceUrl, { env, logLines, clock: options.clock });
  return {
    client,
    collector,
    logLines,
    spans: async () => {
      await client.gateway.close();
      return collector.spans();
    },
  };
}

/** Returns the only span with this name. Throws if there is none or more than one. */
export function only(spans: readonly SeenSpan[], name: string): SeenSpan {
  const [span, ...others] = spans.filter((one) => one.name === name);
  if (!span || others.length > 0)
    throw new Error(
      `${others.length + (span ? 1 : 0)} spans ${name}: ${spans.map((one) => one.name).join()}`,
    );
  return span;
}

/** Returns the child spans of a span, in the order in which they ended. */
export const below = (spans: readonly SeenSpan[], { spanId, traceId }: SeenSpan): SeenSpan[] =>
  spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId);
