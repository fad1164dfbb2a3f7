import type { PollIntervals } from './poll-intervals';

/**
 * Intervals in ms at which callers without a subscription should poll a payment (`pollAfterMs` of the next action).
 * `payer` is for a payment that waits for the payer, `provider` for a payment that waits for the provider.
 */
export interface CallerPollIntervals {
  payer: number;
  provider: number;
}

/**
 * Minimum poll interval of callers in ms. It may be longer than the gateway's own interval, because every poll of a
 * caller causes a lookup, but subscribers share lookups.
 */
const MIN_POLL_MS = 2000;

/** Returns the poll intervals for callers: the first of the gateway's own intervals, but at least MIN_POLL_MS. */
export const callerPollIntervals = (
  schedule: Readonly<Record<keyof CallerPollIntervals, PollIntervals>>,
): CallerPollIntervals => ({
  payer: Math.max(MIN_POLL_MS, schedule.payer[0]?.everyMs ?? 0),
  provider: Math.max(MIN_POLL_MS, schedule.provider[0]?.everyMs ?? 0),
});

/** The shortest poll intervals for callers, for code that does not know the settings. */
export const SHORTEST_POLL_AFTER: CallerPollIntervals = { payer: MIN_POLL_MS, provider: MIN_POLL_MS };
