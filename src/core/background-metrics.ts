import type { Attempt, AttemptKind } from '../datasources/journal/journal';
import type { ClockSource } from './clock-guard';

/**
 * Result of one attempt to recover an unknown outcome. `not_sent`: nothing was created, and the key is free; `missing`: not
 * found, which proves nothing yet.
 */
export type RecoveryKind = 'found' | 'not_sent' | 'missing';

/** Result of one poll of a watched transaction. */
export type PollResult = 'found' | 'missing' | 'failed';

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
export interface BackgroundObserver {
  /** An unknown outcome was looked for. */
  onRecovery(kind: AttemptKind, result: RecoveryKind): void;
  /** An unknown outcome was found and recorded; called by one instance only. */
  onOutcomeRecovered(recovery: Recovery): void;
  /** A round of the reconciler has ended: all of it was done, or the journal failed. */
  onReconcilerRun(done: boolean): void;
  /** A clock has stepped. */
  onClockStep(source: ClockSource): void;
  /** A watch has looked at its transaction. */
  onPoll(kind: AttemptKind, result: PollResult): void;
}
