import type { AttemptKind } from '../datasources/journal/journal';
import type { ClockSource } from './clock-guard';
import type { FollowedUp } from './follow-ups';

/** What a look at a watched transaction came to. */
export type LookResult = 'found' | 'missing' | 'failed';

/** Hears of what happens without a caller. Must be quick, and must not throw. */
export interface OperationsListener {
  /** An unknown outcome was looked for. */
  followedUp(kind: AttemptKind, result: FollowedUp<unknown>['kind']): void;
  /** A round of the reconciler has ended: all of it was done, or the journal failed. */
  round(done: boolean): void;
  /** A clock has stepped. */
  clockStepped(source: ClockSource): void;
  /** A watch has looked at its transaction. */
  looked(kind: AttemptKind, result: LookResult): void;
}
