import type { Observation, ObservationResult } from '../../datasources/journal/changes';
import { backoffMs } from '../../shared/backoff';
import type { Timer } from '../../shared/clock';
import { InFlightCounter } from '../../shared/in-flight-counter';
import { runOutsideRequests } from '../../shared/outside-requests';
import type { JournalSession } from '../journal-session';

/**
 * `dropped`: not recorded in time, or removed because the queue is full. A later lookup finds the state, or the one
 * that has followed it.
 */
type RecordingResult = ObservationResult | 'dropped';

interface QueuedObservation {
  observation: Observation;
  onEnd(result: RecordingResult): void;
}

const MAX_QUEUED_OBSERVATIONS = 10_000;
/** Maximum number of concurrent writes of observations. The journal combines them into batches. */
const MAX_WRITES_IN_FLIGHT = 64;
/** Age in ms up to which an observation is written again if its write fails. An older one is dropped. */
const MAX_RETRY_AGE_MS = 10 * 60_000;
const RETRY_BACKOFF = { firstMs: 250, maxMs: 10_000 };

/** Bounded queue that writes observations to the journal, in order per transaction. Retries failed writes. */
export class ObservationQueue {
  /** Observations of transactions without a write in flight, by transaction. */
  readonly #waitingByTransaction = new Map<string, QueuedObservation[]>();
  /** Observations of transactions with a write in flight, by transaction. The first of each list is being written. */
  readonly #inFlightByTransaction = new Map<string, QueuedObservation[]>();
  readonly #inFlightWriteCounter = new InFlightCounter();
  #queuedCount = 0;
  #retriesSinceSuccess = 0;
  #retryTimer: Timer | undefined;

  constructor(private readonly journalSession: JournalSession) {}

  /** Number of observations that are not recorded yet. */
  get queuedCount(): number {
    return this.#queuedCount;
  }

  /** `observedAt` of the first queued observation, usually the oldest, in journal time; undefined if none is queued. */
  get oldestObservedAt(): number | undefined {
    const [first] = this.#inFlightByTransaction.values();
    const [next] = this.#waitingByTransaction.values();
    return (first?.[0] ?? next?.[0])?.observation.observedAt;
  }

  /**
   * Queues an observation. If the queue is full, drops an old one of a transaction without a write in flight, if
   * there is one.
   * @param onEnd called once with the result; must not throw
   */
  add(observation: Observation, onEnd: QueuedObservation['onEnd']): void {
    this.#queuedCount += 1;
    if (this.#queuedCount > MAX_QUEUED_OBSERVATIONS) this.#dropOldest();
    const transactionKey = `${observation.kind} ${observation.transactionId}`;
    const observations =
      this.#inFlightByTransaction.get(transactionKey) ?? this.#waitingByTransaction.get(transactionKey);
    if (observations) observations.push({ observation, onEnd });
    else this.#waitingByTransaction.set(transactionKey, [{ observation, onEnd }]);
    this.#startWrites();
  }

  /** Writes the queue immediately, even during a retry delay. Resolves when the queue is empty or the journal fails. */
  async flush(): Promise<void> {
    this.#retryTimer?.cancel();
    this.#retryTimer = undefined;
    this.#retriesSinceSuccess = 0;
    this.#startWrites();
    await this.#inFlightWriteCounter.waitUntilIdle();
  }

  #startWrites(): void {
    if (this.#retryTimer) return;
    for (const [transactionKey, observations] of this.#waitingByTransaction) {
      if (this.#inFlightByTransaction.size >= MAX_WRITES_IN_FLIGHT) return;
      this.#waitingByTransaction.delete(transactionKey);
      this.#inFlightByTransaction.set(transactionKey, observations);
      void this.#inFlightWriteCounter.track(
        runOutsideRequests(() => this.#recordFirst(transactionKey, observations)),
      );
    }
  }

  async #recordFirst(transactionKey: string, observations: QueuedObservation[]): Promise<void> {
    const [first] = observations;
    if (!first) return;
    const result = await this.journalSession.journal
      .recordObservation(first.observation)
      .catch(() => (this.#isTooOld(first) ? 'dropped' : undefined));
    this.#inFlightByTransaction.delete(transactionKey);
    if (result === undefined) this.#retryLater();
    else {
      observations.shift();
      this.#retriesSinceSuccess = 0;
      this.#finishObservation(first, result);
    }
    if (observations.length > 0) this.#waitingByTransaction.set(transactionKey, observations);
    this.#startWrites();
  }

  #isTooOld({ observation }: QueuedObservation): boolean {
    return this.journalSession.clock.now() - observation.observedAt > MAX_RETRY_AGE_MS;
  }

  #retryLater(): void {
    if (this.#retryTimer) return;
    const { clock, runtime } = this.journalSession;
    const delayMs = backoffMs(RETRY_BACKOFF, this.#retriesSinceSuccess, runtime.random());
    this.#retriesSinceSuccess += 1;
    this.#retryTimer = clock.after(delayMs, () => {
      this.#retryTimer = undefined;
      this.#startWrites();
    });
  }

  #dropOldest(): void {
    for (const [transactionKey, observations] of this.#waitingByTransaction) {
      const oldest = observations.shift();
      if (observations.length === 0) this.#waitingByTransaction.delete(transactionKey);
      if (oldest) return this.#finishObservation(oldest, 'dropped');
    }
  }

  #finishObservation({ onEnd }: QueuedObservation, result: RecordingResult): void {
    this.#queuedCount -= 1;
    onEnd(result);
  }
}
