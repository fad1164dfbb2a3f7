import { createReadStream } from 'node:fs';
import { NO_HASH, hashLine, mayBePartialLine, parseLine, type AuditLine } from './line';

type FindingCode =
  | 'not_a_line'
  | 'cut_off'
  | 'changed'
  | 'lines_missing'
  | 'out_of_place'
  | 'files_out_of_order'
  | 'continues_older_file'
  | 'new_chain';

/**
 * A finding about a line. If `isFault` is true, the finding is a fault; otherwise, it is a note.
 * - Fault: lines were changed, moved or removed, or the given key, the order of files or the set of files is wrong.
 * - Note: a crash, a full disk, a rotation or a new AUDIT_LOG_KEY can explain the finding.
 */
export interface AuditFinding {
  isFault: boolean;
  code: FindingCode;
  file: string;
  line: number;
  message: string;
}

/** Summary of a verified file. */
export interface FileSummary {
  name: string;
  lines: number;
  calls: number;
  /** Time of the first line. */
  first?: string;
  /** Time of the last line. */
  last?: string;
  /** Hash of the last line. It depends on all earlier lines. Undefined if the file has no valid lines. */
  seal?: string;
}

/** A process that opened the log for writing. */
interface WriterProcess {
  id: string;
  pid: number;
  host: string;
  opened: string;
  isClosed: boolean;
}

/** Maximum number of bytes kept of a line whose end has not been read yet. Valid lines are much shorter. */
const MAX_UNFINISHED_LINE_LENGTH = 64 * 1024;
/**
 * Maximum number of consecutive partial lines whose numbers are kept. If another one follows, the kept ones are
 * reported as faults.
 */
const MAX_PARTIAL_LINES = 100;

const describeLineCount = (count: number): string => (count === 1 ? '1 line is' : `${count} lines are`);

/** Checks the lines of one or several files, oldest first. Uses little memory for files of any size. */
export class AuditLogVerifier {
  readonly fileSummaries: FileSummary[] = [];
  /** Number of entries that could not be written: sum of the field `missed` of all lines. */
  lostEntryCount = 0;
  readonly #writerById = new Map<string, WriterProcess>();
  readonly #missingExpectedHashes: Set<string>;
  #fileSummary: FileSummary = { name: '', lines: 0, calls: 0 };
  /** Number of the current line in the file, empty lines included. */
  #lineNumber = 0;
  #chainEnd: Pick<AuditLine, 'seq' | 'hash'> = { seq: -1, hash: NO_HASH };
  /** Hash of the last line of the files before this one; NO_HASH if they have no valid line. */
  #previousFileLastHash = NO_HASH;
  /**
   * Hashes of the last lines of older files that were not checked, as named by the files that continue them. If a later
   * line has such a hash, the files were given in a wrong order.
   */
  readonly #uncheckedFileLastHashes = new Set<string>();
  /** Line numbers of the partial lines after the last complete line. */
  #partialLineNumbers: number[] = [];

  /** @param expectedHashes hashes of lines that must occur in the files */
  constructor(
    private readonly onFinding: (finding: AuditFinding) => void,
    private readonly hmacKey: string | null,
    expectedHashes: readonly string[] = [],
  ) {
    this.#missingExpectedHashes = new Set(expectedHashes);
  }

