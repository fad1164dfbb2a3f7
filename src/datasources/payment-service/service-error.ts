/** Why a call to the service or the journal failed. */
export type ServiceErrorKind =
  /** The service or the gateway's journal cannot be reached, or the service responded that it is unavailable. */
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

/** An error of the service, the network, the journal or the credentials. The message is safe for callers. */
export class ServiceError extends Error {
  constructor(
    readonly kind: ServiceErrorKind,
    message: string,
    /** Time in ms after which the caller may retry: the service's Retry-After, or a default. */
    readonly retryAfterMs?: number,
    /** Whether the gateway sent nothing, and an immediate retry would fail for the same reason. */
    readonly notTried = false,
  ) {
    super(message);
    this.name = 'ServiceError';
  }
}

/** Returns the error for a call that sent nothing. It asks the caller to wait a second before a retry. */
export const notTriedError = (message: string): ServiceError =>
  new ServiceError('UNAVAILABLE', message, 1000, true);
