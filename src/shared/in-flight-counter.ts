/**
 * Counts pending promises. Does not keep them in a Set, because a Set holds memory for entries that were deleted
 * (docs/decisions/0014-batching-by-event-loop-turn.md).
 */
export class InFlightCounter {
  #count = 0;
  #deferredIdle: PromiseWithResolvers<void> | undefined;

  get count(): number {
    return this.#count;
  }

  /** Counts a promise as in flight until it resolves or rejects. Returns the promise. */
  track<T>(promise: Promise<T>): Promise<T> {
    this.#count += 1;
    promise.then(this.#onPromiseEnded, this.#onPromiseEnded);
    return promise;
  }

  /** Resolves when no work is in flight. */
  async waitUntilIdle(): Promise<void> {
    if (this.#count === 0) return;
    this.#deferredIdle ??= Promise.withResolvers();
    await this.#deferredIdle.promise;
  }

  readonly #onPromiseEnded = (): void => {
    this.#count -= 1;
    if (this.#count > 0) return;
    this.#deferredIdle?.resolve();
    this.#deferredIdle = undefined;
  };
}
