/** Returns the `code` of an error, such as ENOENT; `unknown` if the error has none. */
export function errorCode(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : 'unknown';
}

/**
 * Searches an error, its cause, the cause of the cause, and so on. Returns the first `code`, or ETIMEDOUT if a
 * TimeoutError comes first. Returns `unknown` if the search finds neither.
 */
export function errorOrCauseCode(error: unknown): string {
  const { code, name, cause } = Object(error) as { code?: unknown; name?: unknown; cause?: unknown };
  if (name === 'TimeoutError') return 'ETIMEDOUT';
  if (typeof code === 'string') return code;
  return cause === undefined ? 'unknown' : errorOrCauseCode(cause);
}
