/** The `code` of an error, such as ENOENT; 'unknown' if it has none. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
