import type { Attempt, TransactionKind } from '../datasources/journal/journal';
import type { Clock, Timer } from '../shared/clock';
import type { ClockName } from './clocks';

/**
 * Calls `work`, a piece of background work, and returns its promise. If tracing is on, the work gets a span of its own,
 * called `name`. `attemptId`: the attempt that the work is about.
 */
export type RunInBackgroundSpan = <T>(
  span: { name: string; attemptId?: string },
  work: () => Promise<T>,
) => Promise<T>;

/**
 * Result of one try to recover the unknown outcome of an attempt by a lookup:
 * - `found`: the attempt created the transaction that the lookup found.
 * - `not_sent`: the lookups so far prove that the attempt created nothing; its idempotency key can be used again.
 * - `missing`: the outcome is still unknown, perhaps because the lookup failed.
 */
export type RecoveryResultKind = 'found' | 'not_sent' | 'missing';

/** Result of one poll of a transaction. `missing`: the service does not have it. `failed`: the lookup failed. */
export type PollResult = 'found' | 'missing' | 'failed';

/**
 * Result of a due lookup of a followed transaction (docs/changes.md). `postponed`: the lookup was not sent, because
 * another response has just shown the transaction. `expired`: the lookup was not sent, because FOLLOW_DAYS have passed
 * since the create was recorded.
 */
type FollowLookupResult = PollResult | 'postponed' | 'expired';

/** A recovered outcome that the journal has recorded. */
interface RecoveredAttempt {
  /** The attempt before its outcome was recovered. */
  attempt: Attempt;
  outcome: 'succeeded' | 'not_sent';
  /** Null if the outcome is `not_sent`. */
  transactionId: string | null;
  /** Id of the instance that recovered the outcome. */
  instanceId: string;
}

/** Observes background work for metrics and audit. The methods must return quickly and must not throw. */
export interface BackgroundObserver {
  /** Called after each try to recover an unknown outcome. */
  onRecoveryResult(kind: TransactionKind, result: RecoveryResultKind): void;
  /**
   * Called when the journal has recorded a recovered outcome. If the journal cannot be read afterwards, several
   * instances may report the same outcome.
   */
  onOutcomeRecovered(recoveredAttempt: RecoveredAttempt): void;
  /** Called after each run of the recovery job. @param isOk false if the run failed */
  onRecoveryJobRun(isOk: boolean): void;
  onClockStep(clockName: ClockName): void;
  onPoll(kind: TransactionKind, result: PollResult): void;
  /**
   * Called when this instance has recorded a change (`isRecorded` is true), or has dropped a state that may be new
   * (`isRecorded` is false).
   */
  onRecordedOrDropped(kind: TransactionKind, status: string, isRecorded: boolean): void;
  onFollowLookup(kind: TransactionKind, result: FollowLookupResult): void;
  /**
   * Called for each change that a subscriber to `changes` receives after it has caught up with earlier changes.
   * @param ageMs time since the change was recorded
   */
  onChangeDelivered(ageMs: number): void;
}

/** Runs a job repeatedly. Each run resolves to the delay in ms before the next run. */
export class RepeatedJob {
  #timer: Timer | undefined;
  #currentRun: Promise<void> = Promise.resolve();
  #isStopped = false;

  /**
   * @param firstDelayMs delay before the first run
   * @param runJob must not reject
   */
  constructor(
    private readonly clock: Pick<Clock, 'after'>,
    firstDelayMs: number,
    private readonly runJob: () => Promise<number>,
  ) {
    this.#schedule(firstDelayMs);
  }

  /** Stops the job. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#currentRun;
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return;
    this.#timer = this.clock.after(delayMs, () => {
      this.#currentRun = this.runJob().then((nextDelayMs) => this.#schedule(nextDelayMs));
    });
  }
}
