import type { Timer } from '../clock';
import type { Attempt } from '../datasources/journal/journal';
import type { Background } from './background';
import type { Finder, Transaction } from './finder';
import type { FollowUps } from './follow-ups';
import type { JournalHand } from './journal-hand';
import type { OperationsListener } from './operations-listener';

interface ReconcilerOptions {
  hand: JournalHand;
  followUps: FollowUps;
  finders: readonly Finder<Transaction>[];
  /** How long settled attempts are kept, in milliseconds. */
  keepMs: number;
  background: Background;
  /** Hears how each round has ended. */
  heard: Pick<OperationsListener, 'round'>;
}

const EVERY_MS = 1000;
const AT_A_TIME = 16;
const PURGE_EVERY_MS = 60 * 60 * 1000;

/** In the background: follows unknown outcomes up, also those of instances that died, and forgets old attempts. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  #timer: Timer | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;
  #purgeAt = 0;

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
    const { hand, followUps } = this.#options;
    try {
      await hand.withdraw();
      const due = await hand.journal.claimDue(followUps.claim(), AT_A_TIME);
      await Promise.all(due.map((attempt) => this.#follow(attempt)));
      await this.#purge();
      this.#options.heard.round(true);
    } catch {
      this.#options.heard.round(false);
    }
  }

  async #follow(attempt: Attempt): Promise<void> {
    const { finders, followUps, background } = this.#options;
    const finder = finders.find(({ kind }) => kind === attempt.kind);
    if (!finder) return;
    await background({ name: `reconcile ${attempt.kind}`, attempt: attempt.id }, () =>
      followUps.follow(attempt, finder),
    );
  }

  async #purge(): Promise<void> {
    const { hand, keepMs } = this.#options;
    const now = hand.clock.now();
    if (now < this.#purgeAt) return;
    this.#purgeAt = now + PURGE_EVERY_MS;
    await hand.journal.purge(now - keepMs);
    await this.#purgeConfirmed(now - keepMs);
  }

  /** Deletes the inputs of old confirms, step by step. */
  async #purgeConfirmed(confirmedBefore: number): Promise<void> {
    const { journal } = this.#options.hand;
    while (!this.#stopped && (await journal.purgeConfirmed(confirmedBefore)) > 0);
  }
}
