import type { Attempt, AttemptKind } from '../datasources/journal/journal';
import type { ClockSource } from './clock-guard';

/** Runs background work in a span of its own, where tracing is on. `attempt` is the id of the attempt concerned. */
export type BackgroundRunner = <T>(
  span: { name: string; attempt?: string },
  work: () => Promise<T>,
) => Promise<T>;

export const runUntraced: BackgroundRunner = (_span, work) => work();

/** Result of one recovery of an unknown outcome. `not_sent`: nothing was created, the key is free. `missing`: not found yet. */
export type RecoveryKind = 'found' | 'not_sent' | 'missing';

/** Result of one poll for subscribers. */
export type PollResult = 'found' | 'missing' | 'failed';

/** A recovered outcome that the journal has recorded. */
export interface Recovery {
  /** The attempt before its outcome was recovered. */
  attempt: Attempt;
  outcome: 'succeeded' | 'not_sent';
  transactionId: string | null;
  /** The id of the instance that recovered it. */
  instance: string;
}

/** Observes background work for metrics and audit. Its methods return quickly and never throw. */
export interface BackgroundObserver {
  onRecovery(kind: AttemptKind, result: RecoveryKind): void;
  /** An outcome was recovered and recorded. Called by one instance only. */
  onOutcomeRecovered(recovery: Recovery): void;
  /** @param done false when the run failed */
  onReconcilerRun(done: boolean): void;
  onClockStep(source: ClockSource): void;
  onPoll(kind: AttemptKind, result: PollResult): void;
}
