import type { Authenticator } from '../auth/authenticator';
import type { Operations } from '../core';
import type { FollowedCounts } from '../datasources/journal/changes';
import type { Journal, UnknownOutcomeCount } from '../datasources/journal/journal';
import type { ServiceTransport } from '../datasources/payment-service/http/transport';
import type { CompiledOperationCache } from '../http/compiled/compiled-operation-cache';
import type { Connections } from '../http/server/connections';
import type { UnreadResponseLimiter } from '../http/server/unread-response-limiter';
import type { startSubscriptions } from '../http/subscriptions';
import type { AuditLog } from '../observability/audit/audit-log';
import type { Metrics } from '../observability/metrics/metrics';
import { singleFlight } from '../shared/single-flight';

/**
 * Wraps `readValues` so that gauges that are collected at the same time share one call. The returned function resolves
 * to null if `readValues` rejects: the gauges must then have no value, because an old value would look current.
 */
const readOncePerScrape = <T>(readValues: () => Promise<T>): (() => Promise<T | null>) =>
  singleFlight(() => readValues().catch(() => null));

/** Registers the gauges of the circuit breakers, the request queues and the clock skew. */
export function registerServiceGauges({ registerScraped }: Metrics, transport: ServiceTransport): void {
  const { policy } = transport;
  const readRequestsByLane = (loadField: 'inFlightCount' | 'queuedCount') =>
    Object.entries(policy.bulkheadLoads()).map(([lane, load]) => [{ lane }, load[loadField]] as const);
  registerScraped({
    paygraph_service_breaker_open: {
      help: '1 while a circuit breaker is open (requests to the payment service are rejected) or half open (one probing request is sent); otherwise 0.',
      labelNames: ['breaker'],
      read: () =>
        Object.entries(policy.openFlagByBreaker()).map(([breaker, isOpen]) => [{ breaker }, Number(isOpen)]),
    },
    paygraph_service_requests_in_flight: {
      help: 'Requests to the payment service in flight, by lane (lookups, payments, payouts).',
      labelNames: ['lane'],
      read: () => readRequestsByLane('inFlightCount'),
    },
    paygraph_service_requests_queued: {
      help: 'Requests to the payment service that wait in a queue, by lane (lookups, payments, payouts).',
      labelNames: ['lane'],
      read: () => readRequestsByLane('queuedCount'),
    },
    paygraph_service_clock_skew_seconds: {
      help: 'Clock correction of request signatures in seconds, as an absolute value. Above 0: the service rejected the time of this machine, and requests are signed with the time of the service.',
      read: () => Math.abs(transport.skewMs) / 1000,
    },
  });
}

interface JournalGaugeSources {
  journal: Journal;
  /** Name of the payment service in the journal. */
  serviceName: string;
  /** Returns the reason why the journal is unavailable, such as `file_replaced`; null if it is available. */
  journalFailureReason(): string | null;
  auditLog: AuditLog;
  operations: Operations;
}

/**
 * Registers the gauges of journal and audit log. Do not add up the unknown outcomes of several instances: every
 * instance reports the total of all instances that share the journal.
 */
export function registerJournalAndAuditGauges(
  { registerScraped }: Metrics,
  { journal, serviceName, journalFailureReason, auditLog, operations }: JournalGaugeSources,
): void {
  const readUnknownOutcomes = readOncePerScrape(() => journal.countUnknown(serviceName));
  const readUnknownByKind = async (toGaugeValue: (count: UnknownOutcomeCount) => number) =>
    ((await readUnknownOutcomes()) ?? []).map(
      (count) => [{ kind: count.kind }, toGaugeValue(count)] as const,
    );
  registerScraped({
    paygraph_audit_gaps_total: {
      help: 'Entries that could not be written to the audit log: mutations that move money, and recovered outcomes.',
      read: () => auditLog.lostEntryCount,
    },
    paygraph_audit_log_disk_free_bytes: {
      help: 'Free bytes on the disk of the audit log.',
      read: () => auditLog.freeDiskBytes(),
    },
    paygraph_journal_up: {
      help: '1 if the journal can be written; 0 if not, and creates and confirms are then rejected. After a check that failed for a possibly transient reason, such as a timeout, it becomes 0 only if the next check fails too.',
      read: () => Number(journalFailureReason() === null),
    },
    paygraph_journal_fence_up: {
      help: '1 while the journal may lack recent attempts, and every create is looked up before it is sent; otherwise 0.',
      read: () => Number(operations.fence() !== null),
    },
    paygraph_unknown_outcomes: {
      help: 'Creates with an unknown outcome in the journal, of all instances.',
      labelNames: ['kind'],
      read: () => readUnknownByKind(({ count }) => count),
    },
    paygraph_unknown_outcome_oldest_age_seconds: {
      help: 'Age of the oldest create with an unknown outcome in the journal, of all instances; 0 if there is none.',
      labelNames: ['kind'],
      read: () => readUnknownByKind(({ oldestStartedAt }) => secondsSince(oldestStartedAt, operations)),
    },
  });
}

