/**
 * Exponential backoff up to `maxMs`, multiplied by a jitter of ±25 %, so the delay can exceed `maxMs`.
 * @param failureCount number of failures before this one; each doubles the delay
 * @param random a number from 0 (inclusive) to 1 (exclusive)
 * @returns the delay in ms
 */
export const backoffMs = (
  { firstMs, maxMs }: { firstMs: number; maxMs: number },
  failureCount: number,
  random: number,
): number => Math.min(maxMs, firstMs * 2 ** failureCount) * (0.75 + random / 2);
