import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { encodeCursor } from '../../core/changes/cursor';
import { PositionExpired } from '../../datasources/journal/changes';
import { ServiceError, type ServiceErrorKind } from '../../datasources/payment-service/service-error';
import { AccessError } from '../../auth/caller';
import type { PublicErrorCode, PublicErrorExtensions } from './error-codes';
import { redactGraphqlMessage, redactVariableMessage } from '../../redaction/graphql-message';
import { RequestError, toRequestError } from './http-error';
import { invalidValuesOf } from './value-errors';

/** Code of each kind of ServiceError, and whether the same request may succeed later (`retryable`). */
const EXTENSIONS_BY_SERVICE_ERROR: Record<ServiceErrorKind, { code: PublicErrorCode; retryable: boolean }> = {
  UNAVAILABLE: { code: 'SERVICE_UNAVAILABLE', retryable: true },
  TIMEOUT: { code: 'SERVICE_TIMEOUT', retryable: true },
  AUTH_FAILED: { code: 'SERVICE_AUTH_FAILED', retryable: false },
  RESPONSE_INVALID: { code: 'SERVICE_RESPONSE_INVALID', retryable: false },
  LOOKUP_REFUSED: { code: 'BAD_USER_INPUT', retryable: false },
  NOT_FOUND: { code: 'NOT_FOUND', retryable: false },
};

/**
 * Messages for invalid requests, by code. If redactGraphqlMessage() returns undefined for the original message, the
 * message in this table is used. An error whose code is not in this table becomes INTERNAL_SERVER_ERROR, unless
 * toPublicError() handles it otherwise.
 */
const DEFAULT_MESSAGE_BY_CODE: Readonly<Record<string, string>> = {
  GRAPHQL_PARSE_FAILED: 'The document cannot be parsed.',
  GRAPHQL_VALIDATION_FAILED: 'The document is not valid.',
  BAD_USER_INPUT: 'A variable or argument is not valid.',
  OPERATION_TOO_LARGE: 'The operation is too large.',
  OPERATION_RESOLUTION_FAILURE: 'The operation to execute is ambiguous or missing.',
  BAD_REQUEST:
    'The gateway does not accept this HTTP request: send a POST with a JSON body and content-type application/json. A GET needs the header apollo-require-preflight.',
} satisfies Partial<Record<PublicErrorCode, string>>;

/**
 * Message of INTERNAL_SERVER_ERROR. Demands that a create is repeated with the same idempotency key, because a new key
 * could pay twice.
 */
export const INTERNAL_ERROR_MESSAGE =
  'Internal error in the gateway; a create or confirm may have been executed. Repeat a create only with the same idempotency key, and look a payment up before confirming it again.';

function redactMessage(message: string, error: unknown, defaultMessage: string): string {
  const originalError = error instanceof GraphQLError ? error.originalError : undefined;
  if (originalError instanceof GraphQLError && message.startsWith('Variable "'))
    return redactVariableMessage(message, originalError.message);
  return redactGraphqlMessage(message) ?? defaultMessage;
}

const TOO_MANY_TOKENS_PATTERN = /^Syntax Error: Document contains more tha. \d+ tokens/;
const INVALID_VALUE_PATTERN = /^((Argument|Variable) "|Too many errors processing variables)/;
/** Matches Apollo's error messages about malformed requests for automatic persisted queries. */
const PERSISTED_QUERY_PATTERN = /^(Unsupported persisted query version|provided sha does not match query)$/;

/** Returns the code of an error; '' if the error has no code. Derives the codes of some errors from their messages. */
function codeOf(cause: unknown, formattedCode: unknown): string {
  if (!(cause instanceof GraphQLError)) return String(formattedCode ?? '');
  const { message, extensions } = cause;
  if (TOO_MANY_TOKENS_PATTERN.test(message)) return 'OPERATION_TOO_LARGE';
  if (extensions['code'] === undefined && INVALID_VALUE_PATTERN.test(message)) return 'BAD_USER_INPUT';
  if (extensions['code'] === undefined && PERSISTED_QUERY_PATTERN.test(message)) return 'BAD_REQUEST';
  return String(formattedCode ?? '');
}

/**
 * Translates any error to a GraphQL error for the caller: message, locations, path, and extensions without the request
 * id. For an unexpected error, calls `reportBug` and returns INTERNAL_SERVER_ERROR.
 */
export function toPublicError(
  formattedError: GraphQLFormattedError,
  error: unknown,
  reportBug: (bug: unknown) => void,
): GraphQLFormattedError & { extensions: Omit<PublicErrorExtensions, 'requestId'> } {
  const cause = unwrapResolverError(error);
  const { locations, path } = formattedError;
  const location = { ...(locations && { locations }), ...(path && { path }) };
  const translatedCause = cause instanceof AccessError ? toRequestError(cause) : cause;
  if (translatedCause instanceof RequestError)
    return { message: translatedCause.message, ...location, extensions: translatedCause.publicExtensions };
  if (cause instanceof ServiceError) {
    const { kind, message, retryAfterMs } = cause;
    const extensions = {
      ...EXTENSIONS_BY_SERVICE_ERROR[kind],
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
    return { message, ...location, extensions };
  }
  if (cause instanceof PositionExpired) {
    const message =
      'Some changes after this cursor were deleted. Continue from oldestCursor, which skips them.';
    const oldestCursor = encodeCursor(cause.oldestPosition);
    return { message, ...location, extensions: { code: 'CURSOR_EXPIRED', retryable: false, oldestCursor } };
  }
  const code = codeOf(cause, formattedError.extensions?.['code']);
  const defaultMessage = DEFAULT_MESSAGE_BY_CODE[code];
  if (defaultMessage !== undefined) {
    const message = redactMessage(formattedError.message, error, defaultMessage);
    const fields = invalidValuesOf(cause);
    const extensions = { code: code as PublicErrorCode, retryable: false, ...(fields && { fields }) };
    return { message, ...location, extensions };
  }
  // Keep Apollo's message, because clients recognise the error by the message.
  if (code === 'PERSISTED_QUERY_NOT_FOUND')
    return { message: formattedError.message, extensions: { code, retryable: true } };
  reportBug(cause);
  return {
    message: INTERNAL_ERROR_MESSAGE,
    ...location,
    extensions: { code: 'INTERNAL_SERVER_ERROR', retryable: false },
  };
}

/** Returns the name and stack frames of an error for the log, without its message, which may contain secrets. */
export function errorNameAndFrames(cause: unknown): object {
  if (!(cause instanceof Error)) return {};
  const stackLines = (cause.stack ?? '').split('\n');
  const frames = stackLines.filter((stackLine) => stackLine.startsWith('    at ')).map((line) => line.trim());
  return { name: cause.name, frames };
}
