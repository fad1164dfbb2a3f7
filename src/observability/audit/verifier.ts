import { NOTHING, hashOf, isCutOff, readLineBehind, sealOf, type AuditLine } from './chain';

/** What is wrong with a line, for scripts. */
export type FindingCode =
  | 'not_a_line'
  | 'cut_off'
  | 'changed'
  | 'lines_missing'
  | 'other_chain_missing'
  | 'out_of_place'
  | 'no_opening'
  | 'opened_twice'
  | 'closed_before'
  | 'wrong_line_count'
  | 'files_out_of_order'
  | 'continues_older_file';

/** Something about a line: a fault shows that the file was changed, a note does not. */
export interface Finding {
  isFault: boolean;
  code: FindingCode;
  file: string;
  line: number;
  says: string;
}

/** What a file holds. */
export interface FileSummary {
  name: string;
  lines: number;
  calls: number;
  /** The times of the first and the last line. */
  first?: string;
  last?: string;
  /** The hash over all lines; in a file without lines there is none. */
  seal?: string;
}

/** A chain, as far as it has been read. */
export interface ChainState {
  id: string;
  /** Who writes it, and since when. */
  pid: number;
  host: string;
  opened: string;
  isClosed: boolean;
  seq: number;
  hash: string;
}

/**
 * A process names the last line of the others, and writes; between the two the others may write this many lines. That
 * is far more than they can, and all that is remembered of lines.
 */
const REMEMBERED = 10_000;

/** The hashes of the last lines. */
class Recent {
  readonly #hashes = new Set<string>();

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  add(hash: string): void {
    this.#hashes.add(hash);
    const [oldest] = this.#hashes.size > REMEMBERED ? this.#hashes : [];
    if (oldest !== undefined) this.#hashes.delete(oldest);
  }
}

const short = (id: string): string => id.slice(0, 8);
const lines = (count: number): string => (count === 1 ? '1 line' : `${count} lines`);

/** Reads the lines of one or several files in their order, and finds what was changed. Its memory grows with chains only. */
export class Verifier {
  readonly files: FileSummary[] = [];
  /** Calls that are not on record, as the lines say. */
  missed = 0;
  readonly #chains = new Map<string, ChainState>();
  readonly #report: (finding: Finding) => void;
  readonly #expected: Set<string>;
  readonly #recent = new Recent();
  /** Chains that were continued before they were seen. */
  readonly #older = new Set<string>();
  #file: FileSummary = { name: '', lines: 0, calls: 0 };
  /** Where in the file, empty lines included. */
  #place = 0;
  #isEnded = true;
  /** Lines that were cut off, and no later line says so yet. */
  #cutOff: number[] = [];

  /** @param expected seals, or hashes of lines, that have to be there */
  constructor(report: (finding: Finding) => void, expected: readonly string[] = []) {
    this.#report = report;
    this.#expected = new Set(expected);
  }

