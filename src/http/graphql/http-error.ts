import { HeaderMap } from '@apollo/server';
import { GraphQLError } from 'graphql';
import { AccessError, type AccessErrorKind } from '../../auth/caller';
import type { PublicCode, PublicExtensions } from './error-codes';

interface RequestErrorOptions {
  status: number;
  code: PublicCode;
  message: string;
  /** How long to wait before repeating the request, in milliseconds; absent if repeating does not help. */
  retryAfterMs?: number;
  headers?: Record<string, string>;
}

/** Error for a request that is rejected before any part of it is executed. */
export class RequestError extends GraphQLError {
  constructor(readonly options: RequestErrorOptions) {
    // Apollo removes `http` from the extensions.
    super(options.message, {
      extensions: {
        ...extensionsOf(options),
        http: { status: options.status, headers: new HeaderMap(Object.entries(headersOf(options))) },
      },
    });
  }

  get headers(): Record<string, string> {
    return headersOf(this.options);
  }

  /** Returns the response body, for responses that Apollo does not write. */
  body(requestId: string): object {
    const extensions: PublicExtensions = { ...extensionsOf(this.options), requestId };
    return { errors: [{ message: this.message, extensions }] };
  }
}

/** Returns the public extensions of a rejected request, without the request id. */
export const extensionsOf = ({
  code,
  retryAfterMs,
}: Pick<RequestErrorOptions, 'code' | 'retryAfterMs'>): Omit<PublicExtensions, 'requestId'> =>
  retryAfterMs === undefined ? { code, retryable: false } : { code, retryable: true, retryAfterMs };

const headersOf = ({ headers, retryAfterMs }: RequestErrorOptions): Record<string, string> => ({
  ...headers,
  ...(retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
});

const UNAUTHENTICATED = {
  code: 'UNAUTHENTICATED',
  status: 401,
  headers: { 'www-authenticate': 'Bearer realm="paygraph"' },
} as const;

const ACCESS_ERRORS: Record<AccessErrorKind, Omit<RequestErrorOptions, 'message'>> = {
  NO_CREDENTIALS: UNAUTHENTICATED,
  BAD_CREDENTIALS: UNAUTHENTICATED,
  NO_SCOPE: { code: 'FORBIDDEN', status: 403 },
  NO_CHANNEL: { code: 'FORBIDDEN', status: 403 },
  KEYS_UNAVAILABLE: { code: 'SERVICE_UNAVAILABLE', status: 503, retryAfterMs: 5000 },
};

export const toRequestError = ({ kind, message }: AccessError): RequestError =>
  new RequestError({ ...ACCESS_ERRORS[kind], message });

/** Error for an unauthenticated request whose Accept header allows the landing page. */
export const CREDENTIALS_REQUIRED = toRequestError(
  new AccessError('NO_CREDENTIALS', 'Credentials are required: Authorization: Bearer <key or token>.'),
);

export const badRequest = (message: string): RequestError =>
  new RequestError({ status: 400, code: 'BAD_REQUEST', message });

export const rateLimited = (retryAfterMs: number): RequestError =>
  new RequestError({
    status: 429,
    code: 'RATE_LIMITED',
    message: 'Rate limit exceeded; the request was not executed. Repeat it unchanged after retryAfterMs.',
    retryAfterMs,
  });

export const overloaded = (): RequestError =>
  new RequestError({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    message: 'The gateway is overloaded; the request was not executed. Repeat it unchanged.',
    retryAfterMs: 1000,
  });

/** Returns the error for a document that is rejected because of its content, not its size. */
export const invalidDocument = (message: string): RequestError =>
  new RequestError({ status: 400, code: 'GRAPHQL_VALIDATION_FAILED', message });

export const tooLarge = (message: string): RequestError =>
  new RequestError({ status: 400, code: 'OPERATION_TOO_LARGE', message });

/** Returns the error for a subscription that was sent to /graphql over HTTP. */
export const subscriptionsNotSupportedHere = (): RequestError =>
  badRequest('Send subscriptions to /graphql over WebSocket, or to /graphql/stream for server-sent events.');
