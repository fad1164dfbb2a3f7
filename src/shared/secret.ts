import { inspect } from 'node:util';

/** Replaces every value that must not be shown. */
export const REDACTED = '[redacted]';

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
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
