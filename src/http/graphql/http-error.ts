import { HeaderMap } from '@apollo/server';
import { GraphQLError } from 'graphql';
import { AccessError, type AccessErrorKind } from '../../auth/caller';
import type { PublicErrorCode, PublicErrorExtensions } from './error-codes';

interface RequestErrorOptions {
  /** How long to wait before repeating the request, in milliseconds; absent if repeating does not help. */
  retryAfterMs?: number;
  headers?: Record<string, string>;
}

/** Error for a rejected request, with HTTP status, response headers, error code and message. */
export class RequestError extends GraphQLError {
  /** The extensions for the caller, without the request id. */
  readonly publicExtensions: Omit<PublicErrorExtensions, 'requestId'>;
  readonly headers: Record<string, string>;

  constructor(
    readonly status: number,
    readonly code: PublicErrorCode,
    message: string,
    { retryAfterMs, headers = {} }: RequestErrorOptions = {},
  ) {
    const isRetryable = retryAfterMs !== undefined;
    const allHeaders = isRetryable
      ? { ...headers, 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
      : headers;
    const publicExtensions = { code, retryable: isRetryable, ...(isRetryable && { retryAfterMs }) };
    // Apollo responds with this status and these headers, and removes `http` from the extensions.
    const http = { status, headers: new HeaderMap(Object.entries(allHeaders)) };
    super(message, { extensions: { ...publicExtensions, http } });
    this.publicExtensions = publicExtensions;
    this.headers = allHeaders;
  }

  /** Returns the body of the HTTP response. Used for responses that Apollo does not write. */
  responseBody(requestId: string): object {
    return { errors: [{ message: this.message, extensions: { ...this.publicExtensions, requestId } }] };
  }
}

const BEARER_CHALLENGE: RequestErrorOptions = { headers: { 'www-authenticate': 'Bearer realm="paygraph"' } };

const RESPONSE_BY_ACCESS_ERROR: Record<AccessErrorKind, [number, PublicErrorCode, RequestErrorOptions?]> = {
  NO_CREDENTIALS: [401, 'UNAUTHENTICATED', BEARER_CHALLENGE],
  BAD_CREDENTIALS: [401, 'UNAUTHENTICATED', BEARER_CHALLENGE],
  NO_SCOPE: [403, 'FORBIDDEN'],
  NO_CHANNEL: [403, 'FORBIDDEN'],
  KEYS_UNAVAILABLE: [503, 'SERVICE_UNAVAILABLE', { retryAfterMs: 5000 }],
};

export function toRequestError({ kind, message }: AccessError): RequestError {
  const [status, code, errorOptions] = RESPONSE_BY_ACCESS_ERROR[kind];
  return new RequestError(status, code, message, errorOptions);
}

/** Error for a GraphQL request that was not authenticated, because it looked like a request for the landing page. */
export const UNAUTHENTICATED_PAGE_REQUEST_ERROR = toRequestError(
  new AccessError('NO_CREDENTIALS', 'Credentials are required: Authorization: Bearer <key or token>.'),
);

export const badRequestError = (message: string): RequestError =>
  new RequestError(400, 'BAD_REQUEST', message);

/** Returns the error for a request that was not executed and may be repeated unchanged after a second. */
export const retryLaterError = (reason: string): RequestError =>
  new RequestError(
    503,
    'SERVICE_UNAVAILABLE',
    `${reason}; the request was not executed. Repeat it unchanged.`,
    { retryAfterMs: 1000 },
  );

export const OVERLOADED_ERROR = retryLaterError('The gateway is overloaded');
