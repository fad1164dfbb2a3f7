import type { FastifyInstance } from 'fastify';

/** What readiness depends on, or is told along with it. */
export interface HealthParts {
  /** A code of why the journal cannot be written; null where it can. Known already: asking costs nothing. */
  journalReason(): string | null;
  /** Whether the payment service counts as down. */
  isServiceDown(): boolean;
  /** Whether no clock has stepped lately. A step delays the release of idempotency keys, and nothing else. */
  isClockSteady(): boolean;
  /** Whether the gateway is being stopped. */
  isDraining(): boolean;
}

/**
 * Adds /healthz (the process lives) and /readyz (it takes work, and if not, why). A service that is down does not make a
 * gateway unready: every other one has the same service, so all would leave the rotation at once, and callers would get
 * a load balancer's error instead of one that says what is wrong and that nothing was sent. A gateway that has no journal
 * creates nothing, and may be the only one.
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
