import type { PollIntervals } from '../../shared/poll-intervals';

/** Party that a transaction waits for, which selects its poll intervals; `done`: its state is final. */
export type Phase = 'payer' | 'provider' | 'mispaid' | 'done';

const MAX_BACKOFF_MS = 60_000;

/** Jitter of ±15 %, so that polls that began together spread out. */
const jittered = (ms: number): number => Math.round(ms * (0.85 + Math.random() * 0.3));

/**
 * The delay before the next poll, in milliseconds.
 * @param sinceChangeMs time since the last change
 * @param failures consecutive polls that have failed: exponential backoff
 */
export function nextPollDelay(intervals: PollIntervals, sinceChangeMs: number, failures: number): number {
  const step = intervals.find(({ untilMs }) => sinceChangeMs < untilMs);
  const everyMs = step?.everyMs ?? MAX_BACKOFF_MS;
  const backoffMs = failures === 0 ? 0 : Math.min(MAX_BACKOFF_MS, 1000 * 2 ** Math.min(failures - 1, 10));
  return jittered(Math.max(everyMs, backoffMs));
}
