import { TimeoutError } from '../../shared/timeout';
import { monotonicMs } from './deadline';
import { JournalUnavailable } from './journal';

/**
 * Priority of an operation. A `low` one waits until no `normal` one is queued. Its batch contains no other operation.
 */
export type Priority = 'normal' | 'low';

interface QueuedOperation<Op, Result> {
  op: Op;
  priority: Priority;
  /** Deadline of the operation: a time by `monotonicMs`. */
  deadlineMs: number;
  isTimedOut: boolean;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface BatcherOptions<Op, Result> {
  /**
   * Executes a batch atomically, and returns the results in the order of `ops`. Must not start the batch after
   * `deadlineMs`, a time by `monotonicMs`.
   */
  flush(ops: readonly Op[], deadlineMs: number): Promise<readonly Result[]>;
  /** Maximum number of operations in a batch. */
  maxBatchSize: number;
  /** Maximum number of batches in flight. */
  maxBatchesInFlight: number;
  /** Time limit of an operation in ms, including its time in the queue. The limit does not abort a batch in flight. */
  timeLimitMs: number;
  /**
   * Returns the `key` and `owner` of an operation. Operations with the same key but different owners never share a
   * batch, for example because one statement cannot write a row twice. If the function is omitted or returns null, the
   * operation can share a batch with every other `normal` operation.
   */
  batchExclusion?(op: Op): { key: string; owner: unknown } | null;
}

/**
 * Group commit: operations that arrive while `maxBatchesInFlight` batches are in flight wait, and then share the next
 * batch and its disk sync.
 */
export class Batcher<Op, Result> {
  #queue: QueuedOperation<Op, Result>[] = [];
  #batchesInFlight = 0;
  #closeResolvers: PromiseWithResolvers<void> | undefined;

  constructor(private readonly options: BatcherOptions<Op, Result>) {}

  /**
   * Queues an operation, and resolves to its result. Rejects with the error of the operation's batch, or with
   * JournalUnavailable after the time limit.
   */
  add(op: Op, priority: Priority = 'normal'): Promise<Result> {
    if (this.#closeResolvers)
      return Promise.reject(
        new JournalUnavailable(new Error('This process is shutting down and has closed its journal.')),
      );
    return new Promise((resolve, reject) => {
      const { timeLimitMs } = this.options;
      const deadlineMs = monotonicMs() + timeLimitMs;
      const queued = { op, priority, deadlineMs, isTimedOut: false, resolve, reject };
      this.#queue.push(queued);
      // setImmediate lets operations that are added in the same turn of the event loop share a batch.
      if (this.#queue.length === 1) setImmediate(() => this.#startBatches());
      // In a busy process, the timer may fire although a result has arrived. setImmediate lets Node.js read it first.
      const timeoutTimer = setTimeout(() => setImmediate(() => this.#timeOut(queued)), timeLimitMs);
      queued.resolve = (result) => (clearTimeout(timeoutTimer), resolve(result));
      queued.reject = (error) => (clearTimeout(timeoutTimer), reject(error));
    });
  }

  /** Makes later calls of add() reject with JournalUnavailable. Resolves when all earlier operations have ended. */
  close(): Promise<void> {
    this.#closeResolvers ??= Promise.withResolvers();
    this.#startBatches();
    return this.#closeResolvers.promise;
  }

  #timeOut(queued: QueuedOperation<Op, Result>): void {
    // If the operation is still queued, #startBatches() removes it from the queue before the next batch starts.
    queued.isTimedOut = true;
    queued.reject(new JournalUnavailable(new TimeoutError()));
    this.#startBatches();
  }

  #startBatches(): void {
    while (this.#batchesInFlight < this.options.maxBatchesInFlight) {
      this.#queue = this.#queue.filter(({ isTimedOut }) => !isTimedOut);
      if (this.#queue.length === 0) break;
      const batch = this.#takeBatch();
      this.#batchesInFlight += 1;
      void this.options
        .flush(
          batch.map(({ op }) => op),
          Math.min(...batch.map(({ deadlineMs }) => deadlineMs)),
        )
        .then(
          (results) => batch.forEach(({ resolve }, index) => resolve(results[index] as Result)),
          (error: unknown) => batch.forEach(({ reject }) => reject(error)),
        )
        .finally(() => {
          this.#batchesInFlight -= 1;
          this.#startBatches();
        });
    }
    if (this.#queue.length === 0 && this.#batchesInFlight === 0) this.#closeResolvers?.resolve();
  }

  #takeBatch(): QueuedOperation<Op, Result>[] {
    const { maxBatchSize, batchExclusion } = this.options;
    if (this.#queue.every(({ priority }) => priority === 'low')) return this.#queue.splice(0, 1);
    const ownerByKey = new Map<string, unknown>();
    const canJoinBatch = ({ op, priority }: QueuedOperation<Op, Result>): boolean => {
      if (priority === 'low') return false;
      const exclusion = batchExclusion?.(op);
      if (!exclusion) return true;
      if (ownerByKey.has(exclusion.key) && ownerByKey.get(exclusion.key) !== exclusion.owner) return false;
      ownerByKey.set(exclusion.key, exclusion.owner);
      return true;
    };
    const batch: QueuedOperation<Op, Result>[] = [];
    const stillQueued: QueuedOperation<Op, Result>[] = [];
    for (const queued of this.#queue)
      (batch.length < maxBatchSize && canJoinBatch(queued) ? batch : stillQueued).push(queued);
    this.#queue = stillQueued;
    return batch;
  }
}
