import type { Clock } from '../../shared/clock';

/** Pings connections at an interval, with one timer for all of them. */
export class Heartbeat {
  readonly #pings = new Set<() => void>();
  #isScheduled = false;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
  ) {}

  /**
   * Adds a connection, and returns a function that removes it. `ping` sends a ping, or closes the connection if the
   * client has not responded to the previous ping.
   */
  add(ping: () => void): () => void {
    this.#pings.add(ping);
    this.#schedule();
    return () => void this.#pings.delete(ping);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.clock.after(this.intervalMs, () => {
      this.#isScheduled = false;
      for (const ping of this.#pings) ping();
      if (this.#pings.size > 0) this.#schedule();
    });
  }
}
