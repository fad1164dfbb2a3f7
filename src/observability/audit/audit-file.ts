import fs, { type Stats } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';

/** Permissions of a new file. */
const FILE_MODE = 0o600;
/** Time in ms that a writer waits for other writers. Writing a line takes about 0.1 ms. */
const LOCK_TIMEOUT_MS = 2000;

/** Users that may create the file: any user, or only the owner of its folder. */
export type FileCreator = 'anybody' | 'folder owner';

/** Creates an error whose `code` and message are this text. Operators read the text; it must not contain the path. */
export const errorWithCode = (code: string): Error => Object.assign(new Error(code), { code });

/** Creates the folder of a file if needed. Throws if the folder above it is missing: the path is probably wrong. */
function createParentFolder(file: string): void {
  if (!fs.existsSync(path.dirname(file))) fs.mkdirSync(path.dirname(file));
}

/** An append-only file. */
export class AuditFile {
  readonly #fd: number;
  readonly #statsAtOpening: Stats;

  /**
   * Opens the file; creates it and its folder if needed. Throws if that is not possible.
   * @param creator `folder owner`: the file is only created if this process runs as the owner of the folder, which is
   *   normally the gateway's user. The gateway could not write to a file that another user created.
   */
  constructor(
    private readonly file: string,
    creator: FileCreator,
  ) {
    createParentFolder(file);
    // Reject anything but a regular file: the lines are read again, and opening a FIFO would block.
    const existing = fs.statSync(file, { throwIfNoEntry: false });
    if (existing && !existing.isFile())
      throw errorWithCode(existing.isDirectory() ? 'EISDIR' : 'not a regular file');
    const isFolderOwner = fs.statSync(path.dirname(file)).uid === process.geteuid?.();
    if (!existing && creator === 'folder owner' && !isFolderOwner)
      throw errorWithCode('it does not exist, and only the owner of its folder may create it');
    this.#fd = fs.openSync(file, 'a+', FILE_MODE);
    this.#statsAtOpening = fs.fstatSync(this.#fd);
  }

  /** Length in bytes. */
  get size(): number {
    return fs.fstatSync(this.#fd).size;
  }

  /** Length in bytes; undefined if the path no longer leads to this file. */
  sizeIfInPlace(): number | undefined {
    const stats = fs.statSync(this.file, { throwIfNoEntry: false });
    const isInPlace = stats?.ino === this.#statsAtOpening.ino && stats.dev === this.#statsAtOpening.dev;
    return isInPlace ? stats.size : undefined;
  }

  /** Returns up to `length` bytes before the position `end`, as latin1. */
  readBefore(end: number, length: number): string {
    const start = Math.max(0, end - length);
    const bytes = Buffer.alloc(end - start);
    return bytes.toString('latin1', 0, fs.readSync(this.#fd, bytes, 0, bytes.length, start));
  }

  /** Appends a text with one write. Throws if not all of it was written; the file may then contain a part of it. */
  append(text: string): void {
    if (fs.writeSync(this.#fd, text, null, 'latin1') < text.length)
      throw errorWithCode('only a part of a line was written');
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  /** Gives another file the permissions, group and owner of this file, as far as this process is allowed to. */
  copyAccessTo(fd: number): void {
    const { uid, gid, mode } = this.#statsAtOpening;
    try {
      fs.fchmodSync(fd, mode & 0o777);
      fs.fchownSync(fd, process.geteuid?.() === 0 ? uid : -1, gid);
    } catch {
      // Ignore a lack of permission, for example because another user owns that file and has set its access.
    }
  }
}

/**
 * Lets one process at a time write to an audit log. The lock is SQLite's file lock on an empty file in the same folder,
 * because the operating system releases it when a process dies.
 */
export class WriterLock {
  readonly #lockPath: string;
  #lockInode: number | undefined;
  #database: DatabaseSync | undefined;

  /** @param file the audit log */
  constructor(file: string) {
    this.#lockPath = path.join(path.dirname(file), `.${path.basename(file)}.lock`);
  }

  /** Runs a function while holding the lock. Throws if the lock is not free within LOCK_TIMEOUT_MS. */
  withLock(file: AuditFile, write: () => void): void {
    const inode = fs.statSync(this.#lockPath, { throwIfNoEntry: false })?.ino;
    const isInPlace = inode !== undefined && inode === this.#lockInode;
    const database = this.#database && isInPlace ? this.#database : this.#open(file);
    database.exec('BEGIN IMMEDIATE');
    try {
      write();
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
    createParentFolder(this.#lockPath);
    const fd = fs.openSync(this.#lockPath, 'a', FILE_MODE);
    file.copyAccessTo(fd);
    this.#lockInode = fs.fstatSync(fd).ino;
    fs.closeSync(fd);
    this.#database = new DatabaseSync(this.#lockPath, { timeout: LOCK_TIMEOUT_MS });
    // Keep SQLite's rollback journal in memory: a file would be slower and could not be written on a full disk.
    this.#database.exec('PRAGMA journal_mode = MEMORY');
    return this.#database;
  }
}
