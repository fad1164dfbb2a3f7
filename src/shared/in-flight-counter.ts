/** Counts work in flight. A Set of promises would keep deleted entries in memory (ADR 14). */
export class InFlightCounter {
  #count = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  get count(): number {
    return this.#count;
  }

  /** Counts work until its promise resolves or rejects. Returns the same promise. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#count += 1;
    work.then(this.#onEnded, this.#onEnded);
    return work;
  }

  /** Resolves when no work is in flight. */
  async drained(): Promise<void> {
    if (this.#count === 0) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  readonly #onEnded = (): void => {
    this.#count -= 1;
    if (this.#count > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  };
}
