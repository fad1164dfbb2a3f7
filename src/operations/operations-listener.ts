import type { Attempt, AttemptKind } from '../datasources/journal/journal';
import type { ClockSource } from './clock-guard';
import type { FollowedUp } from './follow-ups';

/** What a look at a watched transaction came to. */
export type LookResult = 'found' | 'missing' | 'failed';

/** An outcome that recovery found and that is in the journal now. */
export interface Recovery {
  /** As it was before. */
  attempt: Attempt;
  outcome: 'succeeded' | 'not_sent';
  transactionId: string | null;
  /** The id of the instance that found it. */
  instance: string;
}

/** Hears of what happens without a caller. Must be quick, and must not throw. */
export interface OperationsListener {
  /** An unknown outcome was looked for. */
  followedUp(kind: AttemptKind, result: FollowedUp<unknown>['kind']): void;
  /** An unknown outcome was found and recorded; called by one instance only. */
  recovered(recovery: Recovery): void;
  /** A round of the reconciler has ended: all of it was done, or the journal failed. */
  round(done: boolean): void;
  /** A clock has stepped. */
  clockStepped(source: ClockSource): void;
  /** A watch has looked at its transaction. */
  looked(kind: AttemptKind, result: LookResult): void;
}
