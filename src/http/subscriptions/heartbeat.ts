import type { Clock } from '../../shared/clock';

/** A connection that is asked from time to time whether anybody is there. */
export interface Pingable {
  /** Asks; or ends the connection where the last question was not answered. */
  beat(): void;
}

/** One pulse for all connections, however many there are. */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #connections = new Set<Pingable>();
  #isBeating = false;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Takes a connection in. Returns how to let it go. */
  add(connection: Pingable): () => void {
    this.#connections.add(connection);
    if (!this.#isBeating) this.#beatLater();
    return () => void this.#connections.delete(connection);
  }

  #beatLater(): void {
    this.#isBeating = true;
    this.#clock.after(this.#everyMs, () => {
      this.#isBeating = false;
      for (const connection of this.#connections) connection.beat();
      if (this.#connections.size > 0) this.#beatLater();
    });
  }
}
