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
export async function traced(serviceUrl: string, { env, clock, ...given }: TracedOptions): Promise<Traced> {
  const collector = given.collector ?? (await startCollector());
  const logLines: string[] = [];
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    // Long, because the last export takes part of the grace period, and machines may be busy.
    SHUTDOWN_GRACE_MS: '120000',
    PAYOUT_PREFLIGHT: 'off',
    ...env,
  };
  const client = await testGateway(serviceUrl, { env: settings, logLines, clock });
  const spans = async () => {
    await client.gateway.close();
    return collector.spans();
  };
  return { client, collector, logLines, spans };
}

/** Returns the only span with this name, and expects that there is one. */
export function only(spans: readonly SeenSpan[], name: string): SeenSpan {
  const named = spans.filter((span) => span.name === name);
  expect(named.map((span) => span.name)).toEqual([name]);
  return named[0]!;
}

/** Returns the child spans of a span, in the order in which they ended. */
export const below = (spans: readonly SeenSpan[], { spanId, traceId }: SeenSpan): SeenSpan[] =>
  spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId);
