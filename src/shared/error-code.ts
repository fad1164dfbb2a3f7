/** The `code` of an error, such as ENOENT; 'unknown' if it has none. */
export function errorCode(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : 'unknown';
}
