import type { Clock } from '../../src/shared/clock';
import { AdvancingClock } from '../../src/sandbox/clock';

/** Returns a clock that stands still. An AdvancingClock based on it moves only if a test calls advance(). */
export const frozenClock = (at: number): Clock => ({
  now: () => at,
  monotonic: () => 0,
  after: () => ({ cancel: () => undefined }),
});

/** Returns a clock that only the test advances; timers fire when it is advanced past them. */
export const fakeClock = (at = Date.UTC(2026, 0, 1)): AdvancingClock => new AdvancingClock(frozenClock(at));
