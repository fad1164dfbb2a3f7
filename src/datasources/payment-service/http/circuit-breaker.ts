import { BrokenCircuitError, BulkheadRejectedError } from 'cockatiel';
import type { Runtime } from '../../../shared/runtime';

const FIRST_OPEN_STATE_MS = 1000;
const MAX_OPEN_STATE_MS = 30_000;

type CircuitState =
  | { kind: 'closed'; failureCount: number }
  /** `openUntil`: end of the open state, in ms by the monotonic clock. `failedProbeCount`: consecutive failures. */
  | { kind: 'open'; openUntil: number; failedProbeCount: number }
  /** One request probes the service; all others wait. `probeEndPromise` resolves when the probe has ended. */
  | { kind: 'half_open'; probeEndPromise: Promise<undefined>; failedProbeCount: number };

interface CircuitBreakerOptions {
  /** The circuit breaker opens after this number of failures without a success in between. */
  failureThreshold: number;
  /**
   * Whether a request counts towards `failureThreshold`, or whether a probe has failed.
   * @param outcome what `send` of execute() resolved or rejected with
   */
  isFailure(outcome: unknown): boolean;
  runtime: Pick<Runtime, 'monotonic' | 'random'>;
}

/** Whether `send` rejected because another circuit breaker is open, or because the queue of the bulkhead is full. */
const isPolicyRejection = (error: unknown): boolean =>
  error instanceof BrokenCircuitError || error instanceof BulkheadRejectedError;

/**
 * Opens after `failureThreshold` failures without a success in between, and rejects all requests for up to 1 s. The
 * next request is a probe. If the probe fails, the breaker opens for twice as long, at most 30 s. If the probe was sent
 * and does not fail, the breaker closes. While closed, ignores errors for which `isFailure` returns false.
 */
export class CircuitBreaker {
  #state: CircuitState = { kind: 'closed', failureCount: 0 };

  constructor(private readonly options: CircuitBreakerOptions) {}

  get state(): CircuitState['kind'] {
    return this.#state.kind;
  }

  /** Runs `send`. While open, rejects with a BrokenCircuitError. While half open, first waits until the probe ends. */
  async execute<T>(send: () => Promise<T>): Promise<T> {
    const state = this.#state;
    if (state.kind === 'closed') return this.#run(send, () => this.#countFailure());
    if (state.kind === 'half_open') {
      await state.probeEndPromise;
      return this.execute(send);
    }
    if (this.options.runtime.monotonic() < state.openUntil) throw new BrokenCircuitError();
    return this.#probe(send, state.failedProbeCount);
  }

  async #probe<T>(send: () => Promise<T>, failedProbeCount: number): Promise<T> {
    const deferredProbeEnd = Promise.withResolvers<undefined>();
    this.#state = { kind: 'half_open', probeEndPromise: deferredProbeEnd.promise, failedProbeCount };
    try {
      return await this.#run(send, () => this.#open(failedProbeCount + 1));
    } catch (error) {
      // A probe that was rejected before it was sent proves nothing. The next request becomes the probe.
      if (isPolicyRejection(error)) this.#state = { kind: 'open', openUntil: 0, failedProbeCount };
      throw error;
    } finally {
      // A failed probe has opened the breaker. If the breaker is still half open, the probe has not failed.
      if (this.#state.kind === 'half_open') this.#state = { kind: 'closed', failureCount: 0 };
      deferredProbeEnd.resolve(undefined);
    }
  }

  async #run<T>(send: () => Promise<T>, onFailure: () => void): Promise<T> {
    const { isFailure } = this.options;
    try {
      const result = await send();
      if (isFailure(result)) onFailure();
      else if (this.#state.kind === 'closed') this.#state.failureCount = 0;
      return result;
    } catch (error) {
      if (isFailure(error)) onFailure();
      throw error;
    }
  }

  #countFailure(): void {
    if (this.#state.kind !== 'closed') return;
    this.#state.failureCount += 1;
    if (this.#state.failureCount >= this.options.failureThreshold) this.#open(0);
  }

  #open(failedProbeCount: number): void {
    const { runtime } = this.options;
    const openMs = Math.min(MAX_OPEN_STATE_MS, FIRST_OPEN_STATE_MS * 2 ** Math.min(failedProbeCount, 5));
    // Jitter keeps instances from probing at the same time.
    const openUntil = runtime.monotonic() + openMs * (0.75 + runtime.random() / 4);
    this.#state = { kind: 'open', openUntil, failedProbeCount };
  }
}
