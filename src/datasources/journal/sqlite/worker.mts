import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { BatchAnswer, BatchMessage, NumberedJob } from './messages.js';

/**
 * Keeps the SQLite file, in a thread of its own: a sync of the disk, or another process that holds the file, stops
 * nothing but this thread. It knows nothing of the journal: it runs statements. (This file imports nothing but
 * types from the project: a thread has to find its way alone, also where the sources run as they are.)
 */

interface WorkerOptions {
  path: string;
  busyTimeoutMs: number;
  readOnly: boolean;
}

const SQLITE_BUSY = 5;

/** The clock of the deadlines: the same in every thread, and without steps. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const { path, busyTimeoutMs, readOnly } = workerData as WorkerOptions;
const database = new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly });
const opened = identityAtPath();
if (!readOnly) {
  inWalMode(monotonicMs() + busyTimeoutMs);
  database.exec('PRAGMA synchronous = FULL');
  // In pages: four times the default, as most pages are written again and again until then. The log grows to 16 MB.
  database.exec('PRAGMA wal_autocheckpoint = 4000');
}

/** SQLite does not wait for a file whose mode another process is changing, whatever its timeout: so this does. */
function inWalMode(until: number): void {
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || monotonicMs() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** Device and inode of the file at the path; undefined where there is none. */
function identityAtPath(): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** Throws where the path leads to another file, or none: what is written to the open file is gone after a restart. */
function checkFileInPlace(): void {
  if (identityAtPath() === opened) return;
  throw Object.assign(new Error('The file was removed or replaced.'), { code: 'FILE_REPLACED' });
}

type Rows = Record<string, unknown>[];

/** Every text that was told, in order; prepared at its first use. */
const texts: string[] = [];
const prepared: StatementSync[] = [];

const statementAt = (place: number): StatementSync =>
  (prepared[place] ??= database.prepare(texts[place] ?? ''));

function runJob({ statements }: NumberedJob): Rows {
  for (const [place, params] of statements) {
    const rows = statementAt(place).all(...params);
    if (rows.length > 0) return rows;
  }
  return [];
}

/** All writes of a batch in one transaction, and so one sync; then its reads. */
function runBatch({ jobs, until }: BatchMessage): Rows[] {
  // Nobody waits for it any more, and who was refused must not find it written.
  if (monotonicMs() >= until) throw new Error('It is too late.');
  database.exec(`PRAGMA busy_timeout = ${Math.ceil(until - monotonicMs())}`);
  const results: Rows[] = [];
  if (jobs.some(({ write }) => write)) {
    database.exec('BEGIN IMMEDIATE');
    try {
      checkFileInPlace();
      jobs.forEach((job, place) => {
        if (job.write) results[place] = runJob(job);
      });
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
  jobs.forEach((job, place) => {
    if (!job.write) results[place] = runJob(job);
  });
  return results;
}

const codesOf = (error: unknown) => {
  const { errcode, code } = error as { errcode?: number; code?: string };
  return { errcode, code };
};

parentPort?.on('message', (message: BatchMessage | 'close') => {
  if (message === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  const { batch } = message;
  texts.push(...message.texts);
  try {
    parentPort?.postMessage({ batch, results: runBatch(message) } satisfies BatchAnswer);
  } catch (error) {
    parentPort?.postMessage({ batch, error: String(error), ...codesOf(error) } satisfies BatchAnswer);
  }
});
parentPort?.postMessage('open');
