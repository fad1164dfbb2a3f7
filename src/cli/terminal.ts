import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { styleText } from 'node:util';

/** Where a command writes: a stream of the process, or one that a test reads. */
export interface Out {
  write(text: string): unknown;
  /** Whether a person looks at it. */
  isTTY?: boolean;
}

/** A line that changes faster than this is not read. */
const PROGRESS_EVERY_MS = 100;
const ERASE_LINE = '\r\u001b[K';

type Style = Parameters<typeof styleText>[0];

/** What a command says: results on standard output, everything else on standard error. */
export class Terminal {
  readonly #out: Out;
  readonly #err: Out;
  #progressAt = -Infinity;
  #showsProgress = false;

  constructor(out: Out, err: Out) {
    this.#out = out;
    this.#err = err;
  }

  /** Prints a line, or several, of the result. */
  print(text: string): void {
    this.#write(this.#out, `${text}\n`);
  }

  /** Prints a result for scripts. */
  printJson(value: unknown): void {
    this.print(JSON.stringify(value, null, 2));
  }

  /** Says something that is no result. */
  say(text: string): void {
    this.#write(this.#err, `${text}\n`);
  }

  /** Shows how far a long work is, in one line that is written over; nothing where nobody looks. */
  progress(text: string): void {
    if (!this.#err.isTTY || performance.now() - this.#progressAt < PROGRESS_EVERY_MS) return;
    this.#progressAt = performance.now();
    this.#showsProgress = true;
    this.#err.write(ERASE_LINE + text);
  }

  /** Takes the line of progress away. */
  endProgress(): void {
    if (this.#showsProgress) this.#err.write(ERASE_LINE);
    this.#showsProgress = false;
  }

  /** The text in a colour where results go to a person's terminal and NO_COLOR is not set; as it is anywhere else. */
  styled(style: Style, text: string): string {
    return this.#out.isTTY ? styleText(style, text, { stream: process.stdout }) : text;
  }

  #write(stream: Out, text: string): void {
    this.endProgress();
    stream.write(text);
  }
}
