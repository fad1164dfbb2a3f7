import { RequestFailure, type RawResponse } from './http/http-exchange';
import type { Call } from './http/transport';
import { ServiceError } from './service-error';

/** Names of requests for metrics. */
export type CallName =
  'create_payment' | 'confirm_payment' | 'lookup_payment' | 'create_payout' | 'lookup_payout' | 'other';

/** `not_tried`: a circuit breaker is open, or too many requests are queued. */
export type CallResult =
  | 'ok'
  | 'not_found'
  | 'unauthorized'
  | 'rate_limited'
  | 'refused'
  | 'server_error'
  | 'timeout'
  | 'broken'
  | 'too_large'
  | 'not_tried'
  | 'no_credentials';

/** A failed request, for the log. Holds nothing else of request or response. */
export interface RequestFailureReport {
  /** Method, and path below api/v1/. */
  call: string;
  /** The channel when its credentials were rejected or are missing. */
  channel?: string;
  /** The HTTP status when there was a response. */
  status?: number;
  /** The error code when there was none. */
  code?: string;
  ms: number;
}

/** Called for every request: must be fast and must not throw. */
export interface RequestObserver {
  /** A request failed. */
  fault(report: RequestFailureReport): void;
  /** A request ended, with or without a response. */
  ended(call: CallName, result: CallResult, ms: number): void;
  /** A lookup is retried. */
  retried(): void;
}

const POSTS: Readonly<Record<string, CallName>> = {
  'payment/confirm/': 'confirm_payment',
  'payment/': 'create_payment',
  'payout/': 'create_payout',
};
const LOOKUPS: Readonly<Record<string, CallName>> = {
  'payment/': 'lookup_payment',
  'payout/': 'lookup_payout',
};

export type RequestEnd = { result: CallResult } & Pick<RequestFailureReport, 'status' | 'code'>;

/** Whether the body can be believed is not known yet. */
export function endOfResponse({ status }: RawResponse, notFoundStatus: number): RequestEnd {
  return { result: classifyStatus(status, notFoundStatus), status };
}

function classifyStatus(status: number, notFoundStatus: number): CallResult {
  if (status < 300) return 'ok';
  if (status === 401) return 'unauthorized';
  if (status === notFoundStatus) return 'not_found';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server_error' : 'refused';
}

const RESULTS: Readonly<Record<RequestFailure['reason'], CallResult>> = {
  timeout: 'timeout',
  broken: 'broken',
  'too-large': 'too_large',
  refused: 'not_tried',
};

export function endOfFailure(failure: unknown): RequestEnd {
  if (failure instanceof RequestFailure) return { result: RESULTS[failure.reason], code: failure.code };
  return { result: 'no_credentials', code: failure instanceof ServiceError ? 'NO_CREDENTIALS' : 'UNKNOWN' };
}

/** Reports a request that began at `startedAt` by `performance.now()`. */
export function reportEnd(
  observer: RequestObserver,
  call: Call,
  { startedAt, result, ...facts }: RequestEnd & { startedAt: number },
): void {
  const ms = performance.now() - startedAt;
  const isLookup = 'query' in call;
  observer.ended((isLookup ? LOOKUPS : POSTS)[call.path] ?? 'other', result, ms);
  if (result === 'ok' || result === 'not_found') return;
  const name = `${isLookup ? 'GET' : 'POST'} ${call.path}`;
  const isChannelError = result === 'unauthorized' || result === 'no_credentials';
  const channel = isChannelError ? { channel: call.channel } : {};
  observer.fault({ call: name, ...facts, ...channel, ms: Math.round(ms) });
}
