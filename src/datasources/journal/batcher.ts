import { monotonicMs, tookTooLong } from './deadline';
import { JournalUnavailable } from './journal';

/** `low`: written alone, and only when nothing else is waiting. */
export type Priority = 'normal' | 'low';

interface Waiting<Op, Result> {
  op: Op;
  priority: Priority;
  /** When it is given up, by `monotonicMs`. */
  until: number;
  isGivenUp: boolean;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface BatcherOptions<Op, Result> {
  /** Does all of a batch, or none, and begins nothing after `until`; the results in the order of the operations. */
  flush(ops: readonly Op[], until: number): Promise<readonly Result[]>;
  maxBatch: number;
  /** How many batches may be under way at once. */
  concurrency: number;
  /** How long an operation may take, in milliseconds; then it is refused, and not begun any more. */
  deadlineMs: number;
  /** What an operation wants for somebody: of two who want the same, the later one waits for another batch. */
  conflictKey?(op: Op): { thing: string; by: unknown } | null;
}

/** Group commit: what arrives while a batch is being written goes into the next one, so that many share one sync. */
export class Batcher<Op, Result> {
  readonly #options: BatcherOptions<Op, Result>;
  #waiting: Waiting<Op, Result>[] = [];
  #underWay = 0;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: BatcherOptions<Op, Result>) {
    this.#options = options;
  }

  add(op: Op, priority: Priority = 'normal'): Promise<Result> {
    if (this.#closed) return Promise.reject(new JournalUnavailable(new Error('It is closed.')));
    return new Promise((resolve, reject) => {
      const { deadlineMs } = this.#options;
      const until = monotonicMs() + deadlineMs;
      const waiting = { op, priority, until, isGivenUp: false, resolve, reject };
      this.#waiting.push(waiting);
      // What else arrives in this turn of the event loop goes along.
      if (this.#waiting.length === 1) setImmediate(() => this.#run());
      // An answer that is there already, but was not read while this process was busy, comes first.
      const timer = setTimeout(() => setImmediate(() => this.#giveUp(waiting)), deadlineMs);
      waiting.resolve = (result) => (clearTimeout(timer), resolve(result));
      waiting.reject = (error) => (clearTimeout(timer), reject(error));
    });
  }

  /** Refuses what comes from now on; resolves when all that came before is done. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    this.#run();
    return this.#closed.promise;
  }

  #giveUp(waiting: Waiting<Op, Result>): void {
    // It is left out when the next batch is taken: searching for it would cost all that wait, each.
    waiting.isGivenUp = true;
    waiting.reject(new JournalUnavailable(tookTooLong()));
    this.#run();
  }

  #run(): void {
    while (this.#underWay < this.#options.concurrency) {
      this.#waiting = this.#waiting.filter(({ isGivenUp }) => !isGivenUp);
      if (this.#waiting.length === 0) break;
      const batch = this.#take();
      this.#underWay += 1;
      void this.#options
        .flush(
          batch.map(({ op }) => op),
          Math.min(...batch.map(({ until }) => until)),
        )
        .then(
          (results) => batch.forEach(({ resolve }, place) => resolve(results[place] as Result)),
          (error: unknown) => batch.forEach(({ reject }) => reject(error)),
        )
        .finally(() => {
          this.#underWay -= 1;
          this.#run();
        });
    }
    if (this.#waiting.length === 0 && this.#underWay === 0) this.#closed?.resolve();
  }

  #take(): Waiting<Op, Result>[] {
    const { maxBatch, conflictKey: wants } = this.#options;
    if (this.#waiting.every(({ priority }) => priority === 'low')) return this.#waiting.splice(0, 1);
    const wanted = new Map<string, unknown>();
    const mayGo = ({ op, priority }: Waiting<Op, Result>): boolean => {
      if (priority === 'low') return false;
      const want = wants?.(op);
      if (!want) return true;
      if (wanted.has(want.thing) && wanted.get(want.thing) !== want.by) return false;
      wanted.set(want.thing, want.by);
      return true;
    };
    const batch: Waiting<Op, Result>[] = [];
    const later: Waiting<Op, Result>[] = [];
    for (const waiting of this.#waiting)
      (batch.length < maxBatch && mayGo(waiting) ? batch : later).push(waiting);
    this.#waiting = later;
    return batch;
  }
}
