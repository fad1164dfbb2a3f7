import process from 'node:process';
import { styleText } from 'node:util';

interface OutputStream {
  /** @param onWritten called when the text has been written, or with the error if the write failed */
  write(text: string, onWritten?: (error?: Error | null) => void): unknown;
  isTTY?: boolean;
}

const MIN_PROGRESS_INTERVAL_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** Returns the name of a field as a label for people: `created at` for `createdAt`. */
export const fieldLabel = (fieldName: string): string =>
  fieldName.replace(/[A-Z]/g, (capitalLetter) => ` ${capitalLetter.toLowerCase()}`);

export const isoTime = (ms: number): string => new Date(ms).toISOString();

export const isoTimeOrNull = (ms: number | null | undefined): string | null =>
  typeof ms === 'number' ? isoTime(ms) : null;

/** Writes results to standard output, and messages and progress to standard error. */
export class Terminal {
  #progressShownAt = -Infinity;
  #isShowingProgress = false;

  constructor(
    private readonly stdout: OutputStream,
    private readonly stderr: OutputStream,
  ) {}

  /** Prints a result to standard output. */
  print(text: string): void {
    this.endProgress();
    this.stdout.write(`${text}\n`);
  }

  /**
   * Prints a part of a long result to standard output, without a line end. Waits for a slow reader instead of buffering
   * the output. Resolves with false if the write failed, for example because `head` has closed the pipe.
   */
  printPart(text: string): Promise<boolean> {
    this.endProgress();
    return new Promise((resolve) => this.stdout.write(text, (error) => resolve(!error)));
  }

  printJson(value: unknown): void {
    this.print(JSON.stringify(value, null, 2));
  }

  /** Prints a message to standard error. */
  printMessage(text: string): void {
    this.endProgress();
    this.stderr.write(`${text}\n`);
  }

  /**
   * Shows a progress line on standard error until the next output. Does nothing if standard error is not a terminal, or
   * within MIN_PROGRESS_INTERVAL_MS after the previous progress line.
   */
  showProgress(text: string): void {
    if (!this.stderr.isTTY || performance.now() - this.#progressShownAt < MIN_PROGRESS_INTERVAL_MS) return;
    this.#progressShownAt = performance.now();
    this.#isShowingProgress = true;
    this.stderr.write(ERASE_LINE + text);
  }

  /** Erases the progress line, if one is shown. */
  endProgress(): void {
    if (this.#isShowingProgress) this.stderr.write(ERASE_LINE);
    this.#isShowingProgress = false;
  }

  /**
   * Adds a style, such as a colour, to a text. If standard output is not a terminal or NO_COLOR is set, returns the
   * text without a style.
   */
  styled(style: Parameters<typeof styleText>[0], text: string): string {
    return this.stdout.isTTY ? styleText(style, text, { stream: process.stdout }) : text;
  }
}
