import { Counter, type Registry } from 'prom-client';
import { registerLabelledCounter } from './register';

/** Creates the counters of rejected requests, of rejected and closed connections, and of polls. */
export function serverMetrics(registry: Registry) {
  const pollCounter = new Counter({
    name: 'paygraph_polls_total',
    help: 'Lookups of transactions for subscriptions, by result.',
    labelNames: ['kind', 'result'],
    registers: [registry],
  });
  return {
    requestRejected: registerLabelledCounter(registry, {
      name: 'paygraph_requests_rejected_total',
      help: 'Requests and subscriptions that were rejected before execution, by reason.',
      label: 'reason',
      initial: ['rate_limited', 'overloaded', 'subscription_limit', 'unauthenticated'],
    }),
    connectionRejected: registerLabelledCounter<string>(registry, {
      name: 'paygraph_connections_rejected_total',
      help: 'Client connections that were not accepted, by reason.',
      label: 'reason',
      initial: ['limit', 'address_limit', 'dropped', 'accept_failed'],
    }),
    connectionClosed: registerLabelledCounter<string>(registry, {
      name: 'paygraph_connections_closed_total',
      help: 'Client connections that the gateway closed, by reason: evicted (idle while the connection limit was reached), write_timeout (the client did not read its responses for too long), unread_limit (too many unread bytes of responses), pipeline_limit (too many pipelined requests).',
      label: 'reason',
      initial: ['evicted', 'write_timeout', 'unread_limit', 'pipeline_limit'],
    }),
    /** Counts a lookup for the subscriptions of a transaction. `kind`: payment or payout. `result`: a PollResult. */
    onPoll: (kind: string, result: string): void => pollCounter.inc({ kind, result }),
  };
}
