import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { AttemptsByStartQuery } from '../../datasources/journal/attempts-by-start';
import type { AttemptPosition } from '../../datasources/journal/journal';
import { presentOrNull } from '../../schema/lazy-field';
import { mutationName } from '../attempts/report';
import { InputError } from '../context';
import { csvRecord } from '../csv';
import { errorOrCauseCode } from '../../shared/error-code';
import { replaceFile } from '../options';
import { isoTime } from '../terminal';
import type { CheckedAttempt } from './check-attempt';
import { COMPARISON_RESULTS, toGraphqlStatus, type ComparisonResult } from './compare';

type ReportColumn = readonly [name: string, read: (checked: CheckedAttempt) => string | null];

/** Returns the status of `latestChange`. If it is null, returns the status that was recorded with the outcome, or null. */
const recordedStatusOf = ({ attempt, latestChange }: CheckedAttempt): string | null =>
  latestChange?.status ?? (attempt.status === null ? null : toGraphqlStatus(attempt.kind, attempt.status));

const REPORT_COLUMNS: readonly ReportColumn[] = [
  ['result', ({ result }) => result],
  ['detail', ({ detail }) => detail],
  ['operation', ({ attempt }) => mutationName(attempt)],
  ['channel', ({ attempt }) => attempt.channel],
  ['externalId', ({ attempt }) => attempt.externalId],
  ['transactionId', ({ attempt }) => attempt.transactionId],
  ['outcome', ({ attempt }) => attempt.outcome],
  ['status', recordedStatusOf],
  ['currency', ({ attempt }) => attempt.currency],
  ['value', ({ attempt }) => attempt.value],
  ['received', ({ latestChange }) => latestChange?.received ?? null],
  ['serviceTransactionId', ({ transaction }) => transaction?.transactionId ?? null],
  [
    'serviceStatus',
    ({ transaction }) =>
      transaction?.status === 'UNKNOWN' ? transaction.rawStatus : (transaction?.status ?? null),
  ],
  ['serviceCurrency', ({ transaction }) => presentOrNull(transaction?.amount)?.currency ?? null],
  ['serviceValue', ({ transaction }) => presentOrNull(transaction?.amount)?.value ?? null],
  ['serviceReceived', ({ transaction }) => presentOrNull(transaction?.amount)?.received ?? null],
  ['startedAt', ({ attempt }) => isoTime(attempt.startedAt)],
  ['checkedAt', ({ checkedAt }) => isoTime(checkedAt)],
  ['client', ({ attempt }) => attempt.client],
  ['idempotencyKey', ({ attempt }) => attempt.key],
  ['attemptId', ({ attempt }) => attempt.id],
];

/** The attempts that a run of `reconcile` compares. --resume continues a run only with the same selection. */
interface AttemptSelection extends Omit<AttemptsByStartQuery, 'after'> {
  /** Whether the report file also contains the attempts that agree. */
  all: boolean;
}

interface Progress {
  selection: AttemptSelection;
  /** Position of the last attempt whose result was added; null at the start. */
  position: AttemptPosition | null;
  /** Size of the CSV file in bytes up to the last saved result. save() first truncates the file to this size. */
  bytes: number;
  counts: Record<ComparisonResult, number>;
}

const progressFileOf = (file: string): string => `${file}.progress`;

/**
 * The CSV file of a run, with a progress file beside it. After Ctrl+C or a crash, a resumed run continues after the
 * last saved result. So the CSV file contains no attempt twice.
 */
export class ReportFile implements Disposable {
  /** CSV records that were added after the last save(). */
  #pendingRecords = '';

  private constructor(
    private readonly file: string,
    private readonly descriptor: number,
    private readonly progress: Progress,
  ) {}

  /** Creates the CSV file and the progress file. @throws InputError if one of them exists or cannot be created */
  static create(file: string, selection: AttemptSelection): ReportFile {
    if (existsSync(progressFileOf(file)))
      throw new InputError(
        `${file} is from an interrupted run: continue it with --resume, or delete it and its .progress file.`,
      );
    const counts = Object.fromEntries(COMPARISON_RESULTS.map((result) => [result, 0])) as Progress['counts'];
    const progress = { selection, position: null, bytes: 0, counts };
    const report = new ReportFile(file, openReport(file, 'ax'), progress);
    report.#pendingRecords = csvRecord(REPORT_COLUMNS.map(([name]) => name));
    report.save();
    return report;
  }

  /** Opens the files of an interrupted run. @throws InputError if one is unusable or the run had another selection */
  static resume(file: string, selection: AttemptSelection): ReportFile {
    if (!existsSync(progressFileOf(file)))
      throw new InputError(
        `${file}: there is no interrupted run to resume. To start a new run, omit --resume.`,
      );
    const progress = readProgress(progressFileOf(file));
    if (JSON.stringify(progress.selection) !== JSON.stringify(selection))
      throw new InputError(
        `${file} is from a run with another SERVICE_BASE_URL, --from, --to, --channel or --all.`,
      );
    return new ReportFile(file, openReport(file, constants.O_RDWR | constants.O_APPEND), progress);
  }

  /** Number of attempts with each result. */
  get counts(): Readonly<Progress['counts']> {
    return this.progress.counts;
  }

  get checkedCount(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  get differenceCount(): number {
    return this.checkedCount - this.counts.agrees;
  }

  /** Position of the last attempt whose result was added; null at the start. */
  get position(): AttemptPosition | null {
    return this.progress.position;
  }

  /** Adds the next result; save() writes it. */
  add(checked: CheckedAttempt): void {
    const { result, attempt } = checked;
    const { counts, selection } = this.progress;
    counts[result] += 1;
    this.progress.position = { startedAt: attempt.startedAt, seq: attempt.seq };
    if (selection.all || result !== 'agrees')
      this.#pendingRecords += csvRecord(REPORT_COLUMNS.map(([, read]) => read(checked)));
  }

  /** Writes the added results to disk, then the progress file. */
  save(): void {
    const { descriptor, progress } = this;
    // Discard the bytes that a crash or a failed write may have left after the last saved result.
    ftruncateSync(descriptor, progress.bytes);
    writeFileSync(descriptor, this.#pendingRecords, { flush: true });
    progress.bytes += Buffer.byteLength(this.#pendingRecords);
    this.#pendingRecords = '';
    replaceFile(progressFileOf(this.file), JSON.stringify(progress));
  }

  /** Saves the results and removes the progress file. */
  complete(): void {
    this.save();
    rmSync(progressFileOf(this.file));
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
  }
}

function openReport(file: string, flags: string | number): number {
  try {
    return openSync(file, flags);
  } catch (error) {
    const code = errorOrCauseCode(error);
    throw new InputError(
      code === 'EEXIST'
        ? `${file} exists: name another file with --out.`
        : `${file} cannot be opened (${code}).`,
    );
  }
}

function readProgress(file: string): Progress {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Progress;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new InputError(`${file} is damaged: start again without --resume, with another --out.`);
    throw new InputError(`${file} cannot be read (${errorOrCauseCode(error)}).`);
  }
}
