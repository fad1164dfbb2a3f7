import { RequestFailure, type RawResponse } from './http/http-exchange';
import type { Call } from './http/transport';
import { ServiceError } from './service-error';

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
  failed(report: RequestFailureReport): void;
  /** A request ended, with or without a response. */
  ended(call: string, result: string, ms: number): void;
  /** A lookup is retried. */
  retried(): void;
}

/** Names of requests in metrics; all others are `other`. */
const POSTS: Readonly<Record<string, string>> = {
  'payment/confirm/': 'confirm_payment',
  'payment/': 'create_payment',
  'payout/': 'create_payout',
};
const LOOKUPS: Readonly<Record<string, string>> = {
  'payment/': 'lookup_payment',
  'payout/': 'lookup_payout',
};

/** `result`: how a request ended, for metrics. */
export type RequestEnd = { result: string } & Pick<RequestFailureReport, 'status' | 'code'>;

/** Whether the body can be believed is not known yet. */
export function endOfResponse({ status }: RawResponse, notFoundStatus: number): RequestEnd {
  return { result: classifyStatus(status, notFoundStatus), status };
}

function classifyStatus(status: number, notFoundStatus: number): string {
  if (status < 300) return 'ok';
  if (status === 401) return 'unauthorized';
  if (status === notFoundStatus) return 'not_found';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server_error' : 'refused';
}

/** `rejected_locally`: a circuit breaker is open, or too many requests are queued. */
const RESULTS: Readonly<Record<RequestFailure['reason'], string>> = {
  timeout: 'timeout',
  broken: 'broken',
  'too-large': 'too_large',
  refused: 'rejected_locally',
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
  observer.failed({ call: name, ...facts, ...channel, ms: Math.round(ms) });
}
