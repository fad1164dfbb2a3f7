import { TimeoutError } from '../../shared/timeout';
import { monotonicMs } from './deadline';
import { JournalUnavailable } from './journal';

/** `low`: written alone, and only when nothing else is queued. */
export type Priority = 'normal' | 'low';

interface Queued<Op, Result> {
  op: Op;
  priority: Priority;
  /** End of its time limit, by `monotonicMs`. */
  until: number;
  isTimedOut: boolean;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface BatcherOptions<Op, Result> {
  /** Executes a batch atomically and starts nothing after `until`; returns the results in the order of the operations. */
  flush(ops: readonly Op[], until: number): Promise<readonly Result[]>;
  maxBatch: number;
  /** Maximum number of batches in flight. */
  concurrency: number;
  /** Time limit of an operation in ms, including its time in the queue. */
  deadlineMs: number;
  /** Operations with the same key and different owners never share a batch. */
  conflictKey?(op: Op): { key: string; owner: unknown } | null;
}

/** Group commit: operations that arrive while a batch is written form the next one, so that many share one sync. */
export class Batcher<Op, Result> {
  readonly #options: BatcherOptions<Op, Result>;
  #queue: Queued<Op, Result>[] = [];
  #inFlight = 0;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: BatcherOptions<Op, Result>) {
    this.#options = options;
  }

  add(op: Op, priority: Priority = 'normal'): Promise<Result> {
    if (this.#closed) return Promise.reject(new JournalUnavailable(new Error('The journal is closed.')));
    return new Promise((resolve, reject) => {
      const { deadlineMs } = this.#options;
      const until = monotonicMs() + deadlineMs;
      const queued = { op, priority, until, isTimedOut: false, resolve, reject };
      this.#queue.push(queued);
      // Operations of the same event loop turn share the batch.
      if (this.#queue.length === 1) setImmediate(() => this.#run());
      // A result that arrived while this process was busy is read before the timeout.
      const timer = setTimeout(() => setImmediate(() => this.#timeOut(queued)), deadlineMs);
      queued.resolve = (result) => (clearTimeout(timer), resolve(result));
      queued.reject = (error) => (clearTimeout(timer), reject(error));
    });
  }

  /** Rejects later operations; resolves when all earlier ones have ended. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    this.#run();
    return this.#closed.promise;
  }

  #timeOut(queued: Queued<Op, Result>): void {
    // Removed when the next batch is taken: searching the queue for each would be quadratic.
    queued.isTimedOut = true;
    queued.reject(new JournalUnavailable(new TimeoutError()));
    this.#run();
  }

  #run(): void {
    while (this.#inFlight < this.#options.concurrency) {
      this.#queue = this.#queue.filter(({ isTimedOut }) => !isTimedOut);
      if (this.#queue.length === 0) break;
      const batch = this.#take();
      this.#inFlight += 1;
      void this.#options
        .flush(
          batch.map(({ op }) => op),
          Math.min(...batch.map(({ until }) => until)),
        )
        .then(
          (results) => batch.forEach(({ resolve }, index) => resolve(results[index] as Result)),
          (error: unknown) => batch.forEach(({ reject }) => reject(error)),
        )
        .finally(() => {
          this.#inFlight -= 1;
          this.#run();
        });
    }
    if (this.#queue.length === 0 && this.#inFlight === 0) this.#closed?.resolve();
  }

  #take(): Queued<Op, Result>[] {
    const { maxBatch, conflictKey } = this.#options;
    if (this.#queue.every(({ priority }) => priority === 'low')) return this.#queue.splice(0, 1);
    const owners = new Map<string, unknown>();
    const canJoinBatch = ({ op, priority }: Queued<Op, Result>): boolean => {
      if (priority === 'low') return false;
      const conflict = conflictKey?.(op);
      if (!conflict) return true;
      if (owners.has(conflict.key) && owners.get(conflict.key) !== conflict.owner) return false;
      owners.set(conflict.key, conflict.owner);
      return true;
    };
    const batch: Queued<Op, Result>[] = [];
    const later: Queued<Op, Result>[] = [];
    for (const queued of this.#queue)
      (batch.length < maxBatch && canJoinBatch(queued) ? batch : later).push(queued);
    this.#queue = later;
    return batch;
  }
}
