import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import type { Timer } from '../../shared/clock';
import type { JournalSession } from '../journal-session';
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
const MAX_NOT_FOLLOWED = 20_000;
/** A transaction that is not followed is checked again after this time in ms: its create may have been recorded since. */
const RECHECK_MS = 5 * 60_000;

/** Finds out whether transactions that this instance does not know are followed, many with one query. */
export class FollowCheck {
  #queued: SeenTransaction[] = [];
  #timer: Timer | undefined;
  #checking: Promise<void> | undefined;
  #checkedAt = -Infinity;
  /** Ids of transactions that are not followed. */
  readonly #notFollowed: LRUCache<string, true>;
  /** Queries outside the async context of the request whose response was observed. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();

  /**
   * @param onMayBeFollowed called if the transaction may be followed, or the journal could not be read
   * @param onDropped called if too many responses are queued; a later lookup shows the state again
   */
  constructor(
    private readonly session: JournalSession,
    private readonly onMayBeFollowed: (seen: SeenTransaction) => void,
    private readonly onDropped: (seen: SeenTransaction) => void,
  ) {
    const { clock } = session;
    this.#notFollowed = new LRUCache({
      maxSize: MAX_NOT_FOLLOWED,
      sizeCalculation: () => 1,
      ttl: RECHECK_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    });
  }

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
    return this.#notFollowed.has(transactionId);
  }

  /** Queues a response, or drops it if too many are queued. */
  add(seen: SeenTransaction): void {
    if (this.#queued.length >= MAX_QUEUED) return this.onDropped(seen);
    this.#queued.push(seen);
    this.#schedule();
  }

  /** Notes that a transaction is not followed. */
  addNotFollowed(transactionId: string): void {
    this.#notFollowed.set(transactionId, true);
  }

  /** Forgets that a transaction is not followed. */
  forget(transactionId: string): void {
    this.#notFollowed.delete(transactionId);
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
    const { clock } = this.session;
    const inMs = this.#checkedAt + CHECK_EVERY_MS - clock.monotonic();
    if (inMs <= 0) return this.#start();
    this.#timer = clock.after(Math.min(inMs, CHECK_EVERY_MS), () => {
      this.#timer = undefined;
      this.#start();
    });
  }

  #start(): void {
    // The other responses that are processed in this turn of the event loop are checked too.
    const check = (): Promise<void> => this.session.runtime.nextTurn().then(() => this.#check());
    this.#checking = this.#outsideRequests(check).finally(() => {
      this.#checking = undefined;
      if (this.#queued.length > 0) this.#schedule();
    });
  }

  async #check(): Promise<void> {
    const checked = this.#queued;
    if (checked.length === 0) return;
    this.#queued = [];
    const { journal, clock } = this.session;
    this.#checkedAt = clock.monotonic();
    const ids = checked.map(({ found }) => found.transactionId);
    // If the journal fails, the responses are kept.
    const mayBeFollowed = await journal.mayBeFollowed(ids).catch(() => undefined);
    checked.forEach((seen, index) => {
      if (mayBeFollowed?.[index] === false) this.addNotFollowed(seen.found.transactionId);
      else this.onMayBeFollowed(seen);
    });
  }
}
