import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import process from 'node:process';
import { getSystemErrorMessage } from 'node:util';
import { AuditFile, WriterLock, errorWithCode, type CreationPolicy } from './audit-file';
import { redactEntry, redactUnknownOutcomeEntry, type AuditEntry, type UnknownOutcomeEntry } from './entry';
import { NO_HASH, serializeLine, parseLine, type AuditLine } from './line';
import { deleteOldestFiles, renameWithTime, type RotationSettings } from './rotation';

export type { AuditEntry, UnknownOutcomeEntry } from './entry';

/** Notice for the operator: a problem of the audit log, a rotated or moved file, or deleted rotated files. */
export interface AuditLogNotice {
  /** Message for the operator, without a full stop and without values from entries. */
  why: string;
  /** The redacted entry, if it could not be written. Undefined for other notices, and if redacting the entry failed. */
  entry?: object;
}

interface AuditOptions {
  /** Users that may create the file if it does not exist. */
  creationPolicy: CreationPolicy;
  /** Settings of the rotation; null if this process does not rotate the file. */
  rotation: RotationSettings | null;
  /** Value of AUDIT_LOG_KEY; null if it is not set. */
  hmacKey: string | null;
}

/** Thrown if the audit log cannot be written. The message tells the operator why. */
export class AuditLogError extends Error {
  constructor(cause: unknown) {
    super(`AUDIT_LOG_FILE: the audit log cannot be written there (${fileErrorText(cause)}).`);
    this.name = 'AuditLogError';
  }
}

/** Returns the reason for an error, without file names and values of entries. */
function fileErrorText(error: unknown): string {
  const { code, errno } = Object.assign({ code: undefined as unknown, errno: undefined as unknown }, error);
  if (code === 'ERR_SQLITE_ERROR')
    return 'its lock file, .<name>.lock in the same folder, cannot be locked: another process holds the lock, or the file system has no locks';
  if (typeof code !== 'string') return error instanceof Error ? error.name : 'unknown';
  return typeof errno === 'number' ? `${code}: ${getSystemErrorMessage(errno)}` : code;
}

/** Number of bytes that are read at the end of the file to find the last line. A line is shorter than 4096 bytes. */
const TAIL_BYTES = 8192;

const loggableHostName = (): string =>
  hostname()
    .replace(/[^\w.-]/g, '_')
    .slice(0, 255) || '_';

/**
 * The audit log: a file with a line for each executed createPayment, createPayout and confirmPayment, whatever its
 * result, for each recovered outcome, and for each operator action on an attempt. Each writer also adds a line when it
 * opens or closes the file. The hash of a line covers the hash of the line before it (line.ts). Only one process at a
 * time can write, and writing is synchronous.
 */
export class AuditLog {
  /** Random id of this writer, for the field `writer` of its lines. */
  readonly #writerId = randomBytes(8).toString('hex');
  readonly #lock: WriterLock;
  #file: AuditFile;
  /** The last line of the chain that this process has read or written. */
  #chainEnd: Pick<AuditLine, 'seq' | 'hash'> = { seq: -1, hash: NO_HASH };
  /** Hash and end position (in bytes) of the last line that this process wrote to the open file; undefined if none. */
  #lastOwnLine: { hash: string; endOffset: number } | undefined;
  /** Hash of the last line of the previous file; undefined until this process continues in another file. */
  #previousFileLastHash: string | undefined;
  /** File size in bytes at which the file is rotated before the next line is written. */
  #rotateAtBytes: number;
  /** Number of entries that could not be written since the last written entry. Operator actions are not counted. */
  #lostCountSinceLastEntry = 0;
  #lostEntryCount = 0;
  #isClosed = false;

