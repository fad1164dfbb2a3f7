import { inspect } from 'node:util';

/** Text that replaces every value that must not be shown. */
export const REDACTED = '[redacted]';

/** A secret value. It appears as [redacted] when it is printed, concatenated or serialised. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

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
