/** Reason why a call to the service or the journal failed. */
export type ServiceErrorKind =
  /** The service or the gateway's journal cannot be used now: it is unreachable, overloaded or not ready. */
  | 'UNAVAILABLE'
  /** A lookup timed out. */
  | 'TIMEOUT'
  /** The service rejected the gateway's credentials or clock, or the channel has no credentials. */
  | 'AUTH_FAILED'
  /** The response to a lookup is invalid or contradicts the request. */
  | 'RESPONSE_INVALID'
  /** The service rejected the parameters of a lookup. */
  | 'LOOKUP_REFUSED'
  /** The service does not have a transaction that must exist. */
  | 'NOT_FOUND';

/** Error of a call to the service or the journal. Callers see its message, so it must contain no secrets. */
export class ServiceError extends Error {
  constructor(
    readonly kind: ServiceErrorKind,
    message: string,
    /** Time in ms after which the caller may retry: the service's Retry-After or a default; undefined if unknown. */
    readonly retryAfterMs?: number,
    /** Whether the gateway itself refused the call, perhaps after lookups. An immediate retry would be refused, too. */
    readonly isRefusedByGateway = false,
  ) {
    super(message);
    this.name = 'ServiceError';
  }
}

/** Returns the error for a call that the gateway refused (`UNAVAILABLE`). Callers may retry after one second. */
export const refusedByGatewayError = (message: string): ServiceError =>
  new ServiceError('UNAVAILABLE', message, 1000, true);
