import { createHash } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';

interface WatchedFileOptions<T> {
  path: string;
  /** Understands the text of the file; throws an Error whose message names what is wrong, and no secret. */
  read(text: string): T;
  /** Hears of every later version: taken over, or refused, in which case the one before stays in force. */
  told(event: { taken: true } | { taken: false; why: string }): void;
}

/** How soon a change is noticed. Polling also sees files that are replaced or mounted anew, as secrets are. */
const LOOK_EVERY_MS = 1000;

/** A file that is read at once and again whenever it changes. */
export class WatchedFile<T> {
  readonly #options: WatchedFileOptions<T>;
  readonly #onChange = (): void => this.#reload();
  #seen: string;
  #value: T;

  /** Throws when the file cannot be read or understood. */
  constructor(options: WatchedFileOptions<T>) {
    this.#options = options;
    const text = readFileSync(options.path, 'utf8');
    this.#seen = digest(text);
    this.#value = options.read(text);
    watchFile(options.path, { interval: LOOK_EVERY_MS, persistent: false }, this.#onChange);
  }

  /** What the file said when it was last right. */
  get value(): T {
    return this.#value;
  }

  close(): void {
    unwatchFile(this.#options.path, this.#onChange);
  }

  #reload(): void {
    const { path, read, told } = this.#options;
    try {
      const text = readFileSync(path, 'utf8');
      const seen = digest(text);
      if (seen === this.#seen) return;
      this.#value = read(text);
      this.#seen = seen;
      told({ taken: true });
    } catch (error) {
      told({ taken: false, why: faultOfFile(error) });
    }
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** In words, why a file could not be used; JSON.parse's own message would quote it. */
export function faultOfFile(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  if (error instanceof Error && 'code' in error) return `it cannot be read (${String(error.code)})`;
  return error instanceof Error ? error.message : 'it cannot be used';
}
