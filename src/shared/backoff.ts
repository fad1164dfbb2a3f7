/**
 * Exponential backoff: returns the delay in ms before the next attempt. The delay is `firstMs`, doubled for each
 * earlier failure, and at most `maxMs`. It is then multiplied by a random factor from 0.75 to 1.25, so the result can
 * exceed `maxMs`.
 * @param earlierFailureCount number of failures before the current one; 0 at the first failure
 * @param randomFraction a number from 0 (inclusive) to 1 (exclusive)
 */
export const backoffMs = (
  { firstMs, maxMs }: { firstMs: number; maxMs: number },
  earlierFailureCount: number,
  randomFraction: number,
): number => Math.min(maxMs, firstMs * 2 ** earlierFailureCount) * (0.75 + randomFraction / 2);
