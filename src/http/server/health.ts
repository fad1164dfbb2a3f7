import type { FastifyInstance } from 'fastify';

export interface HealthSources {
  /** Returns the reason why the journal is unavailable, such as `disk_full`; null if it is available. */
  journalFailureReason(): string | null;
  /** Whether a circuit breaker for the payment service is open or half open. Does not affect readiness. */
  isServiceDown(): boolean;
  /**
   * Whether the clocks are steady. If the clock of the system or of the journal jumps, this is false for the time set
   * by UNKNOWN_SETTLE_SECONDS. Does not affect readiness.
   */
  isClockSteady(): boolean;
  /**
   * Returns the reason why the journal's fence is up, and the time until which it stays up, in ms since 1970; null if
   * the fence is down. The fence goes up if the journal may have lost recent attempts, for example in a failover. While
   * it is up, each create is looked up before it is sent (docs/exactly-once.md). Does not affect readiness.
   */
  fence(): { reason: string; until: number } | null;
  isDraining(): boolean;
}

/**
 * Adds /healthz (liveness) and /readyz (readiness, with reasons). An instance stays ready while the payment service is
 * down. If all instances left the load balancer, callers would get its errors instead of the gateway's.
 */
export function addHealthRoutes(app: FastifyInstance, sources: HealthSources): void {
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', (_request, reply) => {
    const isDraining = sources.isDraining();
    const journalFailure = sources.journalFailureReason();
    const fence = sources.fence();
    const isReady = journalFailure === null && !isDraining;
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      checks: {
        journal: journalFailure === null ? 'up' : 'down',
        ...(journalFailure !== null && { journalReason: journalFailure }),
        fence: fence ? 'up' : 'down',
        ...(fence && { fenceReason: fence.reason, fenceUntil: new Date(fence.until).toISOString() }),
        service: sources.isServiceDown() ? 'down' : 'up',
        clock: sources.isClockSteady() ? 'steady' : 'stepped',
        draining: isDraining,
      },
    });
  });
}
