import type { Timer } from '../../shared/clock';
import { lazyLruCache } from '../../shared/lazy-lru-cache';
import { runOutsideRequests } from '../../shared/outside-requests';
import type { Observation } from '../../datasources/journal/changes';
import type { JournalSession } from '../journal-session';
import type { PollPhase } from '../polling/poll-schedule';

/** An observation with the poll phase. Does not refer to the response itself, to save memory in queues. */
export interface ObservationWithPhase extends Observation {
  phase: PollPhase;
}

/**
 * Minimum time in ms between two queries of the journal. One query checks all queued transactions, because a query for
 * each of them would wake the thread of a SQLite journal too often.
 */
const MIN_CHECK_GAP_MS = 100;
const MAX_QUEUED_OBSERVATIONS = 10_000;
const MAX_NOT_FOLLOWED_IDS = 20_000;
/** Time in ms after which a transaction that was not followed is checked again. Its create may be recorded by then. */
const NOT_FOLLOWED_TTL_MS = 5 * 60_000;

/** Discards states of transactions that are not followed (docs/changes.md). Asks the journal about them in batches. */
export class FollowedFilter {
  #queuedObservations: ObservationWithPhase[] = [];
  #checkTimer: Timer | undefined;
  #checkInFlight: Promise<void> | undefined;
  #lastCheckAtMonotonic = -Infinity;
  /** When the journal reported transactions as not followed, by transaction id. Times are by the monotonic clock. */
  readonly #notFollowedAtById = lazyLruCache<string, number>(MAX_NOT_FOLLOWED_IDS);

  /**
   * @param onPassed called with each state whose transaction may be followed; if the journal fails, with every
   * state
   * @param onOverflow called with a state that is dropped because the queue is full; a later lookup shows it again
   */
  constructor(
    private readonly journalSession: JournalSession,
    private readonly onPassed: (observation: ObservationWithPhase) => void,
    private readonly onOverflow: (observation: ObservationWithPhase) => void,
  ) {}

  get queuedCount(): number {
    return this.#queuedObservations.length;
  }

  /** Journal time at which the oldest queued state was received; undefined if none is queued. */
  get oldestObservedAt(): number | undefined {
    return this.#queuedObservations[0]?.observedAt;
  }

  /** Whether the journal has reported, within the last NOT_FOLLOWED_TTL_MS, that a transaction is not followed. */
  isNotFollowed(transactionId: string): boolean {
    const notFollowedAt = this.#notFollowedAtById.peek(transactionId) ?? -Infinity;
    return this.journalSession.clock.monotonic() - notFollowedAt <= NOT_FOLLOWED_TTL_MS;
  }

  /** Queues a state, or drops it if too many are queued. */
  enqueue(observation: ObservationWithPhase): void {
    if (this.#queuedObservations.length >= MAX_QUEUED_OBSERVATIONS) return this.onOverflow(observation);
    this.#queuedObservations.push(observation);
    this.#scheduleCheck();
  }

  cacheNotFollowed(transactionId: string): void {
    this.#notFollowedAtById.set(transactionId, this.journalSession.clock.monotonic());
  }

  /** Forgets that a transaction was not followed, so that its next response is checked again. */
  forgetNotFollowed(transactionId: string): void {
    this.#notFollowedAtById.delete(transactionId);
  }

  /** Checks the queued states immediately. Resolves when all are checked. */
  async flush(): Promise<void> {
    this.#checkTimer?.cancel();
    this.#checkTimer = undefined;
    await this.#checkInFlight;
    await this.#checkQueued();
  }

  #scheduleCheck(): void {
    if (this.#checkTimer || this.#checkInFlight) return;
    const { clock } = this.journalSession;
    const delayMs = this.#lastCheckAtMonotonic + MIN_CHECK_GAP_MS - clock.monotonic();
    if (delayMs <= 0) return this.#startCheck();
    this.#checkTimer = clock.after(Math.min(delayMs, MIN_CHECK_GAP_MS), () => {
      this.#checkTimer = undefined;
      this.#startCheck();
    });
  }

  #startCheck(): void {
    // Waits one turn of the event loop, so that all responses received in this turn share one query.
    const check = (): Promise<void> => this.journalSession.runtime.nextTurn().then(() => this.#checkQueued());
    this.#checkInFlight = runOutsideRequests(check).finally(() => {
      this.#checkInFlight = undefined;
      if (this.#queuedObservations.length > 0) this.#scheduleCheck();
    });
  }

  async #checkQueued(): Promise<void> {
    const batch = this.#queuedObservations;
    if (batch.length === 0) return;
    this.#queuedObservations = [];
    const { journal, clock } = this.journalSession;
    this.#lastCheckAtMonotonic = clock.monotonic();
    const transactionIds = batch.map(({ transactionId }) => transactionId);
    // If the journal fails, every transaction of the batch is treated as possibly followed.
    const mayBeFollowedByIndex = await journal.mayBeFollowed(transactionIds).catch(() => undefined);
    batch.forEach((observation, index) => {
      if (mayBeFollowedByIndex?.[index] === false) this.cacheNotFollowed(observation.transactionId);
      else this.onPassed(observation);
    });
  }
}
