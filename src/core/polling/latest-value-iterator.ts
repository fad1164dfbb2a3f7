/**
 * What one watcher waits on: the newest state it has not seen yet, and nothing older. One that is slow misses states, but
 * never the last.
 */
export class LatestValueIterator<T> implements AsyncIterableIterator<T, undefined> {
  readonly #leave: (watcher: LatestValueIterator<T>) => void;
  #unseen: { value: T } | undefined;
  #end: { error?: unknown } | undefined;
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;

  /** @param leave is told when the watcher goes by itself */
  constructor(leave: (watcher: LatestValueIterator<T>) => void) {
    this.#leave = leave;
  }

  /** Whether it was ever given a state. */
  hasValue = false;

  /** Gives it a state, in the place of one that it has not taken yet. */
  push(value: T): void {
    this.hasValue = true;
    this.#unseen = { value };
    this.#deliver();
  }

  /** Lets it end when it has taken what it was given: by itself, or with an error. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#deliver();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    this.#waiting ??= Promise.withResolvers();
    const { promise } = this.#waiting;
    this.#deliver();
    return promise;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#unseen = undefined;
    this.end();
    this.#leave(this);
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Answers who waits, where there is something to answer. */
  #deliver(): void {
    const waiting = this.#waiting;
    if (!waiting || (!this.#unseen && !this.#end)) return;
    this.#waiting = undefined;
    if (this.#unseen) {
      const { value } = this.#unseen;
      this.#unseen = undefined;
      return waiting.resolve({ done: false, value });
    }
    const error = this.#end?.error;
    if (error === undefined) return waiting.resolve({ done: true, value: undefined });
    this.#end = {};
    waiting.reject(error);
  }
}
