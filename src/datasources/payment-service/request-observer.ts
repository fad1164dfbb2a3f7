import { RequestFailure } from './http/http-exchange';
import { ServiceError } from './service-error';

/** A failed request, for the log. */
interface RequestFailureReport {
  /** HTTP method and path below api/v1/, for example `POST payment/`. */
  call: string;
  /** Channel of the request; present only if the credentials for the channel were rejected or are missing. */
  channel?: string;
  /** HTTP status; undefined if there was no complete response. */
  status?: number;
  /** Error code such as ECONNREFUSED; undefined if there was a complete response. */
  code?: string;
  ms: number;
}

/** Callbacks for every request to the service. They must be fast and must not throw. */
export interface RequestObserver {
  /** Called after `onEnd` if the result is neither `ok` nor `not_found`. */
  onFailure(report: RequestFailureReport): void;
  /**
   * Called after every request, and if a create got no slot. Retries after a 401 belong to the same request.
   * `requestLabel` and `resultLabel` are for metrics.
   */
  onEnd(requestLabel: string, resultLabel: string, durationMs: number): void;
  /** Called before a lookup is retried because the service is unavailable. Not called before a retry after a 401. */
  onRetry(): void;
}

/** Names of requests in metrics, by HTTP method and path. Other requests have the name `other`. */
export const LABEL_BY_METHOD_AND_PATH: Readonly<Record<string, string>> = {
  'GET payment/': 'lookup_payment',
  'GET payout/': 'lookup_payout',
  'POST payment/': 'create_payment',
  'POST payment/confirm/': 'confirm_payment',
  'POST payout/': 'create_payout',
};

/** Result of a request: `resultLabel` is for metrics, the other fields are for the log. */
export type RequestResult = { resultLabel: string } & Pick<RequestFailureReport, 'status' | 'code'>;

/** Classifies a response by its HTTP status. Ignores the body, which has not been validated yet. */
export function classifyStatus(status: number, notFoundStatus: number): RequestResult {
  if (status < 300) return { resultLabel: 'ok', status };
  if (status === 401) return { resultLabel: 'unauthorized', status };
  if (status === notFoundStatus) return { resultLabel: 'not_found', status };
  if (status === 429) return { resultLabel: 'rate_limited', status };
  return { resultLabel: status >= 500 ? 'server_error' : 'refused', status };
}

/** Classifies a request that failed without a complete response. */
export function classifyError(sendError: unknown): RequestResult {
  if (sendError instanceof RequestFailure) return { resultLabel: sendError.reason, code: sendError.code };
  if (sendError instanceof ServiceError) return { resultLabel: 'no_credentials', code: 'NO_CREDENTIALS' };
  return { resultLabel: 'internal_error', code: 'UNKNOWN' };
}
