import type { Observation, ObservationResult } from '../../datasources/journal/changes';
import { backoffMs } from '../../shared/backoff';
import type { Timer } from '../../shared/clock';
import { InFlightCounter } from '../../shared/in-flight-counter';
import { runOutsideRequests } from '../../shared/outside-requests';
import type { JournalSession } from '../journal-session';

/** `dropped`: not recorded in time, or removed because the queue is full. A later lookup shows the state again. */
type QueuedResult = ObservationResult | 'dropped';

interface QueuedObservation {
  observation: Observation;
  onEnd(result: QueuedResult): void;
}

const MAX_QUEUED = 10_000;
/** Maximum number of concurrent writes of observations. The journal combines them into batches. */
const MAX_IN_FLIGHT = 64;
/** Age in ms up to which an observation is written again if its write fails. An older one is dropped. */
const RETRY_FOR_MS = 10 * 60_000;
const RETRY_BACKOFF = { firstMs: 250, maxMs: 10_000 };

/** Bounded queue that writes observations to the journal, in order per transaction. Retries failed writes. */
export class ObservationQueue {
  /** Observations of transactions without a write in flight, by transaction. */
  readonly #waiting = new Map<string, QueuedObservation[]>();
  /** Observations of transactions with a write in flight, by transaction. The first of each list is being written. */
  readonly #inFlight = new Map<string, QueuedObservation[]>();
  readonly #writeCounter = new InFlightCounter();
  #size = 0;
  #failureCount = 0;
  #retryTimer: Timer | undefined;

  constructor(private readonly session: JournalSession) {}

  /** Number of observations that are not recorded yet. */
  get size(): number {
    return this.#size;
  }

  /** `observedAt` of the first queued observation, usually the oldest, in journal time; undefined if none is queued. */
  get oldestAt(): number | undefined {
    const [first] = this.#inFlight.values();
    const [next] = this.#waiting.values();
    return (first?.[0] ?? next?.[0])?.observation.observedAt;
  }

  /**
   * Queues an observation. If the queue is full, drops an old one that is not being written, if there is one.
   * @param onEnd called once with the result; must not throw
   */
  add(observation: Observation, onEnd: QueuedObservation['onEnd']): void {
    this.#size += 1;
    if (this.#size > MAX_QUEUED) this.#dropOldest();
    const key = `${observation.kind} ${observation.transactionId}`;
    const list = this.#inFlight.get(key) ?? this.#waiting.get(key);
    if (list) list.push({ observation, onEnd });
    else this.#waiting.set(key, [{ observation, onEnd }]);
    this.#start();
  }

  /**
   * Writes the queued observations immediately, even during a retry delay. Resolves when the queue is empty, or when
   * the journal fails.
   */
  async flush(): Promise<void> {
    this.#retryTimer?.cancel();
    this.#retryTimer = undefined;
    this.#failureCount = 0;
    this.#start();
    await this.#writeCounter.drained();
  }

  #start(): void {
    if (this.#retryTimer) return;
    for (const [key, list] of this.#waiting) {
      if (this.#inFlight.size >= MAX_IN_FLIGHT) return;
      this.#waiting.delete(key);
      this.#inFlight.set(key, list);
      void this.#writeCounter.track(runOutsideRequests(() => this.#record(key, list)));
    }
  }

  async #record(key: string, list: QueuedObservation[]): Promise<void> {
    const [first] = list;
    if (!first) return;
    const result = await this.session.journal
      .recordObservation(first.observation)
      .catch(() => (this.#isTooOld(first) ? 'dropped' : undefined));
    this.#inFlight.delete(key);
    if (result === undefined) this.#retryLater();
    else {
      list.shift();
      this.#failureCount = 0;
      this.#end(first, result);
    }
    if (list.length > 0) this.#waiting.set(key, list);
    this.#start();
  }

  #isTooOld({ observation }: QueuedObservation): boolean {
    return this.session.clock.now() - observation.observedAt > RETRY_FOR_MS;
  }

  #retryLater(): void {
    if (this.#retryTimer) return;
    const { clock, runtime } = this.session;
    const delay = backoffMs(RETRY_BACKOFF, this.#failureCount, runtime.random());
    this.#failureCount += 1;
    this.#retryTimer = clock.after(delay, () => {
      this.#retryTimer = undefined;
      this.#start();
    });
  }

  #dropOldest(): void {
    for (const [key, list] of this.#waiting) {
      const oldest = list.shift();
      if (list.length === 0) this.#waiting.delete(key);
      if (oldest) return this.#end(oldest, 'dropped');
    }
  }

  #end({ onEnd }: QueuedObservation, result: QueuedResult): void {
    this.#size -= 1;
    onEnd(result);
  }
}
