import type { GatewayErrorCode, GatewayErrorExtensions } from './tables';

/** A GraphQL error of the gateway, whatever client library returned it. */
export interface GatewayError {
  /** Kind of error. A newer gateway may have codes that this kit does not know. */
  code: GatewayErrorCode;
  /** Description for developers and logs, in English. Never contains a value that was sent. */
  message: string;
  /** Whether the same request may succeed later. A repeated create keeps its idempotency key. */
  retryable: boolean;
  /** Identifies the request in the log of the gateway; null if the error has no request id. */
  requestId: string | null;
  /** How long to wait before repeating the request, in milliseconds; null if not known. */
  retryAfterMs: number | null;
  /** Invalid values: path below the variable or argument, and name of the rule. Empty for other errors. */
  fields: readonly { readonly path: readonly string[]; readonly rule: string }[];
  /** For CURSOR_EXPIRED: the cursor after which every change is kept. Null for other errors. */
  oldestCursor: string | null;
  /** Path of the response field without data, for example ["payments", 3]; null for an error of the whole request. */
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

/** Returns the GraphQL errors inside a thrown or returned value. */
function errorsIn(error: unknown): readonly unknown[] {
  if (Array.isArray(error)) return error;
  if (!isFields(error)) return [];
  // urql: graphQLErrors. Apollo Client 4 and a GraphQL response: errors.
  for (const list of [error['graphQLErrors'], error['errors']])
    if (Array.isArray(list) && list.length > 0) return list;
  // Apollo Client 4: ServerError, for a response with an HTTP status other than 200.
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
 * Returns the gateway's error in a value that a client library throws or returns: Apollo Client 4
 * (CombinedGraphQLErrors, ServerError), urql (CombinedError), graphql-ws (an array of errors), a GraphQL response with
 * `errors`, or one GraphQL error. If there are several, returns the first. Null if the value contains no error of the
 * gateway, because there was no response or a proxy wrote it; then a mutation may have been carried out.
 */
export function gatewayError(error: unknown): GatewayError | null {
  for (const each of errorsIn(error)) {
    const ours = read(each);
    if (ours) return ours;
  }
  return null;
}

/**
 * Whether the same request may succeed later, according to the gateway. Wait at least `retryAfterMs`, then repeat the
 * request unchanged. False for everything that is not an error of the gateway.
 */
export const isRetryable = (error: unknown): boolean => gatewayError(error)?.retryable ?? false;
