/** Timeout of a journal in tests with high load on busy machines, in ms. */
export const JOURNAL_TIMEOUT_MS = 20_000;

/** Timeout of a gateway's journal in tests, in ms: shorter than a lease, at whose end a call is treated as dead. */
export const GATEWAY_JOURNAL_TIMEOUT_MS = 8_000;

/** SERVICE_TIMEOUT_MS that does not expire on a slow machine. Tests that wait for a timeout set a shorter one. */
export const SERVICE_TIMEOUT_MS = 20_000;
