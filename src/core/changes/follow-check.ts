import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChangeJournal } from '../../datasources/journal/changes';
import type { Timer } from '../../shared/clock';
import type { Runtime } from '../../shared/runtime';
import type { JournalClock } from '../clocks';
import type { Snapshot } from '../polling/snapshot';

/** A response that showed a transaction. */
export interface SeenTransaction {
  found: Snapshot;
  /** Start of the request, in journal time. */
  requestedAt: number;
  /** When the response was received, in journal time. */
  observedAt: number;
}

/** Minimum time in ms between two queries, so that one checks many transactions: waking the journal's thread costs most. */
const CHECK_EVERY_MS = 100;
const MAX_QUEUED = 10_000;
/** Maximum number of ids in each of the two sets of transactions that are not followed. */
const MAX_NOT_FOLLOWED = 20_000;
/**
 * A transaction that is not followed is checked again after half of this time in ms at the earliest, and after all of it
 * at the latest: another instance may not have recorded its create before.
 */
const RECHECK_MS = 5 * 60_000;

export interface FollowCheckOptions {
  journal: Pick<ChangeJournal, 'mayBeFollowed'>;
  clock: JournalClock;
  runtime: Pick<Runtime, 'nextTurn'>;
  /** Called if the transaction may be followed, or the journal could not be read. */
  onMayBeFollowed(seen: SeenTransaction): void;
  /** Called if too many responses are queued. A later lookup shows the state again. */
  onDropped(seen: SeenTransaction): void;
}

/** Finds out whether transactions that this instance does not know are followed, many with one query. */
export class FollowCheck {
  #queued: SeenTransaction[] = [];
  #timer: Timer | undefined;
  #checking: Promise<void> | undefined;
  #checkedAt = -Infinity;
  /** Ids of transactions that are not followed: those of the current period, and those of the one before. */
  #notFollowed: readonly [current: Set<string>, previous: Set<string>] = [new Set(), new Set()];
  #periodEndsAt = -Infinity;
  /** Queries outside the async context of the request whose response was observed. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();

  constructor(private readonly options: FollowCheckOptions) {}

  /** Number of responses that are not checked yet. */
  get size(): number {
    return this.#queued.length;
  }

  /** When the oldest response that is not checked yet was received, in journal time; undefined if there is none. */
  get oldestAt(): number | undefined {
    return this.#queued[0]?.observedAt;
  }

  /** Whether the last check found that a transaction is not followed. */
  isNotFollowed(transactionId: string): boolean {
    this.#endPeriod();
    const [current, previous] = this.#notFollowed;
    return current.has(transactionId) || previous.has(transactionId);
  }

  /** Queues a response, or drops it if too many are queued. */
  add(seen: SeenTransaction): void {
    if (this.#queued.length >= MAX_QUEUED) return this.options.onDropped(seen);
    this.#queued.push(seen);
    this.#schedule();
  }

  /** Notes that a transaction is not followed. */
  addNotFollowed(transactionId: string): void {
    this.#endPeriod();
    this.#notFollowed[0].add(transactionId);
  }

  /** Forgets that a transaction is not followed. */
  forget(transactionId: string): void {
    for (const ids of this.#notFollowed) ids.delete(transactionId);
  }

  /** Resolves when everything is checked. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#checking;
    await this.#check();
  }

  #schedule(): void {
    if (this.#timer || this.#checking) return;
    const inMs = this.#checkedAt + CHECK_EVERY_MS - this.options.clock.monotonic();
    if (inMs <= 0) return this.#start();
    this.#timer = this.options.clock.after(Math.min(inMs, CHECK_EVERY_MS), () => {
      this.#timer = undefined;
      this.#start();
    });
  }

  #start(): void {
    // The other responses that are processed in this turn of the event loop are checked too.
    const check = (): Promise<void> => this.options.runtime.nextTurn().then(() => this.#check());
    this.#checking = this.#outsideRequests(check).finally(() => {
      this.#checking = undefined;
      if (this.#queued.length > 0) this.#schedule();
    });
  }

  async #check(): Promise<void> {
    const checked = this.#queued;
    if (checked.length === 0) return;
    this.#queued = [];
    this.#checkedAt = this.options.clock.monotonic();
    const ids = checked.map(({ found }) => found.transactionId);
    // If the journal fails, the responses are kept.
    const mayBeFollowed = await this.options.journal.mayBeFollowed(ids).catch(() => undefined);
    this.#endPeriod();
    const [notFollowed] = this.#notFollowed;
    checked.forEach((seen, index) => {
      if (mayBeFollowed?.[index] === false) notFollowed.add(seen.found.transactionId);
      else this.options.onMayBeFollowed(seen);
    });
  }

  /** Begins a new period if the current one has ended, and forgets the ids of the one before. */
  #endPeriod(): void {
    const now = this.options.clock.monotonic();
    const [current] = this.#notFollowed;
    if (now < this.#periodEndsAt && current.size < MAX_NOT_FOLLOWED) return;
    const isLong = now >= this.#periodEndsAt + RECHECK_MS / 2;
    this.#notFollowed = [new Set(), isLong ? new Set() : current];
    this.#periodEndsAt = now + RECHECK_MS / 2;
  }
}
