import { monitorEventLoopDelay } from 'node:perf_hooks';
import { OVERLOADED_ERROR } from '../graphql/http-error';

const HISTOGRAM_RESOLUTION_MS = 10;
const LAG_SAMPLE_INTERVAL_MS = 1000;

/** Rejects requests while the mean event loop delay of the last second is too high. */
export class EventLoopLagGuard {
  readonly #delayHistogram = monitorEventLoopDelay({ resolution: HISTOGRAM_RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout | undefined;
  #meanDelayMs = 0;

  /**
   * @param maxMeanDelayMs mean delay in ms above which requests are rejected; 0: requests are never rejected
   * @param onRejected called for each rejected request
   */
  constructor(
    private readonly maxMeanDelayMs: number,
    private readonly onRejected: () => void,
  ) {
    if (maxMeanDelayMs === 0) return;
    this.#delayHistogram.enable();
    this.#timer = setInterval(() => this.#updateMeanDelay(), LAG_SAMPLE_INTERVAL_MS).unref();
  }

  /** Throws a RequestError if the mean delay is too high. */
  throwIfOverloaded(): void {
    if (this.#meanDelayMs <= this.maxMeanDelayMs) return;
    this.onRejected();
    throw OVERLOADED_ERROR;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#delayHistogram.disable();
  }

  #updateMeanDelay(): void {
    const { mean } = this.#delayHistogram;
    // The mean is NaN if there was no sample: the event loop was blocked for the whole second.
    this.#meanDelayMs = Number.isNaN(mean) ? Infinity : Math.max(0, mean / 1e6 - HISTOGRAM_RESOLUTION_MS);
    this.#delayHistogram.reset();
  }
}
