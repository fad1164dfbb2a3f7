import type { Timer } from '../../shared/clock';
import type { Attempt, AttemptKind } from '../../datasources/journal/journal';
import type { BackgroundObserver, BackgroundRunner } from '../background';
import type { ClockGuard } from '../clock-guard';
import type { TransactionMatcher, Transaction } from './transaction-matcher';
import type { OutcomeRecovery } from './outcome-recovery';
import type { JournalSession } from '../journal-session';

interface ReconcilerOptions {
  session: JournalSession;
  clockGuard: ClockGuard;
  recovery: OutcomeRecovery;
  matchers: Readonly<Record<AttemptKind, TransactionMatcher<Transaction>>>;
  background: BackgroundRunner;
  observer: Pick<BackgroundObserver, 'onReconcilerRun'>;
}

/** Pause in ms after a run. */
const RUN_DELAY_MS = 1000;
const MAX_ATTEMPTS_PER_RUN = 16;

/** Recovers unknown outcomes in the background, including those of instances that died. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#schedule();
  }

  #schedule(): void {
    this.#timer = this.#options.session.clock.after(RUN_DELAY_MS, () => {
      this.#running = this.#run().finally(() => {
        if (!this.#stopped) this.#schedule();
      });
    });
  }

  /** Starts no further run. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  /** Never rejects: after a failure of the journal or the service, the next run tries again. */
  async #run(): Promise<void> {
    const { session, clockGuard, recovery, matchers, background, observer } = this.#options;
    const recover = (attempt: Attempt): Promise<unknown> =>
      background({ name: `reconcile ${attempt.kind}`, attempt: attempt.id }, () =>
        recovery.recover(attempt, matchers[attempt.kind]),
      );
    try {
      clockGuard.check();
      await session.clock.synchronize();
      await session.flushUnrecorded();
      const due = await session.journal.claimDue(recovery.newClaim(), MAX_ATTEMPTS_PER_RUN);
      await Promise.all(due.map(recover));
      observer.onReconcilerRun(true);
    } catch {
      observer.onReconcilerRun(false);
    }
  }
}
