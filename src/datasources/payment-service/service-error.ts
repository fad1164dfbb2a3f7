/** What can go wrong with the service, for a caller who cannot mend it by changing the input. */
export type ServiceErrorKind =
  /** The service could not be reached and nothing was sent, or it answered that it cannot serve now. */
  | 'UNAVAILABLE'
  /** A lookup ran out of time. */
  | 'TIMEOUT'
  /** The service refused the gateway's credentials or clock. */
  | 'AUTH_FAILED'
  /** The answer could not be read, or contradicts the request. */
  | 'RESPONSE_INVALID'
  /** The service refused the parameters of a lookup. */
  | 'LOOKUP_REFUSED'
  /** The service has no such transaction, where there has to be one. */
  | 'NOT_FOUND';

/** A fault of service, network or credentials. The message is made here and holds nothing of request or answer. */
export class ServiceError extends Error {
  constructor(
    readonly kind: ServiceErrorKind,
    message: string,
    /** When to try again, in milliseconds, where the service said so. */
    readonly retryAfterMs?: number,
    /** True when the call was not even tried: too many wait, or the service counts as down. */
    readonly notTried = false,
  ) {
    super(message);
    this.name = 'ServiceError';
  }
}
