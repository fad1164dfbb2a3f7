/** Every `extensions.code` of the gateway, over every transport. docs/results.md describes causes and reactions. */
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
  'CURSOR_EXPIRED',
  'SERVICE_UNAVAILABLE',
  'SERVICE_TIMEOUT',
  'SERVICE_AUTH_FAILED',
  'SERVICE_RESPONSE_INVALID',
  'INTERNAL_SERVER_ERROR',
] as const;

export type PublicCode = (typeof PUBLIC_CODES)[number];

/** The `extensions` of every GraphQL error. The client kit declares the same type as GatewayErrorExtensions. */
export interface PublicExtensions {
  /** The kind of error. */
  code: PublicCode;
  /** Whether the same request may succeed later. Repeat a create with the same idempotency key. */
  retryable: boolean;
  /** Identifies the request in the log of the gateway. */
  requestId: string;
  /** How long to wait before repeating the request, in milliseconds. Absent when unknown. */
  retryAfterMs?: number;
  /**
   * Path and rule of each invalid value; absent for other errors. A path starts with the name of the argument. Below
   * the argument `input`, this name is omitted.
   */
  fields?: readonly { readonly path: readonly string[]; readonly rule: string }[];
  /** Oldest valid cursor: all changes after it are still stored. Present only with CURSOR_EXPIRED. */
  oldestCursor?: string;
}
