import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
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
import { DatabaseSync } from 'node:sqlite';

/** Permissions of a new file. */
const MODE = 0o600;
/** How long a writer waits for the others, in milliseconds. A line takes about 0.1 ms. */
const LOCK_TIMEOUT_MS = 2000;

/** Users that may create the file: any, or only the owner of its folder. */
export type FileOwner = 'anybody' | 'folder owner';

/** An error with a reason that does not contain the path. */
const errorWith = (code: string): Error => Object.assign(new Error(code), { code });

/** Creates one folder: if more are missing, the path is probably wrong. */
function createFolderOf(file: string): void {
  if (!existsSync(path.dirname(file))) mkdirSync(path.dirname(file));
}

/** An append-only file. */
export class AuditFile {
  readonly #path: string;
  readonly #fd: number;
  readonly #opened: Stats;

  private constructor(file: string, fd: number) {
    this.#path = file;
    this.#fd = fd;
    this.#opened = fstatSync(fd);
  }

  /**
   * Opens the file; creates it and its folder if needed. Throws where that is not possible.
   * @param owner `folder owner`: another user may not create the file, because the gateway could not write to it
   */
  static open(file: string, owner: FileOwner): AuditFile {
    createFolderOf(file);
    // Anything else cannot be read again, and opening a FIFO would block.
    const known = statSync(file, { throwIfNoEntry: false });
    if (known && !known.isFile()) throw errorWith(known.isDirectory() ? 'EISDIR' : 'no regular file');
    const isFolderOwner = statSync(path.dirname(file)).uid === process.geteuid?.();
    if (!known && owner === 'folder owner' && !isFolderOwner)
      throw errorWith('it does not exist, and only the owner of its folder may create it');
    return new AuditFile(file, openSync(file, 'a+', MODE));
  }

  /** Length in bytes. */
  get size(): number {
    return fstatSync(this.#fd).size;
  }

  /** Whether the path still leads to this file. */
  isInPlace(): boolean {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    return found?.ino === this.#opened.ino && found.dev === this.#opened.dev;
  }

  /** The bytes before a position, as latin1; fewer where the file is shorter. */
  readBefore(end: number, length: number): string {
    const start = Math.max(0, end - length);
    const bytes = Buffer.alloc(end - start);
    return bytes.toString('latin1', 0, readSync(this.#fd, bytes, 0, bytes.length, start));
  }

  /** Appends a text with one write. Throws where not all of it was written; a part may then be in the file. */
  append(text: string): void {
    if (writeSync(this.#fd, text, null, 'latin1') < text.length)
      throw errorWith('a line was written partially');
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Gives another file the owner and the permissions of this one, as far as this process may. */
  copyAccessTo(fd: number): void {
    const { uid, gid, mode } = this.#opened;
    try {
      fchmodSync(fd, mode & 0o777);
      fchownSync(fd, process.geteuid?.() === 0 ? uid : -1, gid);
    } catch {
      // Only the owner may, and has done so.
    }
  }
}

/**
 * Lets one process at a time write to an audit log. The lock is SQLite's on an empty file in the same folder, because the
 * operating system releases it when a process dies.
 */
export class WriterLock {
  readonly #path: string;
  #inode: number | undefined;
  #database: DatabaseSync | undefined;

  /** @param file the audit log */
  constructor(file: string) {
    this.#path = path.join(path.dirname(file), `.${path.basename(file)}.lock`);
  }

  /** Runs a function while no other writer does. Throws after a timeout. */
  hold<T>(file: AuditFile, write: () => T): T {
    const inode = statSync(this.#path, { throwIfNoEntry: false })?.ino;
    const database =
      this.#database && inode !== undefined && inode === this.#inode ? this.#database : this.#open(file);
    database.exec('BEGIN EXCLUSIVE');
    try {
      return write();
    } finally {
      database.exec('ROLLBACK');
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  #open(file: AuditFile): DatabaseSync {
    this.close();
    // The folder may have been removed with the file.
    createFolderOf(this.#path);
    const fd = openSync(this.#path, 'a', MODE);
    file.copyAccessTo(fd);
    this.#inode = fstatSync(fd).ino;
    closeSync(fd);
    this.#database = new DatabaseSync(this.#path, { timeout: LOCK_TIMEOUT_MS });
    // Otherwise a transaction writes a journal file, which is slower and fails on a full disk.
    this.#database.exec('PRAGMA journal_mode = MEMORY');
    return this.#database;
  }
}
