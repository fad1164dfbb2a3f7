/** How long a journal may take in tests that ask much of it at once: machines are busy. */
export const PATIENT_MS = 20_000;

/** So long in gateways: a call that waited for the journal longer than its lease lasts would be taken for dead. */
export const PATIENT_GATEWAY_MS = 8_000;
