import { once } from 'node:events';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { Batcher, type Priority } from '../batcher';
import { monotonicMs } from '../deadline';
import { JournalUnavailable } from '../journal';
import { diagnoseSqliteError, otherReasonError } from '../journal-error';
import { createFileOpenError } from '../journal-open-error';
import type { BatchMessage, BatchResult, EncodedJob, Job, JsonParameter } from './messages';
import type { Row, SqlValue, SqlWithValues } from '../rows';

/** Returns a statement with its values. */
export const toStatement = (text: string, ...values: SqlValue[]): SqlWithValues => ({ text, values });

const MAX_BATCH_SIZE = 512;
/** Time in ms that is reserved for writing. The rest of the time limit can be spent waiting for locks. */
const RESERVED_WRITE_TIME_MS = 50;
/** Maximum wait in ms for a lock while the file is opened. Another process may be creating the tables. */
const OPEN_LOCK_TIMEOUT_MS = 10_000;

const THREAD_STOPPED_MESSAGE = 'the SQLite thread of the gateway has stopped; restart the gateway';

/** Sends jobs to a worker thread (worker.mts) that has a connection to the SQLite file, and receives the results. */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #journalPath: string;
  readonly #deferredByBatchId = new Map<number, PromiseWithResolvers<Row[][]>>();
  /** For each SQL text that was already sent to the thread, its number (see EncodedJob). */
  readonly #numberBySqlText = new Map<string, number>();
  readonly #batcher: Batcher<Job, Row[]>;
  #lastBatchId = 0;
  #exitError: Error | undefined;
  #closePromise: Promise<void> | undefined;

  private constructor(worker: Worker, journalPath: string, timeLimitMs: number) {
    this.#worker = worker;
    this.#journalPath = journalPath;
    this.#batcher = new Batcher({
      flush: (jobs, deadlineMs) => this.#send(jobs, deadlineMs - RESERVED_WRITE_TIME_MS),
      maxBatchSize: MAX_BATCH_SIZE,
      maxBatchesInFlight: 1,
      timeLimitMs,
    });
    worker.on('message', (batchResult: BatchResult) => this.#onBatchResult(batchResult));
    worker.on('error', (error) => this.#onExit(error));
    worker.on('exit', () => this.#onExit(otherReasonError(THREAD_STOPPED_MESSAGE)));
    worker.unref();
  }

  /**
   * Opens the file. Creates the file and its folder if they do not exist, unless `isReadOnly` is true. Rejects with a
   * JournalOpenError on failure.
   * @param isReadOnly whether the connection can only read. If true, the file must already exist, have all tables and
   *   be in WAL mode.
   */
  static async open(journalPath: string, timeLimitMs: number, isReadOnly = false): Promise<SqliteThread> {
    try {
      if (!isReadOnly) {
        // Only the last folder of the path is created. If more folders are missing, the path is probably wrong.
        if (!existsSync(path.dirname(journalPath))) mkdirSync(path.dirname(journalPath));
        restrictFileMode(journalPath);
      }
      return new SqliteThread(await startWorker(journalPath, isReadOnly), journalPath, timeLimitMs);
    } catch (error) {
      throw createFileOpenError(journalPath, diagnoseSqliteError(error, journalPath));
    }
  }

  /**
   * Runs a job, and returns its rows. A write is durable when the promise resolves, unless `isUnsynced` is true.
   * Rejects with JournalUnavailable on failure or timeout. A job that has timed out may still be executed.
   */
  run(job: Job, priority?: Priority): Promise<Row[]> {
    return this.#batcher.add(job, priority);
  }

  /** As run(), for one statement that only reads. */
  read(sqlText: string, values: readonly SqlValue[], priority?: Priority): Promise<Row[]> {
    return this.run({ isWrite: false, statements: [toStatement(sqlText, ...values)] }, priority);
  }

  /**
   * Runs one statement during opening. The thread begins no database transaction for the statement, so it can be BEGIN.
   * The wait for a lock is at most OPEN_LOCK_TIMEOUT_MS. The time limit of run() does not apply.
   */
  async runWhileOpening(sqlText: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    const statements = [toStatement(sqlText, ...values)];
    const [rows] = await this.#send([{ isWrite: false, statements }], monotonicMs() + OPEN_LOCK_TIMEOUT_MS);
    return rows ?? [];
  }

  /** Completes queued jobs, then closes the file and ends the thread. */
  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  async #close(): Promise<void> {
    await this.#batcher.close();
    if (this.#exitError) return;
    this.#worker.ref();
    const exitPromise = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await exitPromise;
  }

  #send(jobs: readonly Job[], deadlineMs: number): Promise<Row[][]> {
    if (this.#exitError) return Promise.reject(new JournalUnavailable(this.#exitError));
    const batchId = (this.#lastBatchId += 1);
    const deferred = Promise.withResolvers<Row[][]>();
    this.#deferredByBatchId.set(batchId, deferred);
    // A referenced worker keeps the process from exiting while a batch is in flight.
    this.#worker.ref();
    this.#worker.postMessage({ batchId, ...this.#encodeJobs(jobs), deadlineMs } satisfies BatchMessage);
    return deferred.promise;
  }

  #encodeJobs(jobs: readonly Job[]): Pick<BatchMessage, 'jobsJson' | 'newSqlTexts'> {
    const newSqlTexts: string[] = [];
    const sqlTextNumber = (sqlText: string): number => {
      const knownNumber = this.#numberBySqlText.get(sqlText);
      if (knownNumber !== undefined) return knownNumber;
      const newNumber = this.#numberBySqlText.size;
      this.#numberBySqlText.set(sqlText, newNumber);
      newSqlTexts.push(sqlText);
      return newNumber;
    };
    const encodedJobs = jobs.map(({ statements, ...job }): EncodedJob => ({
      ...job,
      statements: statements.map(({ text, values }) => [sqlTextNumber(text), values.map(toJsonParameter)]),
    }));
    return { jobsJson: JSON.stringify(encodedJobs), newSqlTexts };
  }

  #onBatchResult(batchResult: BatchResult): void {
    const deferred = this.#deferredByBatchId.get(batchResult.batchId);
    this.#deferredByBatchId.delete(batchResult.batchId);
    if (this.#deferredByBatchId.size === 0) this.#worker.unref();
    if ('results' in batchResult) return deferred?.resolve(batchResult.results);
    const { errorText, errcode, systemCode } = batchResult;
    const cause = Object.assign(new Error(errorText), { errcode, code: systemCode });
    deferred?.reject(new JournalUnavailable(diagnoseSqliteError(cause, this.#journalPath)));
  }

  #onExit(error: Error): void {
    this.#exitError ??= error;
    for (const { reject } of this.#deferredByBatchId.values()) reject(new JournalUnavailable(error));
    this.#deferredByBatchId.clear();
  }
}

const toJsonParameter = (value: SqlValue): JsonParameter =>
  value instanceof Uint8Array ? [Buffer.from(value).toString('hex')] : value;

/** Starts the worker thread. Resolves when the thread has opened the file. */
async function startWorker(journalPath: string, isReadOnly: boolean): Promise<Worker> {
  // In tests, Node.js runs the source of the worker (worker.mts); in the build, worker.mjs.
  const workerPath = path.join(__dirname, `worker.m${path.extname(__filename).slice(1)}`);
  const worker = new Worker(workerPath, {
    workerData: { journalPath, busyTimeoutMs: OPEN_LOCK_TIMEOUT_MS, readOnly: isReadOnly },
  });
  await once(worker, 'message');
  return worker;
}

/** Mode of the journal file. SQLite gives the files -wal and -shm the same mode. */
const PRIVATE_FILE_MODE = 0o600;
const WORLD_MODE_BITS = 0o007;

/**
 * Creates the file with mode 0600 if it does not exist. Otherwise, sets this mode on the file, its -wal file and its
 * -shm file, but only on those that users other than owner and group can access. Never throws. A file that belongs to
 * another user may keep its mode; `paygraph doctor` reports this for `journalPath`.
 */
function restrictFileMode(journalPath: string): void {
  try {
    // Do not open an existing file: closing it would release the locks that SQLite in this process has on it (fcntl).
    if (fileModeOf(journalPath) === undefined) closeSync(openSync(journalPath, 'a', PRIVATE_FILE_MODE));
    for (const filePath of [journalPath, `${journalPath}-wal`, `${journalPath}-shm`])
      if (((fileModeOf(filePath) ?? 0) & WORLD_MODE_BITS) !== 0) chmodSync(filePath, PRIVATE_FILE_MODE);
  } catch {
    // Ignore errors of this function. If SQLite cannot open the file either, it reports why.
  }
}

const fileModeOf = (filePath: string): number | undefined =>
  statSync(filePath, { throwIfNoEntry: false })?.mode;
