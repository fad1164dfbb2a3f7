import { RateLimiter, type WaitingClock } from '../../src/cli/reconcile/rate-limiter';

/** Returns a clock that jumps to the end of the earliest wait when all callers wait. */
function virtualClock(): WaitingClock & { advance(ms: number): void } {
  let now = 0;
  return {
    monotonic: () => now,
    wait: async (ms) => {
      const end = now + ms;
      await Promise.resolve();
      now = Math.max(now, end);
    },
    advance: (ms) => void (now += ms),
  };
}

const { signal } = new AbortController();

/** Takes turns one after another, with `workMs` of work after each. Returns the times of the turns. */
async function takeTurns(clock: ReturnType<typeof virtualClock>, limiter: RateLimiter, workMs: number) {
  const times: number[] = [];
  while (times.length < 100) {
    await limiter.waitForTurn(signal);
    times.push(clock.monotonic());
    clock.advance(workMs);
  }
  return times;
}

/** Returns the largest number of times within any second. */
const peak = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length));

describe('The rate limiter of reconcile', () => {
  test.each([0, 40])('allows 20 requests per second, each followed by %i ms of work', async (workMs) => {
    const clock = virtualClock();
    const times = await takeTurns(clock, new RateLimiter(clock, 20), workMs);
    // Later turns catch up with a delay of up to 100 ms.
    expect(peak(times)).toBeLessThanOrEqual(22);
    expect(times.at(-1)).toBeGreaterThanOrEqual(4800);
    expect(times.at(-1)).toBeLessThanOrEqual(5200);
  });

  test('allows no burst of requests after an idle period', async () => {
    const clock = virtualClock();
    const limiter = new RateLimiter(clock, 10);
    await limiter.waitForTurn(signal);
    clock.advance(60_000);
    const times = await takeTurns(clock, limiter, 0);
    expect(peak(times)).toBeLessThanOrEqual(11);
  });

  test('delays the next request by one interval for each request that did not wait for its turn, such as a retry', async () => {
    const clock = virtualClock();
    const limiter = new RateLimiter(clock, 10);
    await limiter.waitForTurn(signal);
    for (let retry = 0; retry < 5; retry += 1) limiter.countRequest();
    await limiter.waitForTurn(signal);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(500);
  });
});
