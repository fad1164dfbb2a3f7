/** Iterator of one subscriber. A slow subscriber misses some of the pushed values, but never the latest one. */
export class LatestValueIterator<T> implements AsyncIterableIterator<T, undefined> {
  #pendingValue: { value: T } | undefined;
  #completion: { error?: unknown } | undefined;
  #pendingNext: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;

  /** @param onReturn called when the consumer stops iterating */
  constructor(private readonly onReturn: (iterator: LatestValueIterator<T>) => void) {}

  /** Whether at least one value was pushed. */
  hasReceivedValue = false;

  /** Delivers a value to the consumer. Replaces a value that the consumer has not received yet. */
  push(value: T): void {
    this.hasReceivedValue = true;
    this.#pendingValue = { value };
    this.#deliver();
  }

  /** Ends the iteration after the pending value was delivered. If an error is given, next() rejects with it once. */
  end(error?: unknown): void {
    this.#completion ??= error === undefined ? {} : { error };
    this.#deliver();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    this.#pendingNext ??= Promise.withResolvers();
    const { promise } = this.#pendingNext;
    this.#deliver();
    return promise;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#pendingValue = undefined;
    this.end();
    this.onReturn(this);
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #deliver(): void {
    const pendingNext = this.#pendingNext;
    if (!pendingNext || (!this.#pendingValue && !this.#completion)) return;
    this.#pendingNext = undefined;
    if (this.#pendingValue) {
      const { value } = this.#pendingValue;
      this.#pendingValue = undefined;
      return pendingNext.resolve({ done: false, value });
    }
    const error = this.#completion?.error;
    if (error === undefined) return pendingNext.resolve({ done: true, value: undefined });
    this.#completion = {};
    pendingNext.reject(error);
  }
}
