import type { Clock } from '../../src/shared/clock';
import { AdvancingClock, frozenClock } from '../../src/sandbox/clock';

/** A clock that only the test moves; timers go off when it is moved past them. */
export const movedClock = (at = Date.UTC(2026, 0, 1)): AdvancingClock & Clock =>
  new AdvancingClock(frozenClock(at));
