import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { styleText } from 'node:util';

/** An output stream: of the process, or of a test. */
export interface Out {
  write(text: string): unknown;
  isTTY?: boolean;
}

const PROGRESS_INTERVAL_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** The name of a field as words: `createdAt` is `created at`. */
export const labelOf = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);

/** Writes results to standard output, and messages and progress to standard error. */
export class Terminal {
  readonly #out: Out;
  readonly #err: Out;
  #progressAt = -Infinity;
  #showsProgress = false;

  constructor(out: Out, err: Out) {
    this.#out = out;
    this.#err = err;
  }

  /** Prints a result. */
  print(text: string): void {
    this.endProgress();
    this.#out.write(`${text}\n`);
  }

  /** Prints a result as JSON. */
  printJson(value: unknown): void {
    this.print(JSON.stringify(value, null, 2));
  }

  /** Prints a message. */
  say(text: string): void {
    this.endProgress();
    this.#err.write(`${text}\n`);
  }

  /** Shows progress in one line, which the next output replaces; only on a terminal. */
  progress(text: string): void {
    if (!this.#err.isTTY || performance.now() - this.#progressAt < PROGRESS_INTERVAL_MS) return;
    this.#progressAt = performance.now();
    this.#showsProgress = true;
    this.#err.write(ERASE_LINE + text);
  }

  /** Erases the progress line. */
  endProgress(): void {
    if (this.#showsProgress) this.#err.write(ERASE_LINE);
    this.#showsProgress = false;
  }

  /** The text in a colour, where standard output is a terminal and NO_COLOR is not set. */
  styled(style: Parameters<typeof styleText>[0], text: string): string {
    return this.#out.isTTY ? styleText(style, text, { stream: process.stdout }) : text;
  }
}
