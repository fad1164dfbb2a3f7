import { createReadStream } from 'node:fs';
import { NO_HASH, hashOf, isCutOff, readLine, type AuditLine } from './line';

/** Stable codes of the problems of a line. */
export type FindingCode =
  | 'not_a_line'
  | 'cut_off'
  | 'changed'
  | 'lines_missing'
  | 'out_of_place'
  | 'files_out_of_order'
  | 'continues_older_file'
  | 'new_chain';

/** A finding about a line. A fault shows that the log was changed, a note does not. */
export interface Finding {
  isFault: boolean;
  code: FindingCode;
  file: string;
  line: number;
  message: string;
}

/** Content of a file. */
export interface FileSummary {
  name: string;
  lines: number;
  calls: number;
  /** The times of the first and the last line. */
  first?: string;
  last?: string;
  /** The hash of the last line, which covers all lines before it. Undefined in a file without lines. */
  seal?: string;
}

/** A process that wrote to the log. */
export interface Writer {
  id: string;
  pid: number;
  host: string;
  opened: string;
  isClosed: boolean;
}

/** Many times the longest line. Of a longer one only this much is kept. */
const MAX_LENGTH = 64 * 1024;
/** Partial lines in a row that are remembered. */
const MAX_PENDING = 100;

const linesAre = (count: number): string => (count === 1 ? '1 line is' : `${count} lines are`);

/** Checks the lines of one or several files, oldest first. Uses little memory for files of any size. */
export class Verifier {
  readonly files: FileSummary[] = [];
  /** Number of entries that the gateway could not write, according to the lines. */
  missed = 0;
  readonly #writers = new Map<string, Writer>();
  readonly #report: (finding: Finding) => void;
  readonly #expected: Set<string>;
  readonly #key: string | null;
  #file: FileSummary = { name: '', lines: 0, calls: 0 };
  /** Line number in the file, empty lines included. */
  #place = 0;
  #last: Pick<AuditLine, 'seq' | 'hash'> | undefined;
  /** Hash of the last line of the previous file. */
  #previousFile: string | undefined;
  /** Hashes of older files that were not given before this one. */
  readonly #older = new Set<string>();
  /** Line numbers of partial lines after the last complete one. */
  #partial: number[] = [];

  /**
   * @param key AUDIT_LOG_KEY
   * @param expected hashes of lines that have to be in the files
   */
  constructor(report: (finding: Finding) => void, key: string | null, expected: readonly string[] = []) {
    this.#report = report;
    this.#key = key;
    this.#expected = new Set(expected);
  }

  get writers(): Writer[] {
    return [...this.#writers.values()];
  }

  /** Expected hashes that were not found. */
  get notFound(): string[] {
    return [...this.#expected];
  }

  /**
   * Reads a file; every byte is one character. Rejects where it cannot be read.
   * @param onRead called with the number of bytes read so far
   */
  async readFile(name: string, onRead: (bytes: number) => void = () => undefined): Promise<void> {
    this.#file = { name, lines: 0, calls: 0 };
    this.files.push(this.#file);
    this.#place = 0;
    this.#previousFile = this.#last?.hash;
    let rest = '';
    let bytes = 0;
    for await (const chunk of createReadStream(name, 'latin1') as AsyncIterable<string>) {
      const texts = (rest + chunk).split('\n');
      rest = (texts.pop() ?? '').slice(0, MAX_LENGTH);
      for (const text of texts) this.#addLine(text);
      onRead((bytes += chunk.length));
    }
    if (rest !== '') this.#addLine(rest);
    // Only the last line can be one that was being written, and only if it has no line feed.
    this.#reportPartial((place) => rest !== '' && place === this.#place);
  }

  #addLine(text: string): void {
    this.#place += 1;
    if (text === '') return;
    const line = readLine(text);
    if (line) return this.#check(line);
    if (!isCutOff(text)) return this.#fault('not_a_line', 'this is not a line of an audit log.');
    if (this.#partial.length >= MAX_PENDING) this.#reportPartial(() => false);
    this.#partial.push(this.#place);
  }

  #check(line: AuditLine): void {
    this.#reportPartial(() => line.torn === true);
    if (this.#older.has(line.hash))
      this.#fault(
        'files_out_of_order',
        'an earlier file continues this one: the files are not in their order.',
      );
    const isInPlace = this.#file.lines === 0 ? this.#checkFirst(line) : this.#checkNext(line);
    if (isInPlace) this.#last = { seq: line.seq, hash: line.hash };
    this.missed += line.missed ?? 0;
    this.#count(line);
  }

  #count({ event, time, hash, writer, pid = 0, host = '?' }: AuditLine): void {
    const file = this.#file;
    file.lines += 1;
    if (event === 'call') file.calls += 1;
    file.first ??= time;
    file.last = time;
    file.seal = hash;
    this.#expected.delete(hash);
    const known = this.#writers.get(writer);
    if (event === 'opened')
      this.#writers.set(writer, { id: writer, pid, host, opened: time, isClosed: false });
    else if (known && event === 'closed') known.isClosed = true;
  }

  /** Checks the first line of a file. */
  #checkFirst(line: AuditLine): boolean {
    const { seq, continues = NO_HASH } = line;
    if (continues !== NO_HASH) this.#checkContinued(continues);
    else if (seq > 0) {
      this.#fault('lines_missing', `${linesAre(seq)} missing before this one, or in an older file.`);
      return true;
    } else if (this.files.length > 1)
      this.#note('new_chain', 'a new chain begins here: lines missing before it would not be found.');
    this.#checkHash(continues, line);
    return true;
  }

  #checkContinued(continues: string): void {
    if (this.#previousFile === continues) return;
    if (this.#previousFile !== undefined) {
      this.#fault('lines_missing', 'lines are missing between the end of the file before and this line.');
      return;
    }
    this.#older.add(continues);
    this.#note('continues_older_file', `this continues an older file, whose last hash is ${continues}.`);
  }

  /** Returns whether the line belongs here. */
  #checkNext(line: AuditLine): boolean {
    const last = this.#last ?? { seq: -1, hash: NO_HASH };
    const missing = line.seq - last.seq - 1;
    if (missing < 0) {
      this.#fault('out_of_place', `this line is a copy or was moved: it is line ${line.seq} of the chain.`);
      return false;
    }
    if (missing > 0) this.#fault('lines_missing', `${linesAre(missing)} missing before this one.`);
    else this.#checkHash(last.hash, line);
    if (line.continues !== undefined && this.#previousFile !== undefined)
      this.#checkContinued(line.continues);
    return true;
  }

  #checkHash(previous: string, { body, hash }: AuditLine): void {
    if (hashOf(previous, body, this.#key) !== hash)
      this.#fault(
        'changed',
        'this line or the one before it was changed, or it was written with another AUDIT_LOG_KEY.',
      );
  }

  #reportPartial(isExplained: (place: number) => boolean): void {
    for (const place of this.#partial.splice(0)) {
      if (isExplained(place))
        this.#note(
          'cut_off',
          'this line was written partially (crash or full disk): its entry is missing.',
          place,
        );
      else this.#fault('cut_off', 'this line was cut off after it had been written.', place);
    }
  }

  #fault(code: FindingCode, message: string, line = this.#place): void {
    this.#report({ isFault: true, code, file: this.#file.name, line, message });
  }

  #note(code: FindingCode, message: string, line = this.#place): void {
    this.#report({ isFault: false, code, file: this.#file.name, line, message });
  }
}
