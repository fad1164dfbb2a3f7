import { hash } from 'node:crypto';
import type { ExecutionResult, GraphQLError } from 'graphql';

/** Thrown when errors have ended a subscription. `errors`: already formatted for the caller. */
export class SubscriptionError extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('The subscription has ended with an error.');
  }
}

interface ResultStreamOptions {
  /** Starts the subscription. Rejects, or returns a result that has only errors, if the start fails. */
  subscribe(): Promise<AsyncIterator<ExecutionResult> | ExecutionResult>;
  /** Formats an error for the caller. Returns several errors for an AggregateError. */
  toPublicErrors(error: unknown): readonly GraphQLError[];
  /** Formats a result for the caller. Throws an error if the subscription must end. */
  toPublicResult(result: ExecutionResult): ExecutionResult;
  /** Returns the id of the event that caused the latest result; null if the event has no id. */
  latestEventId(): string | null;
  /** Called once at the end, with the errors that ended the subscription; none if it completed or was cancelled. */
  onClosed(errors: readonly GraphQLError[]): void;
}

type IteratorStep = IteratorResult<ExecutionResult, undefined>;

const DONE_STEP: IteratorStep = { done: true, value: undefined };

/**
 * The results of a subscription. Skips a result that equals the previous one and has the same event id. The first
 * next() starts the subscription. return() ends it immediately, even while next() waits for a result.
 */
export class ResultStream implements AsyncIterableIterator<ExecutionResult, undefined, void> {
  #sourceIterator: AsyncIterator<ExecutionResult> | undefined;
  #latestResultDigest = '';
  #unreportedErrors: readonly GraphQLError[] = [];
  #isDone = false;
  /** Number of results returned by next(). */
  resultCount = 0;
  /** Id of the event that caused the latest result; null if the event has no id. */
  latestEventId: string | null = null;

  constructor(private readonly options: ResultStreamOptions) {}

  async next(): Promise<IteratorStep> {
    if (this.#isDone) return this.#finish();
    try {
      this.#sourceIterator ??= await this.#subscribe();
      // The stream may have been closed during #subscribe(): close the new subscription, too.
      if (this.#isDone) void this.#sourceIterator.return?.();
      for (;;) {
        const step = await this.#sourceIterator.next();
        if (step.done || this.#isDone) break;
        const result = this.options.toPublicResult(step.value);
        const eventId = this.options.latestEventId();
        const resultDigest = hash('sha1', JSON.stringify([eventId, result]), 'base64');
        if (resultDigest === this.#latestResultDigest) continue;
        this.#latestResultDigest = resultDigest;
        this.latestEventId = eventId;
        this.resultCount += 1;
        return { done: false, value: result };
      }
    } catch (error) {
      this.close(error);
    }
    return this.#finish();
  }

  async return(): Promise<IteratorStep> {
    this.close();
    return DONE_STEP;
  }

  /**
   * Ends the subscription. If an error is the cause, the pending call of next(), or the next one, throws a
   * SubscriptionError.
   */
  close(cause?: unknown): void {
    if (this.#isDone) return;
    this.#isDone = true;
    if (cause !== undefined) this.#unreportedErrors = this.options.toPublicErrors(cause);
    void this.#sourceIterator?.return?.();
    this.options.onClosed(this.#unreportedErrors);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #subscribe(): Promise<AsyncIterator<ExecutionResult>> {
    const resultsOrErrors = await this.options.subscribe();
    if ('next' in resultsOrErrors) return resultsOrErrors;
    throw new AggregateError(resultsOrErrors.errors ?? [], 'The subscription could not be started.');
  }

  /** Ends the stream. If errors have ended the subscription, the first call throws a SubscriptionError. */
  #finish(): IteratorStep {
    this.close();
    const errors = this.#unreportedErrors;
    this.#unreportedErrors = [];
    if (errors.length > 0) throw new SubscriptionError(errors);
    return DONE_STEP;
  }
}
