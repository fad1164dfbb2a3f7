import { RequestFailure, type RawResponse } from './http/http-exchange';
import type { Call } from './http/transport';

/** The calls that the service knows, in words for metrics. */
export type CallName =
  'create_payment' | 'confirm_payment' | 'lookup_payment' | 'create_payout' | 'lookup_payout' | 'other';

/** What became of a call. `not_tried`: the service counts as down, or too many wait. */
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

/** Hears of calls to the service. Called for every one: it must be quick, and must not throw. */
export interface RequestObserver {
  /** A call has ended, with or without an answer. */
  ended(call: CallName, result: CallResult, ms: number): void;
  /** A lookup is about to be tried again. */
  retried(): void;
}

const NAMES: Readonly<Record<string, CallName>> = {
  'payment/confirm/': 'confirm_payment',
  'payment/': 'create_payment',
  'payout/': 'create_payout',
};
const LOOKUP_NAMES: Readonly<Record<string, CallName>> = {
  'payment/': 'lookup_payment',
  'payout/': 'lookup_payout',
};

/** What a call is for. */
export const callOf = (call: Call): CallName =>
  ('query' in call ? LOOKUP_NAMES : NAMES)[call.path] ?? 'other';

/** What an answer comes to. That a body cannot be believed is not known yet. */
export function classifyResponse({ status }: RawResponse, notFoundStatus: number): CallResult {
  if (status < 300) return 'ok';
  if (status === 401) return 'unauthorized';
  if (status === notFoundStatus) return 'not_found';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server_error' : 'refused';
}

const REASONS: Readonly<Record<RequestFailure['reason'], CallResult>> = {
  timeout: 'timeout',
  broken: 'broken',
  'too-large': 'too_large',
  refused: 'not_tried',
};

/** Why there was no answer. */
export const failureOf = (failure: unknown): CallResult =>
  failure instanceof RequestFailure ? REASONS[failure.reason] : 'no_credentials';
