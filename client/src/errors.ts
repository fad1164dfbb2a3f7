import type { GatewayErrorCode, GatewayErrorExtensions } from './tables';

/** A GraphQL error of the gateway, in the same form for every client library. */
export interface GatewayError {
  /** The kind of error. A newer gateway may return codes that this type does not list. */
  code: GatewayErrorCode;
  /** Description for developers and logs. Never contains a card number, security code or credential. */
  message: string;
  /** Whether the same request may succeed later. A create must be repeated with the same idempotency key. */
  retryable: boolean;
  /** Identifies the request in the log of the gateway; null if the error has no request id. */
  requestId: string | null;
  /** Minimum time before a repetition of the request, in milliseconds; null if unknown. */
  retryAfterMs: number | null;
  /**
   * Path and violated rule of each invalid value; empty if the error names no values. A path begins with the name of an
   * argument, but the path of a value within the argument `input` begins with the name of a field of `input`.
   */
  fields: readonly { readonly path: readonly string[]; readonly rule: string }[];
  /** Oldest valid cursor of the changes, for the code CURSOR_EXPIRED; null for other codes. */
  oldestCursor: string | null;
  /** Path of the field that failed, for example ["payments", 3]; null for an error of the whole request. */
  path: readonly (string | number)[] | null;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the GraphQL errors in a value that a client library throws or returns; empty if there are none. */
function graphqlErrorsIn(error: unknown): readonly unknown[] {
  if (Array.isArray(error)) return error;
  if (!isObject(error)) return [];
  // Errors of urql have `graphQLErrors`; errors of Apollo Client 4 and GraphQL responses have `errors`.
  for (const list of [error['graphQLErrors'], error['errors']])
    if (Array.isArray(list) && list.length > 0) return list;
  // Apollo Client 4 throws a ServerError with `bodyText` for a JSON response with an HTTP status of 300 or above.
  if (typeof error['bodyText'] === 'string') return graphqlErrorsIn(parseJson(error['bodyText']));
  return isObject(error['extensions']) ? [error] : [];
}

const isGatewayExtensions = (extensions: unknown): extensions is GatewayErrorExtensions =>
  isObject(extensions) &&
  typeof extensions['code'] === 'string' &&
  typeof extensions['retryable'] === 'boolean';

function toGatewayError(error: unknown): GatewayError | null {
  if (!isObject(error) || !isGatewayExtensions(error['extensions'])) return null;
  const { code, retryable, requestId, retryAfterMs, fields, oldestCursor } = error['extensions'];
  return {
    code,
    message: String(error['message']),
    retryable,
    requestId: typeof requestId === 'string' ? requestId : null,
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : null,
    fields: Array.isArray(fields) ? fields : [],
    oldestCursor: typeof oldestCursor === 'string' ? oldestCursor : null,
    path: Array.isArray(error['path']) ? (error['path'] as (string | number)[]) : null,
  };
}

/**
 * Finds the gateway's first GraphQL error in a value that a client library throws or returns: an error of Apollo
 * Client 4 or urql, an array of errors (graphql-ws), a GraphQL response with `errors`, or one GraphQL error. Returns
 * null if there is no such error, for example after a network failure. Even then, the gateway may have executed a
 * mutation.
 */
export function gatewayError(error: unknown): GatewayError | null {
  for (const graphqlError of graphqlErrorsIn(error)) {
    const found = toGatewayError(graphqlError);
    if (found) return found;
  }
  return null;
}

/**
 * Whether the gateway's error says that the same request may succeed later. If so, wait at least `retryAfterMs`, then
 * repeat the request unchanged. False if gatewayError() returns null.
 */
export const isRetryable = (error: unknown): boolean => gatewayError(error)?.retryable ?? false;
