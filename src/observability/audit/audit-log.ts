import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { getSystemErrorMessage } from 'node:util';
import { AuditFile, WriterLock, type FileOwner } from './audit-file';
import { recordable, recordableOutcome, type AuditEntry, type OutcomeEntry } from './entry';
import { NO_HASH, lineOf, readLine, type AuditLine } from './line';
import { deleteOldest, moveAway, type Rotation } from './rotation';

export type { AuditEntry, OutcomeEntry } from './entry';

/** A problem of the audit log. */
export interface AuditProblem {
  /** The reason, for the operator; without values. */
  why: string;
  /** The redacted entry that is missing in the file because of it. */
  entry?: object;
}

interface AuditOptions {
  owner: FileOwner;
  /** Null: this process does not rotate the file. */
  rotation: Rotation | null;
  /** AUDIT_LOG_KEY. */
  key: string | null;
}

/** The audit log cannot be written; the message is for the operator. */
export class AuditLogError extends Error {
  constructor(cause: unknown) {
    super(`AUDIT_LOG_FILE: the audit log cannot be written there (${reasonOf(cause)}).`);
    this.name = 'AuditLogError';
  }
}

/** Why something failed, without names and values. */
function reasonOf(error: unknown): string {
  const { code, errno } = Object.assign({ code: undefined as unknown, errno: undefined as unknown }, error);
  if (code === 'ERR_SQLITE_ERROR') return 'the lock file in its folder cannot be locked';
  if (typeof code !== 'string') return error instanceof Error ? error.name : 'unknown';
  return typeof errno === 'number' ? `${code}: ${getSystemErrorMessage(errno)}` : code;
}

/** Enough for several lines. */
const TAIL_BYTES = 8192;

const hostName = (): string =>
  os
    .hostname()
    .replace(/[^\w.-]/g, '_')
    .slice(0, 255) || '_';

/**
 * The record of mutations that move money: one line each, chained by hashes (line.ts). Several processes may write to one
 * file, one at a time. A line is with the operating system when a method returns.
 */
export class AuditLog {
  /** Id of this process start. */
  readonly #writer = randomBytes(8).toString('hex');
  readonly #path: string;
  readonly #onProblem: (fault: AuditProblem) => void;
  readonly #options: AuditOptions;
  readonly #lock: WriterLock;
  #file: AuditFile;
  /** The last line of the chain that this process knows. */
  #last: Pick<AuditLine, 'seq' | 'hash'> = { seq: -1, hash: NO_HASH };
  /** Hash and end of the last line that this process wrote to the file. */
  #own: { hash: string; end: number } | undefined;
  /** The last line of the previous file. */
  #continues: string | undefined;
  /** Size in bytes from which on the file is rotated. */
  #rotateAt: number;
  /** Entries that could not be written since the last line. */
  #missed = 0;
  #gaps = 0;
  #isClosed = false;

  private constructor(file: string, onFault: (fault: AuditProblem) => void, options: AuditOptions) {
    this.#path = file;
    this.#onProblem = onFault;
    this.#options = options;
    this.#rotateAt = options.rotation?.maxBytes ?? Infinity;
    this.#lock = new WriterLock(file);
    this.#file = AuditFile.open(file, options.owner);
  }

  /**
   * Opens the file; creates it and its folder if needed.
   * @param options default: anybody may create the file, no rotation, no key
   * @throws AuditLogError where nothing can be written to the file
   */
  static open(
    file: string,
    onFault: (fault: AuditProblem) => void,
    { owner = 'anybody', rotation = null, key = null }: Partial<AuditOptions> = {},
  ): AuditLog {
    let log: AuditLog | undefined;
    try {
      const opened = new AuditLog(file, onFault, { owner, rotation, key });
      log = opened;
      opened.#lock.hold(opened.#file, () => opened.#appendOpening());
      return opened;
    } catch (error) {
      if (log) log.#release();
      throw new AuditLogError(error);
    }
  }

  /** Number of entries that could not be written since the log was opened. */
  get gaps(): number {
    return this.#gaps;
  }

  /** Free bytes on the disk of the file; null where they cannot be read. */
  async diskFree(): Promise<number | null> {
    try {
      const { bavail, bsize } = await statfs(path.dirname(this.#path));
      return bavail * bsize;
    } catch {
      return null;
    }
  }

  /** Writes the closing line and closes the file. Never rejects. */
  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#tryToAppendClosing(() => this.#write('closed', {}));
      this.#release();
    }
    this.#isClosed = true;
    return Promise.resolve();
  }

