import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ServiceError, type ServiceErrorKind } from '../../datasources/payment-service/service-error';
import { AccessError } from '../../auth/caller';
import type { PublicCode, PublicExtensions } from './error-codes';
import { publicMessage, publicVariableMessage } from '../../redaction/graphql-message';
import { RequestError, accessRefusal } from './http-error';
import { valueFaults } from './value-errors';

/** The one place where faults become GraphQL errors: code, message and extensions are decided here and nowhere else. */

interface Translation {
  code: PublicCode;
  retryable: boolean;
}

const SERVICE_FAULTS: Record<ServiceErrorKind, Translation> = {
  UNAVAILABLE: { code: 'SERVICE_UNAVAILABLE', retryable: true },
  TIMEOUT: { code: 'SERVICE_TIMEOUT', retryable: true },
  AUTH_FAILED: { code: 'SERVICE_AUTH_FAILED', retryable: false },
  RESPONSE_INVALID: { code: 'SERVICE_RESPONSE_INVALID', retryable: false },
  LOOKUP_REFUSED: { code: 'BAD_USER_INPUT', retryable: false },
  NOT_FOUND: { code: 'NOT_FOUND', retryable: false },
};

/** Errors in what the caller wrote; their messages are built again. */
const CALLER_FAULTS: Readonly<Record<string, string>> = {
  GRAPHQL_PARSE_FAILED: 'The document cannot be parsed.',
  GRAPHQL_VALIDATION_FAILED: 'The document is not valid.',
  BAD_USER_INPUT: 'A variable or argument does not fit.',
  OPERATION_TOO_LARGE: 'The operation is too large.',
  OPERATION_RESOLUTION_FAILURE: 'Which operation to run is not clear.',
  BAD_REQUEST:
    'Not a GraphQL request that is accepted here: send it by POST, as JSON with content-type application/json. A GET needs the header apollo-require-preflight.',
} satisfies Partial<Record<PublicCode, string>>;

/** Message of INTERNAL_SERVER_ERROR: a caller that gives up, or takes a new key, may lose or repeat a payment. */
export const INTERNAL_ERROR =
  'Something went wrong in the gateway; a create or confirm may have been carried out all the same. Repeat a create with the same key only, and look a payment up before you confirm it again.';

/** Errors of which a value may be the cause: `extensions.fields` then says which. */
const OF_VALUES: ReadonlySet<string> = new Set<PublicCode>(['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED']);

/** Messages of Apollo's own that clients act on; fixed texts. */
const PROTOCOL_CODES: ReadonlySet<string> = new Set<PublicCode>(['PERSISTED_QUERY_NOT_FOUND']);

type Place = Pick<GraphQLFormattedError, 'locations' | 'path'>;

const inPlace = ({ locations, path }: GraphQLFormattedError): Place => ({
  ...(locations && { locations }),
  ...(path && { path }),
});

function callerMessage(message: string, error: unknown, fallback: string): string {
  if (!(error instanceof GraphQLError)) return publicMessage(message) ?? fallback;
  const inner = error.originalError;
  const isVariable = inner instanceof GraphQLError && message.startsWith('Variable "');
  return isVariable ? publicVariableMessage(message, inner.message) : (publicMessage(message) ?? fallback);
}

const TOO_MANY_TOKENS = /^Syntax Error: Document contains more tha. \d+ tokens/;

/** What Apollo says of a persisted query that does not fit, without a code. */
const PERSISTED_QUERY_FAULTS: ReadonlySet<string> = new Set([
  'Unsupported persisted query version',
  'provided sha does not match query',
]);

/**
 * The code of an error, also where a library gave it none: graphql-js refuses some values only while it executes,
 * such as a null in a variable that had a default.
 */
function codeOf(cause: unknown, given: unknown): PublicCode {
  const uncoded = cause instanceof GraphQLError && cause.extensions['code'] === undefined;
  if (uncoded && /^((Argument|Variable) "|Too many errors processing variables)/.test(cause.message))
    return 'BAD_USER_INPUT';
  if (cause instanceof GraphQLError && TOO_MANY_TOKENS.test(cause.message)) return 'OPERATION_TOO_LARGE';
  if (uncoded && PERSISTED_QUERY_FAULTS.has(cause.message)) return 'BAD_REQUEST';
  // What is no public code matches no table below, and becomes INTERNAL_SERVER_ERROR.
  return String(given ?? '') as PublicCode;
}

/** What a caller sees of an error; the web server adds the id of the request. */
interface PublicError extends GraphQLFormattedError {
  extensions: Omit<PublicExtensions, 'requestId'>;
}

/** What a caller sees of an error. `reportBug` hears of everything that should not have happened. */
export function toPublicError(
  formatted: GraphQLFormattedError,
  error: unknown,
  reportBug: (cause: unknown) => void,
): PublicError {
  const cause = unwrapResolverError(error);
  const refusal = cause instanceof AccessError ? accessRefusal(cause) : cause;
  if (refusal instanceof RequestError) {
    const { code, message, retryAfterMs } = refusal.facts;
    const again = retryAfterMs === undefined ? { retryable: false } : { retryable: true, retryAfterMs };
    return { message, ...inPlace(formatted), extensions: { code, ...again } };
  }
  if (cause instanceof ServiceError) {
    const { code, retryable } = SERVICE_FAULTS[cause.kind];
    const wait = cause.retryAfterMs === undefined ? {} : { retryAfterMs: cause.retryAfterMs };
    return { message: cause.message, ...inPlace(formatted), extensions: { code, retryable, ...wait } };
  }
  const code = codeOf(cause, formatted.extensions?.['code']);
  const fallback = CALLER_FAULTS[code];
  if (fallback !== undefined) {
    const message = callerMessage(formatted.message, error, fallback);
    const fields = OF_VALUES.has(code) ? valueFaults(cause) : undefined;
    return {
      message,
      ...inPlace(formatted),
      extensions: { code, retryable: false, ...(fields && { fields }) },
    };
  }
  if (PROTOCOL_CODES.has(code)) {
    return { message: formatted.message, extensions: { code, retryable: true } };
  }
  reportBug(cause);
  return {
    message: INTERNAL_ERROR,
    ...inPlace(formatted),
    extensions: { code: 'INTERNAL_SERVER_ERROR' satisfies PublicCode, retryable: false },
  };
}
