import type { GatewayErrorCode, GatewayErrorExtensions } from './tables';

/** A GraphQL error of the gateway, in the same form for every client library. */
export interface GatewayError {
  /** Kind of error. A newer gateway may return codes that this type does not list. */
  code: GatewayErrorCode;
  /** Description for developers and logs, in English. Never contains a value that was sent. */
  message: string;
  /** Whether the same request may succeed later. Repeat a create with the same idempotency key. */
  retryable: boolean;
  /** Identifies the request in the log of the gateway; null if the error has no request id. */
  requestId: string | null;
  /** Minimum time before a repetition of the request, in milliseconds; null if unknown. */
  retryAfterMs: number | null;
  /**
   * Path and rule of each invalid value; empty for other errors. A path starts with the name of the argument. Below the
   * argument `input`, this name is omitted.
   */
  fields: readonly { readonly path: readonly string[]; readonly rule: string }[];
  /** Oldest valid cursor: the gateway still has every change after it. Null unless the code is CURSOR_EXPIRED. */
  oldestCursor: string | null;
  /** Path of the field that failed, for example ["payments", 3]; null for an error of the whole request. */
  path: readonly (string | number)[] | null;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the GraphQL errors in a value that a client library throws or returns; empty if there are none. */
function errorsIn(error: unknown): readonly unknown[] {
  if (Array.isArray(error)) return error;
  if (!isFields(error)) return [];
  // Errors of urql have `graphQLErrors`; errors of Apollo Client 4 and GraphQL responses have `errors`.
  for (const list of [error['graphQLErrors'], error['errors']])
    if (Array.isArray(list) && list.length > 0) return list;
  // Apollo Client 4 throws a ServerError with `bodyText` for a response with an HTTP status other than 200.
  if (typeof error['bodyText'] === 'string') return errorsIn(parsed(error['bodyText']));
  return isFields(error['extensions']) ? [error] : [];
}

const isOurs = (extensions: unknown): extensions is GatewayErrorExtensions =>
  isFields(extensions) &&
  typeof extensions['code'] === 'string' &&
  typeof extensions['retryable'] === 'boolean';

function read(error: unknown): GatewayError | null {
  if (!isFields(error) || !isOurs(error['extensions'])) return null;
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
 * Returns the first error of the gateway in a value that a client library throws or returns: Apollo Client 4
 * (CombinedGraphQLErrors, ServerError), urql (CombinedError), graphql-ws (an array of errors), a GraphQL response with
 * `errors`, or one GraphQL error. Returns null if the value contains none, for example after a network failure or an
 * error response of a proxy. In this case, a mutation may have been carried out.
 */
export function gatewayError(error: unknown): GatewayError | null {
  for (const each of errorsIn(error)) {
    const ours = read(each);
    if (ours) return ours;
  }
  return null;
}

/**
 * Whether the same request may succeed later, according to the gateway. If so, wait at least `retryAfterMs`, then
 * repeat the request unchanged. False for a value in which gatewayError() finds no error.
 */
export const isRetryable = (error: unknown): boolean => gatewayError(error)?.retryable ?? false;