  private constructor(
    private readonly auditPath: string,
    private readonly onNotice: (notice: AuditLogNotice) => void,
    private readonly options: AuditOptions,
  ) {
    this.#rotateAtBytes = options.rotation?.maxBytes ?? Infinity;
    this.#lock = new WriterLock(auditPath);
    this.#file = new AuditFile(auditPath, options.creationPolicy);
    try {
      this.#lock.withLock(this.#file, () => this.#appendOpeningLine());
    } catch (error) {
      this.#closeFiles();
      throw error;
    }
  }

  /**
   * Opens the file; creates it and its folder if needed.
   * @param onNotice called with each notice. Errors that it throws are ignored.
   * @throws AuditLogError if the file cannot be opened, locked or written
   */
  static open(
    auditPath: string,
    onNotice: (notice: AuditLogNotice) => void,
    { creationPolicy = 'anybody', rotation = null, hmacKey = null }: Partial<AuditOptions> = {},
  ): AuditLog {
    try {
      return new AuditLog(auditPath, onNotice, { creationPolicy, rotation, hmacKey });
    } catch (error) {
      throw new AuditLogError(error);
    }
  }

  /** Number of entries that could not be written since the log was opened. Operator actions are not counted. */
  get lostEntryCount(): number {
    return this.#lostEntryCount;
  }

