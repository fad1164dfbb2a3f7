/** All values of `extensions.code` in errors of the gateway, over HTTP, WebSocket and SSE (docs/results.md). */
export const PUBLIC_ERROR_CODES = [
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

export type PublicErrorCode = (typeof PUBLIC_ERROR_CODES)[number];

/** The `extensions` of every GraphQL error. The client kit exports this type as GatewayErrorExtensions. */
export interface PublicErrorExtensions {
  /** Reason of the error, for programs (docs/results.md). */
  code: PublicErrorCode;
  /** Whether the same request may succeed later. Repeat a create with the same idempotency key. */
  retryable: boolean;
  /** Identifies the request in the log of the gateway. */
  requestId: string;
  /** How long to wait before repeating the request, in ms. Absent if `retryable` is false or the time is unknown. */
  retryAfterMs?: number;
  /**
   * Path of each invalid value, and the rule that the value violates. Absent if the error is not about invalid values.
   * A path starts with the name of the argument, but a leading `input` is omitted: the path of `input.amount.value` is
   * ["amount", "value"]. If the whole input is invalid, the path is ["input"].
   */
  fields?: readonly { readonly path: readonly string[]; readonly rule: string }[];
  /** The oldest valid cursor. All changes after this cursor are still stored. Present only with CURSOR_EXPIRED. */
  oldestCursor?: string;
}
