import { hash } from 'node:crypto';
import type { ExecutionResult, GraphQLError } from 'graphql';

/** A subscription has ended with these errors, which are formatted for its caller. */
export class SubscriptionError extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('The subscription has ended with an error.');
    this.name = 'SubscriptionError';
  }
}

interface StreamOptions {
  /** Subscribes. Throws, or returns a result with errors only, when that fails. */
  open(): Promise<AsyncIterator<ExecutionResult> | ExecutionResult>;
  /** Formats an error for the caller; several for an AggregateError. */
  toPublicErrors(error: unknown): readonly GraphQLError[];
  /** Formats a result for the caller. */
  toResult(result: ExecutionResult): ExecutionResult;
  /** Called once, with the errors that ended the subscription. */
  closed(errors: readonly GraphQLError[]): void;
}

type Step = IteratorResult<ExecutionResult, undefined>;

const DONE: Step = { done: true, value: undefined };

/**
 * The results of a subscription, without consecutive duplicates. It subscribes at the first next(), and return() ends it at
 * once, also while a result is awaited.
 */
export class ResultStream implements AsyncGenerator<ExecutionResult, undefined, void> {
  #source: AsyncIterator<ExecutionResult> | undefined;
  #latest = '';
  #error: unknown;
  #errors: readonly GraphQLError[] = [];
  #done = false;
  results = 0;

  constructor(private readonly options: StreamOptions) {}

  async next(): Promise<Step> {
    if (this.#done) return this.#finish();
    try {
      this.#source ??= await this.#subscribe();
      // Ended during subscribing.
      if (this.#done) void this.#source.return?.();
      for (;;) {
        const step = await this.#source.next();
        if (step.done || this.#done) break;
        const result = this.options.toResult(step.value);
        if (this.#isSame(result)) continue;
        this.results += 1;
        return { done: false, value: result };
      }
    } catch (error) {
      this.#error ??= error;
    }
    return this.#finish();
  }

  async return(): Promise<Step> {
    this.#close();
    return DONE;
  }

  /** Ends the subscription with an error, with which a pending next() rejects. */
  fail(error: unknown): void {
    if (this.#done) return;
    this.#error = error;
    this.#close();
  }

  async throw(error: unknown): Promise<Step> {
    this.fail(error);
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #subscribe(): Promise<AsyncIterator<ExecutionResult>> {
    const opened = await this.options.open();
    if ('next' in opened) return opened;
    throw new AggregateError(opened.errors ?? [], 'The subscription could not be started.');
  }

  /** Throws the errors that ended the subscription, once. */
  #finish(): Step {
    this.#close();
    const errors = this.#errors;
    this.#errors = [];
    if (errors.length > 0) throw new SubscriptionError(errors);
    return DONE;
  }

  #close(): void {
    if (this.#done) return;
    this.#done = true;
    if (this.#error !== undefined) this.#errors = this.options.toPublicErrors(this.#error);
    void this.#source?.return?.();
    this.options.closed(this.#errors);
  }

  #isSame(result: ExecutionResult): boolean {
    const digest = hash('sha1', JSON.stringify(result), 'base64');
    const isSame = digest === this.#latest;
    this.#latest = digest;
    return isSame;
  }
}
