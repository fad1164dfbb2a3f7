/** Errors of the service that a caller cannot fix by changing the input. */
export type ServiceErrorKind =
  /** The service could not be reached and nothing was sent, or it responded that it is unavailable. */
  | 'UNAVAILABLE'
  /** A lookup timed out. */
  | 'TIMEOUT'
  /** The service rejected the gateway's credentials or clock. */
  | 'AUTH_FAILED'
  /** The response is invalid or contradicts the request. */
  | 'RESPONSE_INVALID'
  /** The service rejected the parameters of a lookup. */
  | 'LOOKUP_REFUSED'
  /** The service does not have a transaction that must exist. */
  | 'NOT_FOUND';

/** An error of service, network or credentials. The message contains nothing of request or response. */
export class ServiceError extends Error {
  constructor(
    readonly kind: ServiceErrorKind,
    message: string,
    /** Retry-After of the service in ms. */
    readonly retryAfterMs?: number,
    /** Whether the gateway sent nothing: too many requests are queued, or a circuit breaker is open. */
    readonly notTried = false,
  ) {
    super(message);
    this.name = 'ServiceError';
  }
}
