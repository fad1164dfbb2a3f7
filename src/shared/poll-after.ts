/** Poll intervals in ms for callers without a subscription. `payer`, `provider`: whom the payment waits for. */
export interface CallerPollIntervals {
  payer: number;
  provider: number;
}

/** Minimum poll interval of callers in ms. Every poll of a caller causes a lookup, but subscribers share lookups. */
const MIN_POLL_MS = 2000;

/** Returns the poll intervals for callers: the gateway's own first poll intervals, but at least MIN_POLL_MS. */
export const callerPollIntervals = ({ payer, provider }: CallerPollIntervals): CallerPollIntervals => ({
  payer: Math.max(MIN_POLL_MS, payer),
  provider: Math.max(MIN_POLL_MS, provider),
});

/** The shortest poll intervals for callers, for code that does not know the settings. */
export const SHORTEST_POLL_AFTER: CallerPollIntervals = { payer: MIN_POLL_MS, provider: MIN_POLL_MS };
