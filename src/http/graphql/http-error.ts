import { HeaderMap } from '@apollo/server';
import { GraphQLError } from 'graphql';
import type { AccessError, AccessFault } from '../../auth/caller';
import type { PublicCode, PublicExtensions } from './error-codes';

interface RefusalFacts {
  /** The HTTP status. */
  status: number;
  /** For `extensions.code`. */
  code: PublicCode;
  message: string;
  /** When it may be asked again, in milliseconds; absent where asking again does not help. */
  retryAfterMs?: number;
  headers?: Record<string, string>;
}

/** A request that is not carried out, before anything of it was. The one form in which the web server says so. */
export class RequestError extends GraphQLError {
  readonly facts: RefusalFacts;

  constructor(facts: RefusalFacts) {
    const { status, code, message, retryAfterMs } = facts;
    super(message, {
      extensions: {
        code,
        retryable: retryAfterMs !== undefined,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        // For Apollo, which takes it out again.
        http: { status, headers: new HeaderMap(Object.entries(headersOf(facts))) },
      },
    });
    this.facts = facts;
  }

  /** The headers that say the same to a client that knows HTTP only. */
  get headers(): Record<string, string> {
    return headersOf(this.facts);
  }

  /** The answer's body, where Apollo does not write it. */
  body(requestId: string): object {
    const { code, message, retryAfterMs } = this.facts;
    const again = retryAfterMs === undefined ? { retryable: false } : { retryable: true, retryAfterMs };
    const extensions: PublicExtensions = { code, ...again, requestId };
    return { errors: [{ message, extensions }] };
  }
}

const headersOf = ({ headers, retryAfterMs }: RefusalFacts): Record<string, string> => ({
  ...headers,
  ...(retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
});

interface AccessTranslation {
  code: PublicCode;
  status: number;
  retryAfterMs?: number;
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="paygraph"' };

const ACCESS_FAULTS: Record<AccessFault, AccessTranslation> = {
  NO_CREDENTIALS: { code: 'UNAUTHENTICATED', status: 401 },
  BAD_CREDENTIALS: { code: 'UNAUTHENTICATED', status: 401 },
  NO_SCOPE: { code: 'FORBIDDEN', status: 403 },
  NO_CHANNEL: { code: 'FORBIDDEN', status: 403 },
  KEYS_UNAVAILABLE: { code: 'SERVICE_UNAVAILABLE', status: 503, retryAfterMs: 5000 },
};

/** What a caller is told who is not served. */
export function accessRefusal({ kind, message }: AccessError): RequestError {
  const translation = ACCESS_FAULTS[kind];
  return new RequestError({
    ...translation,
    message,
    ...(translation.status === 401 && { headers: CHALLENGE }),
  });
}

/** A caller has asked too much in this minute. */
export const rateLimited = (retryAfterMs: number): RequestError =>
  new RequestError({
    status: 429,
    code: 'RATE_LIMITED',
    message:
      'Too much was asked in the last minute; this request was not carried out. Repeat it unchanged after retryAfterMs.',
    retryAfterMs,
  });

/** The process is late with its work. */
export const overloaded = (): RequestError =>
  new RequestError({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    message: 'The gateway has more to do than it can; this request was not carried out. Repeat it unchanged.',
    retryAfterMs: 1000,
  });

/** A document is refused for what it holds. */
export const invalidDocument = (message: string): RequestError =>
  new RequestError({ status: 400, code: 'GRAPHQL_VALIDATION_FAILED', message });

/** An operation asks for more than one operation may. */
export const tooLarge = (message: string): RequestError =>
  new RequestError({ status: 400, code: 'OPERATION_TOO_LARGE', message });

/** A subscription comes by POST or GET to where queries and mutations are answered. */
export const subscriptionsNotSupportedHere = (): RequestError =>
  new RequestError({
    status: 400,
    code: 'BAD_REQUEST',
    message: 'Subscriptions are served over WebSocket here, and as events at /graphql/stream.',
  });
