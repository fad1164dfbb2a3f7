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

type ReportColumn = readonly [name: string, readCell: (checkedAttempt: CheckedAttempt) => string | null];

/** Returns the status of `latestChange`. If it is null, returns the status recorded with the outcome, or null. */
const latestRecordedStatusOf = ({ attempt, latestChange }: CheckedAttempt): string | null =>
  latestChange?.status ??
  (attempt.wireStatus === null ? null : toGraphqlStatus(attempt.kind, attempt.wireStatus));

const REPORT_COLUMNS: readonly ReportColumn[] = [
  ['result', ({ result }) => result],
  ['detail', ({ detail }) => detail],
  ['operation', ({ attempt }) => mutationName(attempt)],
  ['channel', ({ attempt }) => attempt.channel],
  ['externalId', ({ attempt }) => attempt.externalId],
  ['transactionId', ({ attempt }) => attempt.transactionId],
  ['outcome', ({ attempt }) => attempt.outcome],
  ['status', latestRecordedStatusOf],
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

/** Selects the attempts that `reconcile` compares and reports. --resume requires the same selection. */
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

const progressPathOf = (csvPath: string): string => `${csvPath}.progress`;

/**
 * The CSV file of a run, with a progress file beside it. After Ctrl+C or a crash, a resumed run continues after the
 * last saved result. So the CSV file contains no attempt twice.
 */
export class ReportFile implements Disposable {
  /** CSV records that were added after the last save(). */
  #unsavedCsv = '';

  private constructor(
    private readonly csvPath: string,
    private readonly fileDescriptor: number,
    private readonly progress: Progress,
  ) {}

  /** Creates the CSV file and the progress file. @throws InputError if one of them exists or cannot be created */
  static create(csvPath: string, selection: AttemptSelection): ReportFile {
    if (existsSync(progressPathOf(csvPath)))
      throw new InputError(
        `${csvPath} is from an interrupted run: continue it with --resume, or delete it and its .progress file.`,
      );
    const counts = Object.fromEntries(COMPARISON_RESULTS.map((result) => [result, 0])) as Progress['counts'];
    const progress = { selection, position: null, bytes: 0, counts };
    const reportFile = new ReportFile(csvPath, openReportFile(csvPath, 'ax'), progress);
    reportFile.#unsavedCsv = csvRecord(REPORT_COLUMNS.map(([name]) => name));
    reportFile.save();
    return reportFile;
  }

  /** Opens the files of an interrupted run. @throws InputError if one is unusable or the run had another selection */
  static resume(csvPath: string, selection: AttemptSelection): ReportFile {
    if (!existsSync(progressPathOf(csvPath)))
      throw new InputError(
        `${csvPath}: there is no interrupted run to resume. To start a new run, omit --resume.`,
      );
    const progress = readProgress(progressPathOf(csvPath));
    if (JSON.stringify(progress.selection) !== JSON.stringify(selection))
      throw new InputError(
        `${csvPath} is from a run with another SERVICE_BASE_URL, --from, --to, --channel or --all: resume it with the same values.`,
      );
    return new ReportFile(csvPath, openReportFile(csvPath, constants.O_RDWR | constants.O_APPEND), progress);
  }

  /** Number of attempts with each result. */
  get countByResult(): Readonly<Progress['counts']> {
    return this.progress.counts;
  }

  get checkedCount(): number {
    return Object.values(this.countByResult).reduce((sum, count) => sum + count, 0);
  }

  /** Number of attempts with a result other than `agrees`, including `unknown`. */
  get notAgreeingCount(): number {
    return this.checkedCount - this.countByResult.agrees;
  }

  /** Position of the last attempt whose result was added; null at the start. */
  get lastPosition(): AttemptPosition | null {
    return this.progress.position;
  }

  /** Adds the next result; save() writes it. */
  addAttempt(checkedAttempt: CheckedAttempt): void {
    const { result, attempt } = checkedAttempt;
    const { counts, selection } = this.progress;
    counts[result] += 1;
    this.progress.position = { startedAt: attempt.startedAt, seq: attempt.seq };
    if (selection.all || result !== 'agrees')
      this.#unsavedCsv += csvRecord(REPORT_COLUMNS.map(([, readCell]) => readCell(checkedAttempt)));
  }

  /** Writes the added results to disk, then the progress file. */
  save(): void {
    const { fileDescriptor, progress } = this;
    // Discard the bytes that a crash or a failed write may have left after the last saved result.
    ftruncateSync(fileDescriptor, progress.bytes);
    writeFileSync(fileDescriptor, this.#unsavedCsv, { flush: true });
    progress.bytes += Buffer.byteLength(this.#unsavedCsv);
    this.#unsavedCsv = '';
    replaceFile(progressPathOf(this.csvPath), JSON.stringify(progress));
  }

  /** Saves the results and removes the progress file. */
  complete(): void {
    this.save();
    rmSync(progressPathOf(this.csvPath));
  }

  [Symbol.dispose](): void {
    closeSync(this.fileDescriptor);
  }
}

function openReportFile(csvPath: string, openFlags: string | number): number {
  try {
    return openSync(csvPath, openFlags);
  } catch (error) {
    const errorCode = errorOrCauseCode(error);
    throw new InputError(
      errorCode === 'EEXIST'
        ? `${csvPath} exists: name another file with --out.`
        : `${csvPath} cannot be opened (${errorCode}).`,
    );
  }
}

function readProgress(progressPath: string): Progress {
  try {
    return JSON.parse(readFileSync(progressPath, 'utf8')) as Progress;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new InputError(`${progressPath} is damaged: start again without --resume, with another --out.`);
    throw new InputError(`${progressPath} cannot be read (${errorOrCauseCode(error)}).`);
  }
}
