/** Poll intervals in ms for callers without a subscription, while a payment waits for the payer or for the provider. */
export interface CallerPollIntervals {
  payer: number;
  provider: number;
}

/** Minimum poll interval of callers in ms. Each poll of a caller causes a lookup, whereas subscribers share lookups. */
const MIN_POLL_MS = 2000;

/** Returns the poll intervals for callers: the gateway's own first poll intervals, but at least MIN_POLL_MS. */
export const callerPollIntervals = ({ payer, provider }: CallerPollIntervals): CallerPollIntervals => ({
  payer: Math.max(MIN_POLL_MS, payer),
  provider: Math.max(MIN_POLL_MS, provider),
});

/** The shortest poll intervals for callers, for code that does not know the configured intervals. */
export const SHORTEST_POLL_AFTER: CallerPollIntervals = { payer: MIN_POLL_MS, provider: MIN_POLL_MS };
