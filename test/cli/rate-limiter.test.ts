import { RateLimiter } from '../../src/cli/reconcile/rate-limiter';

/** Returns a rate limiter and a clock that only advance() moves. */
function limiterWithClock(perSecond: number) {
  let now = 0;
  const monotonic = (): number => now;
  const advance = (ms: number): void => void (now += ms);
  return { limiter: new RateLimiter(perSecond, { monotonic }), monotonic, advance };
}

/** Takes turns one after another, with `workMs` of work after each. Returns the times of the turns. */
function takeTurns({ limiter, monotonic, advance }: ReturnType<typeof limiterWithClock>, workMs: number) {
  const times: number[] = [];
  while (times.length < 100) {
    advance(limiter.reserveWaitMs());
    times.push(monotonic());
    advance(workMs);
  }
  return times;
}

/** Returns the largest number of times within any second. */
const peak = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length));

describe('The rate limiter of reconcile', () => {
  test.each([0, 40])('allows 20 requests per second, each followed by %i ms of work', (workMs) => {
    const times = takeTurns(limiterWithClock(20), workMs);
    // Later turns catch up with a delay of up to 100 ms.
    expect(peak(times)).toBeLessThanOrEqual(22);
    expect(times.at(-1)).toBeGreaterThanOrEqual(4800);
    expect(times.at(-1)).toBeLessThanOrEqual(5200);
  });

  test('allows no burst of requests after an idle period', () => {
    const idle = limiterWithClock(10);
    idle.limiter.reserveWaitMs();
    idle.advance(60_000);
    expect(peak(takeTurns(idle, 0))).toBeLessThanOrEqual(11);
  });

  test('delays the next request by one interval for each request that did not wait for its turn, such as a retry', () => {
    const { limiter } = limiterWithClock(10);
    for (let request = 0; request < 6; request += 1) limiter.reserveWaitMs();
    expect(limiter.reserveWaitMs()).toBeGreaterThanOrEqual(500);
  });
});
