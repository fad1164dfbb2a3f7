import type { Timer } from '../../shared/clock';
import type { Attempt } from '../../datasources/journal/journal';
import type { BackgroundRunner } from '../background-runner';
import type { ClockGuard } from '../clock-guard';
import type { TransactionMatcher, Transaction } from './transaction-matcher';
import type { OutcomeRecovery } from './outcome-recovery';
import type { JournalSession } from '../journal-session';
import type { BackgroundObserver } from '../background-metrics';

interface ReconcilerOptions {
  hand: JournalSession;
  clocks: ClockGuard;
  followUps: OutcomeRecovery;
  finders: readonly TransactionMatcher<Transaction>[];
  background: BackgroundRunner;
  /** Hears how each round has ended. */
  heard: Pick<BackgroundObserver, 'onReconcilerRun'>;
}

const EVERY_MS = 1000;
const AT_A_TIME = 16;

/** In the background: follows unknown outcomes up, also those of instances that died. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  #timer: Timer | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = this.#options.hand.clock.after(EVERY_MS, () => {
      this.#round = this.#run().finally(() => {
        if (!this.#stopped) this.start();
      });
    });
  }

  /** Starts no more rounds, and resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#round;
  }

  /** One round. Never throws: where the journal or the service fails, the next round tries again. */
  async #run(): Promise<void> {
    const { hand, followUps, clocks } = this.#options;
    try {
      clocks.check();
      await hand.clock.synchronize();
      await hand.flushUnrecorded();
      const due = await hand.journal.claimDue(followUps.claim(), AT_A_TIME);
      await Promise.all(due.map((attempt) => this.#follow(attempt)));
      this.#options.heard.onReconcilerRun(true);
    } catch {
      this.#options.heard.onReconcilerRun(false);
    }
  }

  async #follow(attempt: Attempt): Promise<void> {
    const { finders, followUps, background } = this.#options;
    const finder = finders.find(({ kind }) => kind === attempt.kind);
    if (!finder) return;
    await background({ name: `reconcile ${attempt.kind}`, attempt: attempt.id }, () =>
      followUps.recover(attempt, finder),
    );
  }
}
