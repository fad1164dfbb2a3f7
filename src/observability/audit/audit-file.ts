import fs, { type Stats } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';

const FILE_MODE = 0o600;
/** Maximum time in ms that a writer waits for the lock. Other writers hold it for about 0.1 ms per line. */
const LOCK_TIMEOUT_MS = 2000;

/** Users that may create the audit log: any user, or only the owner of its folder. */
export type CreationPolicy = 'anybody' | 'folder owner';

/** Creates an error whose code and message are `code`. Operators see `code`, so it must not contain a file name. */
export const errorWithCode = (code: string): Error => Object.assign(new Error(code), { code });

/** Creates the folder of a file if needed. Throws if the parent of that folder is missing: the path may be wrong. */
function createParentFolder(filePath: string): void {
  if (!fs.existsSync(path.dirname(filePath))) fs.mkdirSync(path.dirname(filePath));
}

/** The audit log as an append-only file. */
export class AuditFile {
  readonly #fd: number;
  readonly #statsAtOpening: Stats;

  /**
   * Opens the file; creates it and its folder if needed. Throws on failure, and if it is not a regular file.
   * @param creationPolicy `folder owner`: only the owner of the folder (normally the gateway's user) can create it,
   *   because the gateway could not write to the file of another user
   */
  constructor(
    private readonly auditPath: string,
    creationPolicy: CreationPolicy,
  ) {
    createParentFolder(auditPath);
    // Reject a file that is not regular: its lines could not be read back, and opening a FIFO would block.
    const existingStats = fs.statSync(auditPath, { throwIfNoEntry: false });
    if (existingStats && !existingStats.isFile())
      throw errorWithCode(existingStats.isDirectory() ? 'EISDIR' : 'not a regular file');
    const isFolderOwner = fs.statSync(path.dirname(auditPath)).uid === process.geteuid?.();
    if (!existingStats && creationPolicy === 'folder owner' && !isFolderOwner)
      throw errorWithCode('it does not exist, and only the owner of its folder may create it');
    this.#fd = fs.openSync(auditPath, 'a+', FILE_MODE);
    this.#statsAtOpening = fs.fstatSync(this.#fd);
  }

  /** Size in bytes of the open file, even if it was moved or removed from its path. */
  get sizeBytes(): number {
    return fs.fstatSync(this.#fd).size;
  }

  /** Returns the size of the open file in bytes; undefined if the file was moved or removed from its path. */
  sizeUnlessMoved(): number | undefined {
    const stats = fs.statSync(this.auditPath, { throwIfNoEntry: false });
    const isInPlace = stats?.ino === this.#statsAtOpening.ino && stats.dev === this.#statsAtOpening.dev;
    return isInPlace ? stats.size : undefined;
  }

  /** Returns the last `byteCount` bytes before `endOffset`, or all if there are fewer, as latin1 text. */
  readBefore(endOffset: number, byteCount: number): string {
    const startOffset = Math.max(0, endOffset - byteCount);
    const bytes = Buffer.alloc(endOffset - startOffset);
    return bytes.toString('latin1', 0, fs.readSync(this.#fd, bytes, 0, bytes.length, startOffset));
  }

  /** Appends a latin1 text with one write. Throws on failure; the file may then contain a part of the text. */
  append(text: string): void {
    if (fs.writeSync(this.#fd, text, null, 'latin1') < text.length)
      throw errorWithCode('only a part of a line was written; the disk may be full');
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  /**
   * Sets permissions and group of the file with the descriptor `targetFd` to those of this file. If this process is
   * root, also sets the owner. Never throws.
   */
  copyPermissionsTo(targetFd: number): void {
    const { uid, gid, mode } = this.#statsAtOpening;
    try {
      fs.fchmodSync(targetFd, mode & 0o777);
      fs.fchownSync(targetFd, process.geteuid?.() === 0 ? uid : -1, gid);
    } catch {
      // Ignore a lack of permission: another user owns the target file, or this process is not in the group.
    }
  }
}

/**
 * Lock that lets one process at a time write to an audit log: SQLite's lock on an empty file in the same folder. The
 * operating system releases the lock when the process that holds it dies.
 */
export class WriterLock {
  readonly #lockPath: string;
  #lockInode: number | undefined;
  #lockDatabase: DatabaseSync | undefined;

  constructor(auditPath: string) {
    this.#lockPath = path.join(path.dirname(auditPath), `.${path.basename(auditPath)}.lock`);
  }

  /**
   * Runs `write` while holding the lock. Throws if `write` throws, the lock file cannot be opened, or the lock is not
   * free within LOCK_TIMEOUT_MS.
   * @param auditFile the open audit log. When the lock file is opened, it gets the permissions of the audit log.
   */
  withLock(auditFile: AuditFile, write: () => void): void {
    const lockInode = fs.statSync(this.#lockPath, { throwIfNoEntry: false })?.ino;
    const isLockInPlace = lockInode !== undefined && lockInode === this.#lockInode;
    const lockDatabase =
      this.#lockDatabase && isLockInPlace ? this.#lockDatabase : this.#openLockDatabase(auditFile);
    lockDatabase.exec('BEGIN IMMEDIATE');
    try {
      write();
    } finally {
      lockDatabase.exec('ROLLBACK');
    }
  }

  close(): void {
    this.#lockDatabase?.close();
    this.#lockDatabase = undefined;
  }

  #openLockDatabase(auditFile: AuditFile): DatabaseSync {
    this.close();
    // Create the folder again if it was removed together with the file.
    createParentFolder(this.#lockPath);
    const lockFd = fs.openSync(this.#lockPath, 'a', FILE_MODE);
    auditFile.copyPermissionsTo(lockFd);
    this.#lockInode = fs.fstatSync(lockFd).ino;
    fs.closeSync(lockFd);
    this.#lockDatabase = new DatabaseSync(this.#lockPath, { timeout: LOCK_TIMEOUT_MS });
    // Keep SQLite's rollback journal in memory: a file would be slower and could not be written on a full disk.
    this.#lockDatabase.exec('PRAGMA journal_mode = MEMORY');
    return this.#lockDatabase;
  }
}