  get chains(): ChainState[] {
    return [...this.#chains.values()];
  }

  /** What was expected and has not been found. */
  get notFound(): string[] {
    return [...this.#expected];
  }

  /** The lines that follow are of this file. */
  beginFile(name: string): void {
    this.#file = { name, lines: 0, calls: 0 };
    this.files.push(this.#file);
    this.#place = 0;
    this.#cutOff = [];
  }

  /** The next line of the file, without its end; the last one may have none. */
  readonly take = (text: string, isEnded: boolean): void => {
    this.#place += 1;
    this.#isEnded = isEnded;
    if (text === '') return;
    const found = readLineBehind(text);
    const before = found ? found.cutOff : text;
    if (before !== '') this.#takeFragment(before, found !== undefined);
    if (found) this.#takeLine(found.line);
  };

  /** No more lines of the file follow. */
  endFile(): void {
    this.#settleCutOff((place) => place === this.#place && !this.#isEnded);
  }

  #fault(code: FindingCode, says: string, line = this.#place): void {
    this.#report({ isFault: true, code, file: this.#file.name, line, says });
  }

  #note(code: FindingCode, says: string, line = this.#place): void {
    this.#report({ isFault: false, code, file: this.#file.name, line, says });
  }

  #takeFragment(text: string, isFollowed: boolean): void {
    if (!isCutOff(text)) return this.#fault('not_a_line', 'this is no line of an audit log.');
    // Another process wrote right behind it, before anybody could tell of it.
    if (isFollowed) return this.#noteCutOff(this.#place);
    // Most cuts are settled by the line behind; many in a row are none.
    if (this.#cutOff.length >= 100) this.#settleCutOff(() => false);
    this.#cutOff.push(this.#place);
  }

  #noteCutOff(place: number): void {
    this.#note(
      'cut_off',
      'the writing of this line was cut off, by a crash or a full disk: its call is missing.',
      place,
    );
  }

  #settleCutOff(isExplained: (place: number) => boolean): void {
    for (const place of this.#cutOff.splice(0)) {
      if (isExplained(place)) this.#noteCutOff(place);
      else
        this.#fault(
          'cut_off',
          'this line was cut off, and not while it was written: no later line tells of it.',
          place,
        );
    }
  }

  #takeLine(line: AuditLine): void {
    if (line.torn) this.#settleCutOff(() => true);
    this.#checkOthers(line);
    const chain = this.#chains.get(line.chain);
    if (chain) this.#checkNext(chain, line);
    else this.#checkFirst(line);
    this.missed += line.missed ?? 0;
    this.#count(line);
  }

  #count(line: AuditLine): void {
    const file = this.#file;
    file.lines += 1;
    if (line.event === 'call') file.calls += 1;
    file.first ??= line.time;
    file.last = line.time;
    file.seal = sealOf(file.seal ?? NOTHING, line.hash);
    this.#recent.add(line.hash);
    this.#expected.delete(line.hash);
    this.#expected.delete(file.seal);
  }

  /** What the line says of the lines of other chains. */
  #checkOthers({ after, event }: AuditLine): void {
    if (after !== undefined && !this.#recent.has(after))
      this.#fault(
        'other_chain_missing',
        `a line of another chain stood before this one and is missing or was changed; its hash was ${after}.`,
      );
    if (after === undefined && event === 'opened' && this.#file.lines > REMEMBERED)
      this.#fault(
        'other_chain_missing',
        'this line says that the file was empty before it, which it was not.',
      );
  }

  #checkFirst(line: AuditLine): void {
    const { chain: id, seq, hash, pid = 0, host = '?', time: opened } = line;
    this.#chains.set(id, { id, pid, host, opened, isClosed: line.event === 'closed', seq, hash });
    if (this.#older.has(id))
      this.#fault(
        'files_out_of_order',
        `an earlier line continues chain ${short(id)}: the files are not in their order.`,
      );
    if (seq > 0) {
      this.#fault(
        'lines_missing',
        `the first ${lines(seq)} of chain ${short(id)} are missing, or in an older file.`,
      );
      return;
    }
    if (line.event !== 'opened')
      this.#fault('no_opening', `chain ${short(id)} does not begin with its opening line.`);
    if (hashOf(NOTHING, line.body) !== hash)
      this.#fault('changed', 'this line was changed: its hash is not that of its content.');
    if (line.continues) this.#checkContinued(line.continues);
  }

  #checkContinued({ chain, hash }: { chain: string; hash: string }): void {
    const older = this.#chains.get(chain);
    if (older?.hash === hash) return;
    if (older)
      this.#fault(
        'lines_missing',
        `the last lines of chain ${short(chain)}, which this one continues, are missing.`,
      );
    else if (this.files.length > 1)
      this.#fault(
        'lines_missing',
        `chain ${short(chain)}, which this one continues, is missing in the file before.`,
      );
    else {
      this.#older.add(chain);
      this.#note(
        'continues_older_file',
        `this continues chain ${short(chain)} of an older file, whose last hash was ${hash}.`,
      );
    }
  }

  #checkNext(chain: ChainState, line: AuditLine): void {
    const missing = line.seq - chain.seq - 1;
    if (missing < 0) {
      this.#fault(
        'out_of_place',
        `this line is a copy, or not in its place: it is line ${line.seq} of chain ${short(chain.id)}, of which line ${chain.seq} was before.`,
      );
      return;
    }
    if (chain.isClosed) this.#fault('closed_before', `chain ${short(chain.id)} was closed before this line.`);
    if (missing > 0)
      this.#fault(
        'lines_missing',
        `${lines(missing)} of chain ${short(chain.id)} before this one ${missing === 1 ? 'is' : 'are'} missing.`,
      );
    else if (hashOf(chain.hash, line.body) !== line.hash)
      this.#fault(
        'changed',
        `this line was changed, or the one before it in chain ${short(chain.id)}: its hash does not fit.`,
      );
    if (line.event === 'opened') this.#fault('opened_twice', `chain ${short(chain.id)} is opened twice.`);
    if (line.event === 'closed' && line.lines !== line.seq + 1)
      this.#fault(
        'wrong_line_count',
        `chain ${short(chain.id)} does not have the number of lines that its closing line says.`,
      );
    chain.isClosed ||= line.event === 'closed';
    chain.seq = line.seq;
    chain.hash = line.hash;
  }
}
