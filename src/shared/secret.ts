import { inspect } from 'node:util';

const HIDDEN = '[redacted]';

/** A secret inside the process: however it is printed, joined or serialised, it shows as [redacted]. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The secret itself; only for the place that hands it to its counterpart. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
