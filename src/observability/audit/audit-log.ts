import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { AppendFile, type FileOwner } from './append-file';
import type { AuditLine } from './chain';
import { ChainWriter } from './chain-writer';
import { deleteOldest, moveAway, rotationSize, type Rotation } from './rotation';
import { recordable, recordableOutcome, type AuditEntry, type OutcomeEntry } from './entry';

export type { AuditEntry, OutcomeEntry } from './entry';

/** Something is wrong with the audit log. */
export interface AuditFault {
  /** In words, for the operator; without values. */
  why: string;
  /** The call or outcome that is not on record because of it, in the form in which it would be: fit for any log. */
  entry?: object;
}

interface AuditOptions {
  file: string;
  /** Hears whatever goes wrong after opening. */
  onFault: (fault: AuditFault) => void;
  /** The user that may create the file. */
  owner: FileOwner;
  /** Null: the file is not rotated by this process. */
  rotation: Rotation | null;
}

/** The audit log cannot be opened; the message is for the operator. */
export class AuditLogError extends Error {
  constructor(cause: unknown) {
    super(`AUDIT_LOG_FILE: the audit log cannot be written there (${reasonOf(cause)}).`);
    this.name = 'AuditLogError';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  ENOENT: 'the folder around its folder does not exist',
  ENOTDIR: 'a part of its path is no folder',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file may not grow',
};

/** Why something failed, without names and values. */
function reasonOf(error: unknown): string {
  const { code } = Object.assign({ code: undefined as unknown }, error);
  if (typeof code !== 'string') return error instanceof Error ? error.name : 'unknown';
  const words = REASONS[code];
  return words ? `${code}: ${words}` : code;
}

/**
 * The record of who moved money: one line per call, each chained to the one before (chain.ts). A line is with the
 * operating system when record() returns. Whatever happens to the file, no call is refused because of it.
 */
export class AuditLog {
  readonly #path: string;
  readonly #onFault: AuditOptions['onFault'];
  readonly #owner: FileOwner;
  readonly #rotation: Rotation | null;
  /** The size in bytes from which on the file is rotated. */
  #rotateAt: number;
  #writer: ChainWriter;
  /** So many calls are not on record since the last one that is. */
  #missed = 0;
  #gaps = 0;
  #isClosed = false;

  private constructor({ file, onFault, owner, rotation }: AuditOptions, writer: ChainWriter) {
    this.#path = file;
    this.#onFault = onFault;
    this.#owner = owner;
    this.#rotation = rotation;
    this.#rotateAt = rotation ? rotationSize(rotation.maxBytes, writer.id) : Infinity;
    this.#writer = writer;
  }

  /**
   * Opens the file, and makes it and its folder where they are not there.
   * @param options anybody may make the file, and it is not rotated, unless they say otherwise
   * @throws AuditLogError where nothing can be written to the file: without an audit log the gateway does not start
   */
  static open(
    file: string,
    onFault: AuditOptions['onFault'],
    { owner = 'anybody', rotation = null }: Partial<Pick<AuditOptions, 'owner' | 'rotation'>> = {},
  ): AuditLog {
    let writer: ChainWriter | undefined;
    try {
      writer = new ChainWriter(AppendFile.open(file, owner));
      writer.isInPlace();
      writer.begin();
      return new AuditLog({ file, onFault, owner, rotation }, writer);
    } catch (error) {
      writer?.close();
      throw new AuditLogError(error);
    }
  }

  /** So many calls are not on record since the log was opened. */
  get gaps(): number {
    return this.#gaps;
  }

  /** How many bytes are free on the disk of the file; null where that cannot be found out. */
  async diskFree(): Promise<number | null> {
    try {
      const { bavail, bsize } = await statfs(path.dirname(this.#path));
      return bavail * bsize;
    } catch {
      return null;
    }
  }

  /** Puts a call on record. Never throws: of a call that could not be recorded onFault hears. */
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
    let line: object | undefined;
    try {
      line = build();
      this.#write(event, line);
    } catch (error) {
      this.#missed += 1;
      this.#gaps += 1;
      this.#tell(`a call is not in the audit log (${reasonOf(error)})`, line);
    }
  }

  #write(event: AuditLine['event'], line: object): void {
    if (this.#isClosed) throw Object.assign(new Error(), { code: 'the audit log is closed' });
    if (!this.#writer.isInPlace())
      this.#moveOn('the file of the audit log was moved away or removed; a new one was begun');
    else if (this.#writer.size >= this.#rotateAt) this.#rotate();
    this.#writer.write({ event, missed: this.#missed || undefined, ...line });
    this.#missed = 0;
  }

  /** Ends the chain and lets the file go. Never rejects. */
  close(): Promise<void> {
    if (!this.#isClosed) this.#end(this.#missed || undefined);
    this.#isClosed = true;
    return Promise.resolve();
  }

  /** Moves the file away, with its chain closed, so that a reader that follows it misses no line. */
  #rotate(): void {
    if (!this.#rotation) return;
    const { maxBytes, keepFiles } = this.#rotation;
    this.#endChain();
    let message = 'the audit log could not be rotated';
    try {
      const rotated = moveAway(this.#path, this.#writer.id);
      this.#rotateAt = rotationSize(maxBytes, this.#writer.id);
      message = `the audit log was rotated, to ${rotated}`;
      const deleted = keepFiles === null ? [] : deleteOldest(this.#path, keepFiles);
      if (deleted.length > 0) message += `; AUDIT_LOG_KEEP_FILES: deleted ${deleted.join(', ')}`;
    } catch (error) {
      message += ` (${reasonOf(error)})`;
      // Not tried again with every line.
      if (this.#writer.isInPlace()) this.#rotateAt = this.#writer.size + maxBytes;
    }
    this.#moveOn(message);
  }

  /** The file was moved away, as when logs are rotated, or removed: what comes goes into a new one. */
  #moveOn(why: string): void {
    const next = AppendFile.open(this.#path, this.#owner);
    this.#tell(why);
    this.#end();
    this.#writer = new ChainWriter(next, this.#writer.last);
    this.#writer.isInPlace();
  }

  #endChain(missed?: number): void {
    try {
      this.#writer.end(missed);
    } catch (error) {
      this.#tell(`the audit log has no closing line (${reasonOf(error)})`);
    }
  }

  #end(missed?: number): void {
    this.#endChain(missed);
    try {
      this.#writer.close();
    } catch (error) {
      this.#tell(`the file of the audit log could not be closed (${reasonOf(error)})`);
    }
  }

  #tell(why: string, entry?: object): void {
    try {
      this.#onFault({ why, ...(entry && { entry }) });
    } catch {
      // Nobody is left to hear of it.
    }
  }
}
