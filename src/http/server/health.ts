import type { FastifyInstance } from 'fastify';

/** The state behind /readyz. */
export interface HealthParts {
  /** A code of why the journal cannot be written; null when it can. Cached. */
  journalReason(): string | null;
  /** Whether the circuit breakers of the payment service are open. */
  isServiceDown(): boolean;
  /** Whether no clock has stepped lately. A step only delays the release of idempotency keys. */
  isClockSteady(): boolean;
  isDraining(): boolean;
}

/**
 * Adds /healthz (liveness) and /readyz (readiness, with reasons). A payment service that is down does not make an instance
 * unready: all instances would leave the load balancer at once, and callers would get its error instead of the gateway's.
 */
export function addHealth(app: FastifyInstance, parts: HealthParts): void {
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', (_request, reply) => {
    const draining = parts.isDraining();
    const reason = parts.journalReason();
    const ready = reason === null && !draining;
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ready' : 'not ready',
      checks: {
        journal: reason === null ? 'up' : 'down',
        ...(reason !== null && { journalReason: reason }),
        service: parts.isServiceDown() ? 'down' : 'up',
        clock: parts.isClockSteady() ? 'steady' : 'stepped',
        draining,
      },
    });
  });
}
