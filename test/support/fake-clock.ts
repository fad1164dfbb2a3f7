import type { Clock } from '../../src/shared/clock';
import { AdvancingClock, frozenClock } from '../../src/sandbox/clock';

/** Returns a clock that only the test advances; timers fire when it is advanced past them. */
export const fakeClock = (at = Date.UTC(2026, 0, 1)): AdvancingClock & Clock =>
  new AdvancingClock(frozenClock(at));
