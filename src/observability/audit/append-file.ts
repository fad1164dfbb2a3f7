import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** Several lines, whatever is in them. */
const TAIL_BYTES = 8192;
/** Only the gateway's own user reads what a new file gets. */
const MODE = 0o600;

/** Whether the current user may create a file that does not exist. */
export type FileOwner = 'anybody' | 'folder owner';

/** Why a file cannot be used, without its name. */
export class AppendError extends Error {
  constructor(readonly code: string) {
    super(code);
    this.name = 'AppendError';
  }
}

/** A file that is only ever added to, by several processes at once. Every call ends when the operating system has it. */
export class AppendFile {
  readonly #path: string;
  readonly #fd: number;
  readonly #opened: Stats;
  #size = 0;
  /** How long the file is if nobody else has written since this process did. */
  #left = 0;

  private constructor(file: string, fd: number, opened: Stats) {
    this.#path = file;
    this.#fd = fd;
    this.#opened = opened;
  }

  /**
   * Opens the file, and makes it and its folder where they are not there. Throws where that cannot be done.
   * @param owner who may make the file: anybody, or only the user that the folder belongs to, because a file of another
   * user could not be written by the gateway
   */
  static open(file: string, owner: FileOwner = 'anybody'): AppendFile {
    // One level: what else is missing is more likely a mistake in the path.
    if (!existsSync(path.dirname(file))) mkdirSync(path.dirname(file));
    // Anything else could not be read again, and some of it would hold the gateway up.
    const known = statSync(file, { throwIfNoEntry: false });
    if (known && !known.isFile()) throw new AppendError(known.isDirectory() ? 'EISDIR' : 'no regular file');
    const isFolderOwner = statSync(path.dirname(file)).uid === process.geteuid?.();
    if (!known && owner === 'folder owner' && !isFolderOwner)
      throw new AppendError('it does not exist, and its folder belongs to another user, who has to make it');
    const fd = openSync(file, 'a+', MODE);
    return new AppendFile(file, fd, fstatSync(fd));
  }

  /** Its length in bytes, as of isInPlace() and what was appended since. */
  get size(): number {
    return this.#size;
  }

  /** Whether its name still leads to it: it may have been moved away or removed. */
  isInPlace(): boolean {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    const isInPlace = found?.ino === this.#opened.ino && found.dev === this.#opened.dev;
    this.#size = isInPlace ? found.size : fstatSync(this.#fd).size;
    return isInPlace;
  }

  /** The end of the file, as of isInPlace(), where somebody else has written to it since this process did. */
  readTail(): string {
    if (this.#size === this.#left) return '';
    const bytes = Buffer.alloc(Math.min(this.#size, TAIL_BYTES));
    const read = readSync(this.#fd, bytes, 0, bytes.length, this.#size - bytes.length);
    return bytes.toString('latin1', 0, read);
  }

  /** Adds a text, as a whole or else throws; then a part of it may be at the end of the file. */
  append(text: string): void {
    const bytes = Buffer.from(text, 'latin1');
    this.#left = -1;
    // The rest is not sent after it: another process may have written behind the first part.
    if (writeSync(this.#fd, bytes) < bytes.length)
      throw new AppendError('not all of a line could be written');
    this.#size += bytes.length;
    this.#left = this.#size;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
