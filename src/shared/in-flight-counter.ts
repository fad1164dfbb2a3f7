/**
 * Counts pending promises. Does not keep them in a Set, because a Set holds memory for entries that were deleted
 * (docs/decisions/0014-batching-by-event-loop-turn.md).
 */
export class InFlightCounter {
  #count = 0;
  #whenIdle: PromiseWithResolvers<void> | undefined;

  get count(): number {
    return this.#count;
  }

  /** Counts `work` as in flight until it resolves or rejects. Returns `work`. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#count += 1;
    work.then(this.#onEnded, this.#onEnded);
    return work;
  }

  /** Resolves when no work is in flight. */
  async drained(): Promise<void> {
    if (this.#count === 0) return;
    this.#whenIdle ??= Promise.withResolvers();
    await this.#whenIdle.promise;
  }

  readonly #onEnded = (): void => {
    this.#count -= 1;
    if (this.#count > 0) return;
    this.#whenIdle?.resolve();
    this.#whenIdle = undefined;
  };
}
