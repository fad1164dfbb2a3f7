import { once } from 'node:events';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { Batcher, type Priority } from '../batcher';
import { monotonicMs } from '../deadline';
import { JournalUnavailable } from '../journal';
import { diagnoseSqliteError, unclassifiedError } from '../journal-error';
import { fileOpenError } from '../journal-open-error';
import type { BatchMessage, BatchResult, EncodedJob, Job, JsonParameter } from './messages';
import type { Row, SqlValue, SqlWithValues } from '../rows';

/** Returns a statement with its values. */
export const sql = (text: string, ...values: SqlValue[]): SqlWithValues => ({ text, values });

const MAX_BATCH = 512;
/** Time in ms that is reserved for writing. The rest of the time limit can be spent waiting for locks. */
const RESERVED_WRITE_TIME_MS = 50;
/** Maximum wait in ms for a lock while the file is opened. Another process may be creating the tables. */
const OPEN_LOCK_TIMEOUT_MS = 10_000;

const THREAD_STOPPED_MESSAGE = 'the SQLite thread of the gateway has stopped; restart the gateway';

/** Sends jobs to a worker thread (worker.mts) that has a connection to the SQLite file, and receives the results. */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #file: string;
  readonly #inFlightBatches = new Map<number, PromiseWithResolvers<Row[][]>>();
  /** For each SQL text that was already sent to the thread, its number (see EncodedJob). */
  readonly #statementNumbers = new Map<string, number>();
  readonly #batcher: Batcher<Job, Row[]>;
  #lastBatchId = 0;
  #exitError: Error | undefined;
  #closing: Promise<void> | undefined;

  private constructor(worker: Worker, file: string, timeLimitMs: number) {
    this.#worker = worker;
    this.#file = file;
    this.#batcher = new Batcher({
      flush: (jobs, until) => this.#send(jobs, until - RESERVED_WRITE_TIME_MS),
      maxBatchSize: MAX_BATCH,
      concurrency: 1,
      timeLimitMs,
    });
    worker.on('message', (result: BatchResult) => this.#onResult(result));
    worker.on('error', (error) => this.#onExit(error));
    worker.on('exit', () => this.#onExit(unclassifiedError(THREAD_STOPPED_MESSAGE)));
    worker.unref();
  }

  /**
   * Opens the file. Creates the file and its folder if they do not exist, unless `readOnly` is true. Rejects with a
   * JournalOpenError on failure.
   * @param readOnly whether the connection can only read. If true, the file must already exist, have all tables and be
   *   in WAL mode.
   */
  static async open(file: string, timeLimitMs: number, readOnly = false): Promise<SqliteThread> {
    try {
      if (!readOnly) {
        // Only the last folder of the path is created. If more folders are missing, the path is probably wrong.
        if (!existsSync(path.dirname(file))) mkdirSync(path.dirname(file));
        restrictFileMode(file);
      }
      return new SqliteThread(await startWorker(file, readOnly), file, timeLimitMs);
    } catch (error) {
      throw fileOpenError(file, diagnoseSqliteError(error, file));
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
  read(text: string, values: readonly SqlValue[], priority?: Priority): Promise<Row[]> {
    return this.run({ isWrite: false, statements: [sql(text, ...values)] }, priority);
  }

  /**
   * Runs one statement during opening. The thread begins no database transaction for the statement, so it can be BEGIN.
   * The wait for a lock is at most OPEN_LOCK_TIMEOUT_MS. The time limit of run() does not apply.
   */
  async runWhileOpening(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    const statements = [sql(text, ...values)];
    const [rows] = await this.#send([{ isWrite: false, statements }], monotonicMs() + OPEN_LOCK_TIMEOUT_MS);
    return rows ?? [];
  }

  /** Completes queued jobs, then closes the file and ends the thread. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#batcher.close();
    if (this.#exitError) return;
    this.#worker.ref();
    const exitPromise = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await exitPromise;
  }

  #send(jobs: readonly Job[], until: number): Promise<Row[][]> {
    if (this.#exitError) return Promise.reject(new JournalUnavailable(this.#exitError));
    const batchId = (this.#lastBatchId += 1);
    const inFlightBatch = Promise.withResolvers<Row[][]>();
    this.#inFlightBatches.set(batchId, inFlightBatch);
    // A referenced worker keeps the process from exiting while a batch is in flight.
    this.#worker.ref();
    this.#worker.postMessage({ batchId, ...this.#encodeJobs(jobs), until } satisfies BatchMessage);
    return inFlightBatch.promise;
  }

  #encodeJobs(jobs: readonly Job[]): Pick<BatchMessage, 'jobsJson' | 'newSqlTexts'> {
    const newSqlTexts: string[] = [];
    const textNumber = (text: string): number => {
      const knownNumber = this.#statementNumbers.get(text);
      if (knownNumber !== undefined) return knownNumber;
      const newNumber = this.#statementNumbers.size;
      this.#statementNumbers.set(text, newNumber);
      newSqlTexts.push(text);
      return newNumber;
    };
    const encodedJobs = jobs.map(({ statements, ...job }): EncodedJob => ({
      ...job,
      statements: statements.map(({ text, values }) => [textNumber(text), values.map(toJsonParameter)]),
    }));
    return { jobsJson: JSON.stringify(encodedJobs), newSqlTexts };
  }

  #onResult(result: BatchResult): void {
    const inFlightBatch = this.#inFlightBatches.get(result.batchId);
    this.#inFlightBatches.delete(result.batchId);
    if (this.#inFlightBatches.size === 0) this.#worker.unref();
    if ('results' in result) return inFlightBatch?.resolve(result.results);
    const { error, errcode, code } = result;
    const cause = Object.assign(new Error(error), { errcode, code });
    inFlightBatch?.reject(new JournalUnavailable(diagnoseSqliteError(cause, this.#file)));
  }

  #onExit(error: Error): void {
    this.#exitError ??= error;
    for (const { reject } of this.#inFlightBatches.values()) reject(new JournalUnavailable(error));
    this.#inFlightBatches.clear();
  }
}

const toJsonParameter = (value: SqlValue): JsonParameter =>
  value instanceof Uint8Array ? [Buffer.from(value).toString('hex')] : value;

/** Starts the worker thread. Resolves when the thread has opened the file. */
async function startWorker(file: string, readOnly: boolean): Promise<Worker> {
  // In tests, Node.js runs the source of the worker (worker.mts); in the build, worker.mjs.
  const workerPath = path.join(__dirname, `worker.m${path.extname(__filename).slice(1)}`);
  const worker = new Worker(workerPath, {
    workerData: { path: file, busyTimeoutMs: OPEN_LOCK_TIMEOUT_MS, readOnly },
  });
  await once(worker, 'message');
  return worker;
}

/** Mode of the journal file. SQLite gives the files -wal and -shm the same mode. */
const PRIVATE_FILE_MODE = 0o600;
const WORLD_MODE_BITS = 0o007;

/**
 * If the file does not exist, creates it with mode 0600. If users other than owner and group have access to the file,
 * its -wal file or its -shm file, sets this mode on that file. Never throws. A file that belongs to another user may keep
 * its mode; `paygraph doctor` reports this for `file`.
 */
function restrictFileMode(file: string): void {
  try {
    // Do not open an existing file: closing it would release the locks that SQLite in this process has on it (fcntl).
    if (fileModeOf(file) === undefined) closeSync(openSync(file, 'a', PRIVATE_FILE_MODE));
    for (const journalFile of [file, `${file}-wal`, `${file}-shm`])
      if (((fileModeOf(journalFile) ?? 0) & WORLD_MODE_BITS) !== 0) chmodSync(journalFile, PRIVATE_FILE_MODE);
  } catch {
    // Ignore errors of this function. If SQLite cannot open the file either, it reports why.
  }
}

const fileModeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.mode;