  /** Returns the free bytes on the disk of the file; null if they cannot be read. */
  freeDiskBytes(): Promise<number | null> {
    return statfs(dirname(this.auditPath)).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => null,
    );
  }

  /** Writes the closing line and closes the file. If the line cannot be written, calls `onNotice`. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#tryToAppendClosingLine(() => this.#write('closed', {}));
    this.#closeFiles();
    this.#isClosed = true;
  }

  /** Records a mutation. Never throws: if the entry cannot be written, calls `onNotice`. */
  recordMutation(entry: AuditEntry): void {
    this.#recordOrReport('call', () => redactEntry(entry));
  }

  /** Records an outcome that recovery found. Never throws: if the entry cannot be written, calls `onNotice`. */
  recordRecovery(entry: UnknownOutcomeEntry): void {
    this.#recordOrReport(entry.event, () => redactUnknownOutcomeEntry(entry));
  }

  /**
   * Records an operator action before it is executed or, for `not_settled`, after it has failed.
   * @throws AuditLogError if the entry cannot be written; the caller must then not execute the action
   */
  recordOperatorAction(entry: UnknownOutcomeEntry): void {
    try {
      this.#write(entry.event, redactUnknownOutcomeEntry(entry));
    } catch (error) {
      throw new AuditLogError(error);
    }
  }

  #recordOrReport(event: AuditLine['event'], buildFields: () => object): void {
    let fields: object | undefined;
    try {
      fields = buildFields();
      this.#write(event, fields);
    } catch (error) {
      this.#lostCountSinceLastEntry += 1;
      this.#lostEntryCount += 1;
      this.#report(`an entry could not be written to the audit log (${fileErrorText(error)})`, fields);
    }
  }

  #write(event: AuditLine['event'], fields: object): void {
    if (this.#isClosed) throw errorWithCode('the audit log is closed');
    this.#lock.withLock(this.#file, () => {
      const sizeBytes = this.#file.sizeUnlessMoved();
      if (sizeBytes === undefined)
        this.#continueInNextFile('the audit log file was moved or removed; new lines go to a new file');
      else if (sizeBytes >= this.#rotateAtBytes) this.#rotate();
      if (!this.#lastOwnLine) this.#appendOpeningLine();
      this.#appendLine({ event, missed: this.#lostCountSinceLastEntry || undefined, ...fields });
    });
    this.#lostCountSinceLastEntry = 0;
  }

  #appendOpeningLine(): void {
    this.#appendLine({
      event: 'opened',
      continues: this.#previousFileLastHash,
      pid: process.pid,
      host: loggableHostName(),
    });
  }

  /** Appends a line to the chain. Throws on failure; the file may then end with a part of the line. */
  #appendLine(fields: object): void {
    const { sizeBytes } = this.#file;
    const endsWithPartialLine = this.#readChainEnd(sizeBytes);
    const seq = this.#chainEnd.seq + 1;
    const { text, hash } = serializeLine(
      { writer: this.#writerId, seq, torn: endsWithPartialLine || undefined, ...fields },
      this.#chainEnd.hash,
      this.options.hmacKey,
    );
    const appendedText = endsWithPartialLine ? `\n${text}` : text;
    this.#file.append(appendedText);
    this.#chainEnd = { seq, hash };
    this.#lastOwnLine = { hash, endOffset: sizeBytes + appendedText.length };
  }

  /**
   * Reads the last line of the file unless this process wrote it, so that the next line continues the chain from there.
   * Returns whether the file ends with a partial line.
   * @param sizeBytes current size of the file in bytes
   */
  #readChainEnd(sizeBytes: number): boolean {
    if (sizeBytes === (this.#lastOwnLine?.endOffset ?? 0)) return false;
    const ownLineEnd = `${this.#lastOwnLine?.hash}"}\n`;
    const isOwnLineIntact =
      !this.#lastOwnLine ||
      this.#file.readBefore(this.#lastOwnLine.endOffset, ownLineEnd.length) === ownLineEnd;
    const tailText = this.#file.readBefore(sizeBytes, TAIL_BYTES);
    const parsedLines = tailText
      .split('\n')
      .filter((text) => text !== '')
      .map(parseLine);
    // If the last line of this process was removed or changed, continue the chain from the original line.
    // Verification then reports a fault.
    if (isOwnLineIntact) this.#chainEnd = parsedLines.findLast((line) => line) ?? this.#chainEnd;
    return sizeBytes > 0 && (!tailText.endsWith('\n') || parsedLines.at(-1) === undefined);
  }

  #rotate(): void {
    if (!this.options.rotation) return;
    const { maxBytes, keptFileCount } = this.options.rotation;
    try {
      const rotatedFileName = renameWithTime(this.auditPath, this.#writerId);
      this.#continueInNextFile(`the audit log was rotated to ${rotatedFileName}`);
      const deletedNames = keptFileCount === null ? [] : deleteOldestFiles(this.auditPath, keptFileCount);
      if (deletedNames.length > 0)
        this.#report(`deleted rotated files beyond AUDIT_LOG_KEEP_FILES: ${deletedNames.join(', ')}`);
    } catch (error) {
      this.#report(
        `the audit log was not rotated, or rotated files were not deleted (${fileErrorText(error)}); entries are still written, and rotation is tried again when the file has grown by another AUDIT_LOG_ROTATE_MB`,
      );
      // Try to rotate again when the file has grown by another `maxBytes`, not at every line.
      this.#rotateAtBytes = this.#file.sizeBytes + maxBytes;
    }
  }

  /** Switches to the new file at `auditPath`. Creates it if no other process has created it yet. */
  #continueInNextFile(noticeText: string): void {
    this.#readChainEnd(this.#file.sizeBytes);
    const nextFile = new AuditFile(this.auditPath, this.options.creationPolicy);
    this.#report(noticeText);
    if (nextFile.sizeBytes === 0) this.#tryToAppendClosingLine(() => this.#appendLine({ event: 'closed' }));
    this.#file.close();
    this.#file = nextFile;
    this.#rotateAtBytes = this.options.rotation?.maxBytes ?? Infinity;
    this.#lastOwnLine = undefined;
    this.#previousFileLastHash = this.#chainEnd.hash;
  }

  #tryToAppendClosingLine(appendLine: () => void): void {
    try {
      appendLine();
    } catch (error) {
      this.#report(`the closing line could not be written to the audit log (${fileErrorText(error)})`);
    }
  }

  #closeFiles(): void {
    this.#lock.close();
    this.#file.close();
  }

  #report(why: string, entry?: object): void {
    try {
      this.onNotice({ why, ...(entry && { entry }) });
    } catch {
      // Ignore an error of `onNotice`, because there is nowhere else to report the problem.
    }
  }
}
