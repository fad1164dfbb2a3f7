/** Callers get an error within half a second when the journal is unavailable; this leaves time to send it. */
export const DEADLINE_MS = 400;

/** Time limit in ms of reads that no create waits for: lists, operator commands, metrics. */
export const READ_DEADLINE_MS = 1_500;

/** Monotonic time in ms, the same in all threads and processes of a machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
