/** Polling intervals for callers that do not subscribe, in milliseconds, by whom a payment waits for. */
export interface PollAfter {
  payer: number;
  provider: number;
}

/** A poll costs a lookup for every caller, while subscribers share one. */
const LEAST_MS = 2000;

/** Polling intervals of callers from those of the gateway itself. */
export const pollAfter = ({ payer, provider }: PollAfter): PollAfter => ({
  payer: Math.max(LEAST_MS, payer),
  provider: Math.max(LEAST_MS, provider),
});

export const DEFAULT_POLL_AFTER = pollAfter({ payer: LEAST_MS, provider: LEAST_MS });
