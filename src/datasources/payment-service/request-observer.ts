import { RequestFailure, type RawResponse } from './http/http-exchange';
import type { Call } from './http/transport';
import { ServiceError } from './service-error';

/** A failed request, for the log. Contains no other part of the request or response. */
export interface RequestFailureReport {
  /** HTTP method and path below api/v1/, for example `POST payment/`. */
  call: string;
  /** Present only if the channel's credentials were rejected or are missing. */
  channel?: string;
  /** HTTP status, if there was a response. */
  status?: number;
  /** Error code, if there was no response. */
  code?: string;
  ms: number;
}

/** Callbacks for every request to the service. They must be fast and must not throw. */
export interface RequestObserver {
  /** A request failed. */
  failed(report: RequestFailureReport): void;
  /** A request ended, with or without a response. */
  ended(call: string, result: string, ms: number): void;
  /** A lookup is retried. */
  retried(): void;
}

/** Names of POST requests in metrics, by path. Paths that are not listed have the name `other`. */
const POST_NAMES: Readonly<Record<string, string>> = {
  'payment/confirm/': 'confirm_payment',
  'payment/': 'create_payment',
  'payout/': 'create_payout',
};
const LOOKUP_NAMES: Readonly<Record<string, string>> = {
  'payment/': 'lookup_payment',
  'payout/': 'lookup_payout',
};

/** Result of a request: `result` for metrics, the other fields for logs. */
export type RequestResult = { result: string } & Pick<RequestFailureReport, 'status' | 'code'>;

/** Classifies a response by its status only, because its body has not been checked yet. */
export function observedResultOfResponse({ status }: RawResponse, notFoundStatus: number): RequestResult {
  return { result: classifyStatus(status, notFoundStatus), status };
}

function classifyStatus(status: number, notFoundStatus: number): string {
  if (status < 300) return 'ok';
  if (status === 401) return 'unauthorized';
  if (status === notFoundStatus) return 'not_found';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server_error' : 'refused';
}

/** `rejected_locally`: the gateway sent nothing, because a circuit breaker is open or no slot is free. */
const RESULT_BY_REASON: Readonly<Record<RequestFailure['reason'], string>> = {
  timeout: 'timeout',
  broken: 'broken',
  'too-large': 'too_large',
  refused: 'rejected_locally',
};

export function observedResultOfFailure(failure: unknown): RequestResult {
  if (failure instanceof RequestFailure)
    return { result: RESULT_BY_REASON[failure.reason], code: failure.code };
  return { result: 'no_credentials', code: failure instanceof ServiceError ? 'NO_CREDENTIALS' : 'UNKNOWN' };
}

/** Reports the result of a request that began at `startedAt`, by `performance.now()`. */
export function reportResult(
  observer: RequestObserver,
  call: Call,
  { startedAt, result, ...facts }: RequestResult & { startedAt: number },
): void {
  const ms = performance.now() - startedAt;
  const isLookup = 'query' in call;
  observer.ended((isLookup ? LOOKUP_NAMES : POST_NAMES)[call.path] ?? 'other', result, ms);
  if (result === 'ok' || result === 'not_found') return;
  const name = `${isLookup ? 'GET' : 'POST'} ${call.path}`;
  const isChannelError = result === 'unauthorized' || result === 'no_credentials';
  const channel = isChannelError ? { channel: call.channel } : {};
  observer.failed({ call: name, ...facts, ...channel, ms: Math.round(ms) });
}
