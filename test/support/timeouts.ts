/** Timeout of a journal in tests with high load on busy machines, in ms. */
export const JOURNAL_TIMEOUT_MS = 20_000;

/** The same for gateways, in ms: shorter than a lease, after which a call would be treated as dead. */
export const GATEWAY_JOURNAL_TIMEOUT_MS = 8_000;
