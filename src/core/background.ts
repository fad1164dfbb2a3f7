import type { Attempt, AttemptKind } from '../datasources/journal/journal';
import type { Clock, Timer } from '../shared/clock';
import type { ClockSource } from './clocks';

/** Runs background work, in a span of its own if tracing is on. `attempt`: id of the attempt that the work is about. */
export type BackgroundRunner = <T>(
  span: { name: string; attempt?: string },
  work: () => Promise<T>,
) => Promise<T>;

/**
 * Result of one recovery of an unknown outcome. `not_sent`: nothing was created; the idempotency key can be used again.
 * `missing`: still unknown, because the lookup failed or showed no transaction that certainly belongs to the attempt.
 */
export type RecoveryResultKind = 'found' | 'not_sent' | 'missing';

/** Result of one poll for subscribers. `missing`: the service has no such transaction. */
export type PollResult = 'found' | 'missing' | 'failed';

/**
 * Result of a due lookup of a followed transaction (docs/changes.md). `postponed`: the lookup was not sent, because
 * another response has just shown the transaction. `expired`: the lookup was not sent, because FOLLOW_DAYS have passed
 * since the create was recorded.
 */
type FollowResult = PollResult | 'postponed' | 'expired';

/** Describes a recovered outcome that the journal has recorded. */
export interface RecoveryReport {
  /** The attempt before its outcome was recovered. */
  attempt: Attempt;
  outcome: 'succeeded' | 'not_sent';
  transactionId: string | null;
  /** Id of the instance that recovered the outcome. */
  instance: string;
}

/** Observes background work for metrics and audit. The methods must return quickly and must not throw. */
export interface BackgroundObserver {
  onRecovery(kind: AttemptKind, result: RecoveryResultKind): void;
  /** Called after an outcome was recovered and recorded. If the journal fails, two instances may report one outcome. */
  onOutcomeRecovered(report: RecoveryReport): void;
  /** Called after each run of the reconciler. @param isOk false if the run failed */
  onReconcilerRun(isOk: boolean): void;
  onClockStep(source: ClockSource): void;
  onPoll(kind: AttemptKind, result: PollResult): void;
  /** Called when this instance has recorded a change, or has dropped an observation instead (`isRecorded` is false). */
  onChange(kind: AttemptKind, status: string, isRecorded: boolean): void;
  onFollowLookup(kind: AttemptKind, result: FollowResult): void;
  /** Called when a subscriber receives a change. @param ageMs time since the change was recorded */
  onDelivered(ageMs: number): void;
}

/** Runs a job repeatedly. Each run resolves to the delay in ms before the next run. */
export class RepeatedJob {
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  /**
   * @param firstDelayMs delay before the first run
   * @param run must not reject
   */
  constructor(
    private readonly clock: Pick<Clock, 'after'>,
    firstDelayMs: number,
    private readonly run: () => Promise<number>,
  ) {
    this.#schedule(firstDelayMs);
  }

  /** Stops the job. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return;
    this.#timer = this.clock.after(delayMs, () => {
      this.#running = this.run().then((nextDelayMs) => this.#schedule(nextDelayMs));
    });
  }
}