  get writers(): WriterProcess[] {
    return [...this.#writerById.values()];
  }

  /** Expected hashes that were not found so far. */
  get missingExpectedHashes(): string[] {
    return [...this.#missingExpectedHashes];
  }

  /**
   * Verifies a file and reports the findings. Throws if the file cannot be read.
   * @param onProgress called repeatedly with the number of bytes that were read so far
   */
  async verifyFile(filePath: string, onProgress?: (bytesRead: number) => void): Promise<void> {
    this.#fileSummary = { name: filePath, lines: 0, calls: 0 };
    this.fileSummaries.push(this.#fileSummary);
    this.#lineNumber = 0;
    this.#previousFileLastHash = this.#chainEnd.hash;
    let unfinishedLine = '';
    let totalBytesRead = 0;
    // Read as latin1: each byte is one character, so text lengths are byte counts.
    for await (const chunk of createReadStream(filePath, 'latin1') as AsyncIterable<string>) {
      const lineTexts = (unfinishedLine + chunk).split('\n');
      unfinishedLine = (lineTexts.pop() ?? '').slice(0, MAX_UNFINISHED_LINE_LENGTH);
      for (const lineText of lineTexts) this.#verifyLineText(lineText);
      onProgress?.((totalBytesRead += chunk.length));
    }
    if (unfinishedLine !== '') this.#verifyLineText(unfinishedLine);
    // A partial last line without a line feed is no fault, because a process may be writing it.
    this.#reportPartialLines((lineNumber) => unfinishedLine !== '' && lineNumber === this.#lineNumber);
  }

  #verifyLineText(lineText: string): void {
    this.#lineNumber += 1;
    if (lineText === '') return;
    const line = parseLine(lineText);
    if (line) return this.#checkLine(line);
    if (!mayBePartialLine(lineText))
      return this.#reportFault('not_a_line', 'this is not a line of an audit log.');
    if (this.#partialLineNumbers.length >= MAX_PARTIAL_LINES) this.#reportPartialLines(() => false);
    this.#partialLineNumbers.push(this.#lineNumber);
  }

  #checkLine(line: AuditLine): void {
    this.#reportPartialLines(() => line.torn === true);
    if (this.#uncheckedFileLastHashes.has(line.hash))
      this.#reportFault(
        'files_out_of_order',
        'a file that was given before this one continues it: give the files in order, oldest first.',
      );
    const isOutOfPlace = this.#fileSummary.lines > 0 && line.seq <= this.#chainEnd.seq;
    if (isOutOfPlace)
      this.#reportFault(
        'out_of_place',
        `this line was copied or moved: it has number ${line.seq} in the chain.`,
      );
    else {
      if (this.#fileSummary.lines === 0) this.#checkFirstLine(line);
      else this.#checkLaterLine(line);
      // Even after a fault, the next line is checked against this one.
      this.#chainEnd = { seq: line.seq, hash: line.hash };
    }
    this.lostEntryCount += line.missed ?? 0;
    this.#addToSummary(line);
  }

  #addToSummary({ event, time, hash, writer, pid = 0, host = '?' }: AuditLine): void {
    const summary = this.#fileSummary;
    summary.lines += 1;
    if (event === 'call') summary.calls += 1;
    summary.first ??= time;
    summary.last = time;
    summary.seal = hash;
    this.#missingExpectedHashes.delete(hash);
    const knownWriter = this.#writerById.get(writer);
    if (event === 'opened')
      this.#writerById.set(writer, { id: writer, pid, host, opened: time, isClosed: false });
    else if (knownWriter && event === 'closed') knownWriter.isClosed = true;
  }

  #checkFirstLine(line: AuditLine): void {
    const { seq, continues = NO_HASH } = line;
    if (continues === NO_HASH && seq > 0)
      return this.#reportFault(
        'lines_missing',
        `${describeLineCount(seq)} missing before this one, unless there is an older file that was not checked.`,
      );
    if (continues !== NO_HASH) this.#checkPreviousFile(continues);
    else if (this.fileSummaries.length > 1)
      this.#reportNote(
        'new_chain',
        'a new chain begins here: the file does not name a file that it continues, for example because AUDIT_LOG_KEY was changed. Missing lines before it cannot be detected.',
      );
    this.#checkHash(continues, line);
  }

  #checkPreviousFile(continuedHash: string): void {
    if (this.#previousFileLastHash === continuedHash) return;
    if (this.#previousFileLastHash !== NO_HASH)
      return this.#reportFault(
        'lines_missing',
        'lines are missing between the end of the previous file and this line.',
      );
    this.#uncheckedFileLastHashes.add(continuedHash);
    this.#reportNote(
      'continues_older_file',
      `this file continues an older file, which was not checked and must end with the hash ${continuedHash}.`,
    );
  }

  /**
   * Checks a line that is not the first of its file. Ignores the field `continues` of an `opened` line: the first line
   * of this file has already been checked against the previous file. If the writer of this line wrote nothing to the
   * previous file, `continues` is a hash in an older file.
   */
  #checkLaterLine(line: AuditLine): void {
    const missingLineCount = line.seq - this.#chainEnd.seq - 1;
    if (missingLineCount > 0)
      this.#reportFault('lines_missing', `${describeLineCount(missingLineCount)} missing before this one.`);
    else this.#checkHash(this.#chainEnd.hash, line);
  }

  #checkHash(previousHash: string, { body, hash }: AuditLine): void {
    if (hashLine(previousHash, body, this.hmacKey) !== hash)
      this.#reportFault(
        'changed',
        'this line or the one before it was changed, or it was written with another AUDIT_LOG_KEY.',
      );
  }

  #reportPartialLines(isExplained: (lineNumber: number) => boolean): void {
    for (const lineNumber of this.#partialLineNumbers.splice(0)) {
      const message = 'this line was written partially (crash or full disk): its entry is missing.';
      if (isExplained(lineNumber)) this.#reportNote('cut_off', message, lineNumber);
      else this.#reportFault('cut_off', 'this line was cut off after it had been written.', lineNumber);
    }
  }

  #reportFault(code: FindingCode, message: string, lineNumber = this.#lineNumber): void {
    this.onFinding({ isFault: true, code, file: this.#fileSummary.name, line: lineNumber, message });
  }

  #reportNote(code: FindingCode, message: string, lineNumber = this.#lineNumber): void {
    this.onFinding({ isFault: false, code, file: this.#fileSummary.name, line: lineNumber, message });
  }
}