/** Returns the seconds that have passed since a time of the journal's clock; 0 if the time is null or in the future. */
const secondsSince = (journalTimeMs: number | null, { changeMetrics }: Operations): number =>
  journalTimeMs === null ? 0 : Math.max(0, changeMetrics.now() - journalTimeMs) / 1000;

/**
 * Registers the gauges of followed transactions and recorded changes. Do not add up the followed transactions of
 * several instances: every instance reports the total of all instances.
 */
export function registerChangeGauges({ registerScraped }: Metrics, operations: Operations): void {
  const { followed, backlog } = operations.changeMetrics;
  const readFollowedCounts = readOncePerScrape(followed);
  const readFollowedGauge = async (toGaugeValue: (counts: FollowedCounts) => number) => {
    const followedCounts = await readFollowedCounts();
    return followedCounts && toGaugeValue(followedCounts);
  };
  registerScraped({
    paygraph_followed_transactions: {
      help: 'Followed transactions of all instances. Each is looked up until it is completed or failed, or FOLLOW_DAYS have passed.',
      read: () => readFollowedGauge((counts) => counts.followed),
    },
    paygraph_followed_transactions_due: {
      help: 'Followed transactions that are due for a lookup, of all instances together.',
      read: () => readFollowedGauge(({ due }) => due),
    },
    paygraph_follow_lag_seconds: {
      help: 'Delay of the most overdue lookup of a followed transaction, of all instances; 0 if none is overdue.',
      read: () => readFollowedGauge(({ oldestDueAt }) => secondsSince(oldestDueAt, operations)),
    },
    paygraph_observations_queued: {
      help: 'Observed states of payments and payouts that wait to be checked or recorded in the journal. The number grows while the journal is slow or unavailable.',
      read: () => backlog().queuedCount,
    },
    paygraph_observation_oldest_age_seconds: {
      help: 'Age of the oldest response in the queue that paygraph_observations_queued counts; 0 if the queue is empty.',
      read: () => backlog().oldestQueuedAgeMs / 1000,
    },
    paygraph_changes_behind_seconds: {
      help: 'Time for which an open database transaction has kept the newest changes unreadable; 0 if all changes are readable, or if nobody reads changes.',
      read: () => backlog().stalledMs / 1000,
    },
  });
}

interface ServerGaugeSources {
  subscriptionHandlers: ReturnType<typeof startSubscriptions>;
  maxSubscriptions: number;
  connections: Connections;
  unreadResponseLimiter: UnreadResponseLimiter;
  compiledCache: CompiledOperationCache;
}

/** Registers the gauges of the HTTP server. */
export function registerHttpGauges({ registerScraped }: Metrics, sources: ServerGaugeSources): void {
  const { subscriptionService, sseHandler, webSocketHandler } = sources.subscriptionHandlers;
  registerScraped({
    paygraph_subscriptions: {
      help: 'Open subscriptions.',
      read: () => subscriptionService.subscriptionQuota.usedAmount,
    },
    paygraph_subscriptions_max: {
      help: 'Maximum number of open subscriptions (MAX_SUBSCRIPTIONS).',
      read: () => sources.maxSubscriptions,
    },
    paygraph_subscription_connections: {
      help: 'Open connections for subscriptions, by transport.',
      labelNames: ['transport'],
      read: () => [
        [{ transport: 'websocket' }, webSocketHandler.openCount],
        [{ transport: 'sse' }, sseHandler.openCount],
      ],
    },
    paygraph_connections: { help: 'All open client connections.', read: () => sources.connections.size },
    paygraph_connections_max: {
      help: 'Maximum number of client connections.',
      read: () => sources.connections.limits.maxConnections,
    },
    paygraph_unread_response_bytes: {
      help: 'Response bytes that are buffered because clients have not read them.',
      read: () => sources.unreadResponseLimiter.unreadBytes,
    },
    paygraph_compiled_operations_total: {
      help: 'Operations executed by compiled code. Apollo Server executes all others, which takes more CPU time: if the share of compiled operations falls, CPU usage rises.',
      read: () => sources.compiledCache.executedCount,
    },
  });
}

/**
 * Registers the gauges of client keys. Their metric labels `client` and `key` contain the client's id and the key's
 * label. Neither is a secret.
 */
export function registerClientKeyGauges({ registerScraped }: Metrics, authenticator: Authenticator): void {
  const readTimestampsByKey = (timeName: 'keyLastUsedAt' | 'expiresAt') =>
    authenticator.clientKeyUsage().flatMap(({ client, label, [timeName]: timeMs }) => {
      return timeMs === null ? [] : [[{ client, key: label }, timeMs / 1000] as const];
    });
  registerScraped({
    paygraph_client_key_last_used_timestamp_seconds: {
      help: 'Last use of a client key, in seconds since 1970. No value for a key not used since the process started.',
      labelNames: ['client', 'key'],
      read: () => readTimestampsByKey('keyLastUsedAt'),
    },
    paygraph_client_key_expiry_timestamp_seconds: {
      help: 'Expiry of a client key, in seconds since 1970. No value for a key that does not expire.',
      labelNames: ['client', 'key'],
      read: () => readTimestampsByKey('expiresAt'),
    },
  });
}
