/** Polling intervals for callers without a subscription in milliseconds, while a payment waits for the payer or provider. */
export interface PollAfter {
  payer: number;
  provider: number;
}

/** Every caller that polls causes lookups; subscribers share them. */
const MIN_MS = 2000;

/** Polling intervals for callers from those of the gateway itself. */
export const pollAfter = ({ payer, provider }: PollAfter): PollAfter => ({
  payer: Math.max(MIN_MS, payer),
  provider: Math.max(MIN_MS, provider),
});

export const DEFAULT_POLL_AFTER = pollAfter({ payer: MIN_MS, provider: MIN_MS });
