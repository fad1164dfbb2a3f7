import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { BatchMessage, BatchResult, EncodedJob, JsonParameter } from './messages.js';

/**
 * Worker thread with a connection to the SQLite file, so that disk syncs and locks of other processes do not block the
 * gateway's event loop. This module imports only types of the project, because in tests Node.js runs it uncompiled.
 */

const SQLITE_BUSY = 5;

/** A copy of monotonicMs() in deadline.ts, which this module cannot import. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const { journalPath, busyTimeoutMs, readOnly } = workerData as {
  journalPath: string;
  busyTimeoutMs: number;
  readOnly: boolean;
};
const database = new DatabaseSync(journalPath, { timeout: busyTimeoutMs, readOnly });
const openedDeviceAndInode = deviceAndInodeAtPath();
if (!readOnly) {
  setWalMode(monotonicMs() + busyTimeoutMs);
  database.exec('PRAGMA synchronous = FULL');
  // A checkpoint writes each changed page once, however often it changed. So checkpoints after 4000 pages (16 MB) write
  // less in total than checkpoints after 1000 pages, the default.
  database.exec('PRAGMA wal_autocheckpoint = 4000');
}

/**
 * Sets WAL mode. Retries until `deadlineMs`, a time by monotonicMs(). SQLite's own timeout does not apply while another
 * process changes the mode.
 */
function setWalMode(deadlineMs: number): void {
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || monotonicMs() >= deadlineMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** Returns the device and inode of the file at the path; undefined if there is none. */
function deviceAndInodeAtPath(): string | undefined {
  const stats = statSync(journalPath, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/**
 * Throws if the open file is no longer at the path. A restarted gateway would not find what was written to the open
 * file.
 */
function assertFileNotReplaced(): void {
  if (deviceAndInodeAtPath() === openedDeviceAndInode) return;
  throw Object.assign(new Error('The SQLite file was removed or replaced.'), { code: 'FILE_REPLACED' });
}

let synchronous = 'FULL';

/** Sets when SQLite syncs the write-ahead log. FULL: at each commit. NORMAL: only at a checkpoint. */
function setSynchronous(mode: 'FULL' | 'NORMAL'): void {
  if (mode !== synchronous) database.exec(`PRAGMA synchronous = ${mode}`);
  synchronous = mode;
}

type Rows = Record<string, unknown>[];

const sqlTexts: string[] = [];
const preparedStatements: StatementSync[] = [];

const preparedStatement = (sqlTextNumber: number): StatementSync =>
  (preparedStatements[sqlTextNumber] ??= database.prepare(sqlTexts[sqlTextNumber] ?? ''));

const fromJsonParameter = (value: JsonParameter): SQLInputValue =>
  Array.isArray(value) ? Buffer.from(value[0], 'hex') : value;

function runJob({ statements }: EncodedJob): Rows {
  for (const [sqlTextNumber, parameters] of statements) {
    const rows = preparedStatement(sqlTextNumber).all(...parameters.map(fromJsonParameter));
    if (rows.length > 0) return rows;
  }
  return [];
}

/** Executes a batch's writes in one database transaction, so that they share one disk sync; then executes its reads. */
function runBatch(jobs: readonly EncodedJob[], deadlineMs: number): Rows[] {
  // After the deadline, the callers would time out before the batch could complete.
  if (monotonicMs() >= deadlineMs) throw new Error('A batch of SQL statements timed out before it started.');
  database.exec(`PRAGMA busy_timeout = ${Math.ceil(deadlineMs - monotonicMs())}`);
  const results: Rows[] = [];
  if (jobs.some(({ isWrite }) => isWrite)) {
    setSynchronous(jobs.some(({ isWrite, isUnsynced }) => isWrite && !isUnsynced) ? 'FULL' : 'NORMAL');
    database.exec('BEGIN IMMEDIATE');
    try {
      assertFileNotReplaced();
      jobs.forEach((job, index) => {
        if (job.isWrite) results[index] = runJob(job);
      });
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
  jobs.forEach((job, index) => {
    if (!job.isWrite) results[index] = runJob(job);
  });
  return results;
}

parentPort?.on('message', (message: BatchMessage | 'close') => {
  if (message === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  const { batchId, jobsJson, newSqlTexts, deadlineMs } = message;
  sqlTexts.push(...newSqlTexts);
  try {
    const results = runBatch(JSON.parse(jobsJson) as EncodedJob[], deadlineMs);
    parentPort?.postMessage({ batchId, results } satisfies BatchResult);
  } catch (error) {
    const { errcode, code: systemCode } = error as { errcode?: number; code?: string };
    parentPort?.postMessage({ batchId, errorText: String(error), errcode, systemCode } satisfies BatchResult);
  }
});
parentPort?.postMessage('open');
