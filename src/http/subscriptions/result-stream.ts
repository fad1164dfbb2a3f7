import { createHash } from 'node:crypto';
import type { ExecutionResult, GraphQLError } from 'graphql';

/** What ended a subscription, as its caller gets it. */
export class SubscriptionError extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('The subscription has ended with an error.');
    this.name = 'StreamFault';
  }
}

interface StreamOptions {
  /** Begins; throws, or answers with errors alone, where there is nothing to stream. */
  open(): Promise<AsyncIterator<ExecutionResult> | ExecutionResult>;
  /** What a caller is told of what went wrong; several things, where the fault is an AggregateError. */
  toPublicErrors(fault: unknown): readonly GraphQLError[];
  /** The result as the caller gets it. */
  toResult(result: ExecutionResult): ExecutionResult;
  /** Hears once that it is over, and of the errors that ended it. */
  closed(errors: readonly GraphQLError[]): void;
}

type Step = IteratorResult<ExecutionResult, undefined>;

const DONE: Step = { done: true, value: undefined };

/**
 * The results of a subscription, each different from the one before. Nothing is begun before the first is asked for, and
 * leaving ends it at once, also while a result is awaited.
 */
export class ResultStream implements AsyncGenerator<ExecutionResult, undefined, void> {
  readonly #options: StreamOptions;
  #source: AsyncIterator<ExecutionResult> | undefined;
  /** Of the last result: keeping it whole would cost every watcher its size. */
  #last = '';
  #fault: unknown;
  #errors: readonly GraphQLError[] = [];
  #done = false;
  /** How many results were given out. */
  results = 0;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  async next(): Promise<Step> {
    if (this.#done) return this.#finish();
    try {
      this.#source ??= await this.#begin();
      // Left while it began: there was nothing to leave yet.
      if (this.#done) void this.#source.return?.();
      for (;;) {
        const step = await this.#source.next();
        if (step.done || this.#done) break;
        const result = this.#options.toResult(step.value);
        if (this.#isSame(result)) continue;
        this.results += 1;
        return { done: false, value: result };
      }
    } catch (fault) {
      this.#fault ??= fault;
    }
    return this.#finish();
  }

  async return(): Promise<Step> {
    this.#close();
    return DONE;
  }

  /** Ends it with an error, which whoever awaits the next result gets. */
  fail(fault: unknown): void {
    if (this.#done) return;
    this.#fault = fault;
    this.#close();
  }

  async throw(fault: unknown): Promise<Step> {
    this.fail(fault);
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #begin(): Promise<AsyncIterator<ExecutionResult>> {
    const opened = await this.#options.open();
    if ('next' in opened) return opened;
    throw new AggregateError(opened.errors ?? [], 'The subscription could not begin.');
  }

  /** Throws what ended it, once; is over from then on. */
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
    if (this.#fault !== undefined) this.#errors = this.#options.toPublicErrors(this.#fault);
    void this.#source?.return?.();
    this.#options.closed(this.#errors);
  }

  #isSame(result: ExecutionResult): boolean {
    const digest = createHash('sha1').update(JSON.stringify(result)).digest('base64');
    const isSame = digest === this.#last;
    this.#last = digest;
    return isSame;
  }
}