  /** Records a mutation. Never throws: an entry that could not be written is reported to onFault. */
  record(entry: AuditEntry): void {
    this.#recordOrReport('call', () => recordable(entry));
  }

  /** Records an outcome that recovery found. Never throws: it is in the journal already. */
  recordRecovery(entry: OutcomeEntry): void {
    this.#recordOrReport(entry.event, () => recordableOutcome(entry));
  }

  /** Records what an operator is about to do. @throws AuditLogError where it cannot be recorded: then it must not be done */
  recordAct(entry: OutcomeEntry): void {
    try {
      this.#write(entry.event, recordableOutcome(entry));
    } catch (error) {
      throw new AuditLogError(error);
    }
  }

  #recordOrReport(event: AuditLine['event'], build: () => object): void {
    let fields: object | undefined;
    try {
      fields = build();
      this.#write(event, fields);
    } catch (error) {
      this.#missed += 1;
      this.#gaps += 1;
      this.#report(`an entry is not in the audit log (${reasonOf(error)})`, fields);
    }
  }

  #write(event: AuditLine['event'], fields: object): void {
    if (this.#isClosed) throw Object.assign(new Error(), { code: 'the audit log is closed' });
    this.#lock.hold(this.#file, () => {
      if (!this.#file.isInPlace())
        this.#moveOn('the file of the audit log was moved away or removed; lines continue in a new one');
      else if (this.#file.size >= this.#rotateAt) this.#rotate();
      if (!this.#own) this.#appendOpening();
      this.#append({ event, missed: this.#missed || undefined, ...fields });
    });
    this.#missed = 0;
  }

  #appendOpening(): void {
    this.#append({ event: 'opened', continues: this.#continues, pid: process.pid, host: hostName() });
  }

  /** Appends a line. Throws where that fails; the chain stays as it was. */
  #append(fields: object): void {
    const isTorn = this.#readOthers();
    const seq = this.#last.seq + 1;
    const { text, hash } = lineOf(
      { writer: this.#writer, seq, torn: isTorn || undefined, ...fields },
      this.#last.hash,
      this.#options.key,
    );
    this.#file.append(isTorn ? `\n${text}` : text);
    this.#last = { seq, hash };
    this.#own = { hash, end: this.#file.size };
  }

  /** Reads the last line where other processes have written. Returns whether the file ends with a partial line. */
  #readOthers(): boolean {
    const { size } = this.#file;
    if (size === (this.#own?.end ?? 0)) return false;
    const ending = `${this.#own?.hash}"}\n`;
    const isIntact = !this.#own || this.#file.readBefore(this.#own.end, ending.length) === ending;
    const tail = this.#file.readBefore(size, TAIL_BYTES);
    const lines = tail
      .split('\n')
      .filter((text) => text !== '')
      .map(readLine);
    // If the last line of this process is gone, the chain continues after it, so that verification finds the gap.
    if (isIntact) this.#last = lines.findLast((line) => line !== undefined) ?? this.#last;
    return size > 0 && (!tail.endsWith('\n') || lines.at(-1) === undefined);
  }

  #rotate(): void {
    if (!this.#options.rotation) return;
    const { maxBytes, keepFiles } = this.#options.rotation;
    try {
      const rotated = moveAway(this.#path, this.#writer);
      this.#moveOn(`the audit log was rotated to ${rotated}`);
      const deleted = keepFiles === null ? [] : deleteOldest(this.#path, keepFiles);
      if (deleted.length > 0) this.#report(`AUDIT_LOG_KEEP_FILES: deleted ${deleted.join(', ')}`);
    } catch (error) {
      this.#report(`the audit log could not be rotated (${reasonOf(error)})`);
      // Not with every line again.
      this.#rotateAt = this.#file.size + maxBytes;
    }
  }

  /** Continues in the file that the path leads to, which another process may have created. */
  #moveOn(message: string): void {
    this.#readOthers();
    const next = AuditFile.open(this.#path, this.#options.owner);
    this.#report(message);
    if (next.size === 0) this.#tryToAppendClosing(() => this.#append({ event: 'closed' }));
    this.#file.close();
    this.#file = next;
    this.#own = undefined;
    this.#continues = this.#last.hash;
  }

  #tryToAppendClosing(append: () => void): void {
    try {
      append();
    } catch (error) {
      this.#report(`the audit log has no closing line (${reasonOf(error)})`);
    }
  }

  #release(): void {
    this.#lock.close();
    this.#file.close();
  }

  #report(why: string, entry?: object): void {
    try {
      this.#onProblem({ why, ...(entry && { entry }) });
    } catch {
      // Nothing else can be notified.
    }
  }
}
