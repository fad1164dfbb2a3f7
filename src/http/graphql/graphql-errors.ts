import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ServiceError, type ServiceErrorKind } from '../../datasources/payment-service/service-error';
import { AccessError } from '../../auth/caller';
import type { PublicCode, PublicExtensions } from './error-codes';
import { publicMessage, publicVariableMessage } from '../../redaction/graphql-message';
import { extensionsOf, RequestError, toRequestError } from './http-error';
import { valueErrors } from './value-errors';

/** Translates every error to a GraphQL error: code, message and extensions. */

const SERVICE_ERRORS: Record<ServiceErrorKind, { code: PublicCode; retryable: boolean }> = {
  UNAVAILABLE: { code: 'SERVICE_UNAVAILABLE', retryable: true },
  TIMEOUT: { code: 'SERVICE_TIMEOUT', retryable: true },
  AUTH_FAILED: { code: 'SERVICE_AUTH_FAILED', retryable: false },
  RESPONSE_INVALID: { code: 'SERVICE_RESPONSE_INVALID', retryable: false },
  LOOKUP_REFUSED: { code: 'BAD_USER_INPUT', retryable: false },
  NOT_FOUND: { code: 'NOT_FOUND', retryable: false },
};

/** Errors in the request, with the messages that replace unknown ones. */
const CALLER_ERRORS: Readonly<Record<string, string>> = {
  GRAPHQL_PARSE_FAILED: 'The document cannot be parsed.',
  GRAPHQL_VALIDATION_FAILED: 'The document is not valid.',
  BAD_USER_INPUT: 'A variable or argument is not valid.',
  OPERATION_TOO_LARGE: 'The operation is too large.',
  OPERATION_RESOLUTION_FAILURE: 'The operation to execute is ambiguous or missing.',
  BAD_REQUEST:
    'Not a GraphQL request that is accepted here: send it by POST, as JSON with content-type application/json. A GET needs the header apollo-require-preflight.',
} satisfies Partial<Record<PublicCode, string>>;

/** Message of INTERNAL_SERVER_ERROR. A caller that uses a new key may repeat a payment. */
export const INTERNAL_ERROR =
  'Internal error in the gateway; a create or confirm may have been executed. Repeat a create with the same key only, and look a payment up before confirming it again.';

/** Errors that may have `extensions.fields`. */
const VALUE_ERRORS: ReadonlySet<string> = new Set<PublicCode>([
  'BAD_USER_INPUT',
  'GRAPHQL_VALIDATION_FAILED',
]);

const locationOf = ({ locations, path }: GraphQLFormattedError) => ({
  ...(locations && { locations }),
  ...(path && { path }),
});

function callerMessage(message: string, error: unknown, fallback: string): string {
  const inner = error instanceof GraphQLError ? error.originalError : undefined;
  if (inner instanceof GraphQLError && message.startsWith('Variable "'))
    return publicVariableMessage(message, inner.message);
  return publicMessage(message) ?? fallback;
}

const TOO_MANY_TOKENS = /^Syntax Error: Document contains more tha. \d+ tokens/;
const INVALID_VALUE = /^((Argument|Variable) "|Too many errors processing variables)/;

/** Apollo's messages about automatic persisted queries, which have no code. */
const PERSISTED_QUERY_ERRORS: ReadonlySet<string> = new Set([
  'Unsupported persisted query version',
  'provided sha does not match query',
]);

/** The code of an error. Errors that graphql-js throws during execution have none. */
function codeOf(cause: unknown, given: unknown): string {
  if (cause instanceof GraphQLError) {
    if (TOO_MANY_TOKENS.test(cause.message)) return 'OPERATION_TOO_LARGE';
    const hasCode = cause.extensions['code'] !== undefined;
    if (!hasCode && INVALID_VALUE.test(cause.message)) return 'BAD_USER_INPUT';
    if (!hasCode && PERSISTED_QUERY_ERRORS.has(cause.message)) return 'BAD_REQUEST';
  }
  return String(given ?? '');
}

/** An error without the id of its request. */
interface PublicError extends GraphQLFormattedError {
  extensions: Omit<PublicExtensions, 'requestId'>;
}

/** Translates an error. Calls `reportBug` for unexpected errors. */
export function toPublicError(
  formatted: GraphQLFormattedError,
  error: unknown,
  reportBug: (cause: unknown) => void,
): PublicError {
  const cause = unwrapResolverError(error);
  const location = locationOf(formatted);
  const rejection = cause instanceof AccessError ? toRequestError(cause) : cause;
  if (rejection instanceof RequestError)
    return { message: rejection.message, ...location, extensions: extensionsOf(rejection.options) };
  if (cause instanceof ServiceError) {
    const { kind, message, retryAfterMs } = cause;
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    return { message, ...location, extensions: { ...SERVICE_ERRORS[kind], ...wait } };
  }
  const code = codeOf(cause, formatted.extensions?.['code']);
  const fallback = CALLER_ERRORS[code];
  if (fallback !== undefined) {
    const message = callerMessage(formatted.message, error, fallback);
    const fields = VALUE_ERRORS.has(code) ? valueErrors(cause) : undefined;
    const extensions = { code: code as PublicCode, retryable: false, ...(fields && { fields }) };
    return { message, ...location, extensions };
  }
  // Apollo's fixed message, on which clients act.
  if (code === 'PERSISTED_QUERY_NOT_FOUND')
    return { message: formatted.message, extensions: { code, retryable: true } };
  reportBug(cause);
  return {
    message: INTERNAL_ERROR,
    ...location,
    extensions: { code: 'INTERNAL_SERVER_ERROR', retryable: false },
  };
}
