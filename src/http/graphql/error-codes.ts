/**
 * Every `extensions.code` that a caller can get, from whichever way in; docs/results.md says of each when it comes and
 * what a client does then. A code that is not here does not get out.
 */
export const PUBLIC_CODES = [
  'BAD_USER_INPUT',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_REQUEST',
  'OPERATION_TOO_LARGE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_OPERATION_REQUIRED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'NOT_FOUND',
  'SERVICE_UNAVAILABLE',
  'SERVICE_TIMEOUT',
  'SERVICE_AUTH_FAILED',
  'SERVICE_RESPONSE_INVALID',
  'INTERNAL_SERVER_ERROR',
] as const;

/** One of PUBLIC_CODES. */
export type PublicCode = (typeof PUBLIC_CODES)[number];

/** The `extensions` of every GraphQL error. The client kit has them as a type (`GatewayErrorExtensions`). */
export interface PublicExtensions {
  /** Which error it is. */
  code: PublicCode;
  /** Whether the same request may succeed later. A repeated create keeps its idempotency key. */
  retryable: boolean;
  /** Identifies the request in the log of the gateway. */
  requestId: string;
  /** How long to wait before the repeat, in milliseconds. Absent where it is not known. */
  retryAfterMs?: number;
  /** The values that do not fit: path from the variable or argument down, and name of the rule. Absent for other errors. */
  fields?: readonly { readonly path: readonly string[]; readonly rule: string }[];
}
