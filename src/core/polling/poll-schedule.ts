import { ServiceError } from '../../datasources/payment-service/service-error';
import type { PollIntervals } from '../../shared/poll-intervals';

/**
 * Phase of a transaction, which selects its poll intervals. `payer` and `provider`: whom the transaction waits for.
 * `mispaid`: its status is MISPAID. `done`: its status is final, so it is not polled any more.
 */
export type PollPhase = 'payer' | 'provider' | 'mispaid' | 'done';

const MAX_BACKOFF_MS = 60_000;
/** Maximum result of retryAfterMsOf() in ms. Longer delays are reduced to it. */
const MAX_RETRY_AFTER_MS = 300_000;
/** Minimum delay before the next lookup of a followed transaction, as a fraction of the time since its last change. */
const MIN_FOLLOW_DELAY_FRACTION = 1 / 60;

/**
 * Returns the delay before the next poll in milliseconds, with jitter.
 * @param sinceChangeMs time since the last change of the transaction
 * @param failureCount number of consecutive failed polls. The first makes the delay at least 1 s before jitter; each
 * further one doubles this minimum, up to MAX_BACKOFF_MS.
 * @param randomFraction number from 0 (inclusive) to 1 (exclusive), for the jitter
 */
export function nextPollDelayMs(
  pollIntervals: PollIntervals,
  sinceChangeMs: number,
  failureCount: number,
  randomFraction: number,
): number {
  const step = pollIntervals.find(({ untilMs }) => sinceChangeMs < untilMs);
  const everyMs = step?.everyMs ?? MAX_BACKOFF_MS;
  const failureDelayMs = failureCount === 0 ? 0 : Math.min(MAX_BACKOFF_MS, 1000 * 2 ** (failureCount - 1));
  // Jitter of ±15 %, so that polls that began at the same time spread out.
  return Math.round(Math.max(everyMs, failureDelayMs) * (0.85 + randomFraction * 0.3));
}

/**
 * Returns the delay in ms before the next lookup of a followed transaction. It is the delay that nextPollDelayMs()
 * returns for the same parameters, but at least MIN_FOLLOW_DELAY_FRACTION of the time since the last change.
 */
export function nextFollowDelayMs(
  pollIntervals: PollIntervals,
  sinceChangeMs: number,
  failureCount: number,
  randomFraction: number,
): number {
  const clampedSinceChangeMs = Math.max(0, sinceChangeMs);
  return Math.max(
    nextPollDelayMs(pollIntervals, clampedSinceChangeMs, failureCount, randomFraction),
    Math.round(clampedSinceChangeMs * MIN_FOLLOW_DELAY_FRACTION),
  );
}

/**
 * Returns the minimum delay in ms between a failed lookup and the next one: `retryAfterMs` of the ServiceError (the
 * service's Retry-After or a default), up to MAX_RETRY_AFTER_MS. 0 if the error has none.
 */
export const retryAfterMsOf = (error: unknown): number =>
  Math.min(error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0, MAX_RETRY_AFTER_MS);
