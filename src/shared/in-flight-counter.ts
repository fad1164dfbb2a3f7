/**
 * Counts what is under way. Not a Set of promises: V8 keeps what stood in one long after it was deleted
 * (docs/decisions/0014-batching-by-event-loop-turn.md).
 */
export class InFlightCounter {
  #count = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  /** Counts work until it has ended, well or not. Returns the same promise. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#count += 1;
    work.then(this.#ended, this.#ended);
    return work;
  }

  /** Resolves when nothing is under way. */
  async drained(): Promise<void> {
    if (this.#count === 0) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  readonly #ended = (): void => {
    this.#count -= 1;
    if (this.#count > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  };
}
