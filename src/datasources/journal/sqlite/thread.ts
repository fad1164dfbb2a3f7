import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { Batcher, type Priority } from '../batcher';
import { monotonicMs } from '../deadline';
import { JournalUnavailable } from '../journal';
import { sqliteError } from '../journal-error';
import { fileOpenError } from '../journal-open-error';
import { makePrivate } from '../private-file';
import type { BatchAnswer, BatchMessage, NumberedJob } from './messages';
import type { Row } from '../rows';

export interface Statement {
  sql: string;
  params: SQLInputValue[];
}

/** A statement and its parameters. */
export const sql = (text: string, ...params: SQLInputValue[]): Statement => ({ sql: text, params });

/** Statements that belong together. Those behind the first that returns rows are left out. */
export interface Job {
  write: boolean;
  statements: readonly Statement[];
}

const MAX_BATCH = 512;
/** So much of the time is left for writing, and not spent on waiting for another process that holds the file. */
const WRITING_MS = 50;
/** Several processes that start at once wait for the one that makes the tables. */
const OPENING_MS = 10_000;

interface UnderWay {
  resolve(results: Row[][]): void;
  reject(error: Error): void;
}

/** The thread that keeps the file, seen from the gateway: jobs go in, rows come out. */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #file: string;
  readonly #underWay = new Map<number, UnderWay>();
  readonly #batcher: Batcher<Job, Row[]>;
  /** The places of the texts of statements that the thread knows. */
  readonly #places = new Map<string, number>();
  #batches = 0;
  #dead: Error | undefined;
  #closing: Promise<void> | undefined;

  private constructor(worker: Worker, file: string, deadlineMs: number) {
    this.#worker = worker;
    this.#file = file;
    this.#batcher = new Batcher({
      flush: (jobs, until) => this.#send(jobs, until - WRITING_MS),
      maxBatch: MAX_BATCH,
      concurrency: 1,
      deadlineMs,
    });
    worker.on('message', (answer: BatchAnswer) => this.#answered(answer));
    worker.on('error', (error) => this.#died(error));
    worker.on('exit', () => this.#died(new Error('The thread ended.')));
    worker.unref();
  }

  /**
   * Opens the file, and makes it and its folder where they are not there. Rejects with a JournalOpenError where that
   * cannot be done.
   * @param readOnly opens a file that is there, which another thread has brought into WAL mode
   */
  static async open(file: string, deadlineMs: number, readOnly = false): Promise<SqliteThread> {
    try {
      // One level: what else is missing is more likely a mistake in the path.
      if (!existsSync(path.dirname(file))) mkdirSync(path.dirname(file));
      makePrivate(file);
      return new SqliteThread(await startWorker(file, readOnly), file, deadlineMs);
    } catch (error) {
      throw fileOpenError(file, asSqliteError(error, file));
    }
  }

  /** Runs a job, in time or not at all; a write is durable when this resolves. Returns the first rows that there were. */
  run(job: Job, priority?: Priority): Promise<Row[]> {
    return this.#batcher.add(job, priority);
  }

  /** Runs one statement, however long it takes. */
  async runPatiently(sql: string): Promise<Row[]> {
    const [rows] = await this.#send(
      [{ write: false, statements: [{ sql, params: [] }] }],
      monotonicMs() + OPENING_MS,
    );
    return rows ?? [];
  }

  /** Writes what is queued, then lets the file go. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#batcher.close();
    if (this.#dead) return;
    this.#worker.ref();
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await ended;
  }

  #send(jobs: readonly Job[], until: number): Promise<Row[][]> {
    if (this.#dead) return Promise.reject(new JournalUnavailable(this.#dead));
    return new Promise((resolve, reject) => {
      const batch = (this.#batches += 1);
      this.#underWay.set(batch, { resolve, reject });
      // The process does not end while something is being written.
      this.#worker.ref();
      const texts: string[] = [];
      const numbered = jobs.map((job) => this.#numbered(job, texts));
      this.#worker.postMessage({ batch, texts, jobs: numbered, until } satisfies BatchMessage);
    });
  }

  /** A job as it is sent; texts that the thread does not know yet are added to those that it is told. */
  #numbered({ write, statements }: Job, texts: string[]): NumberedJob {
    const placeOf = (sql: string): number => {
      const known = this.#places.get(sql);
      if (known !== undefined) return known;
      texts.push(sql);
      this.#places.set(sql, this.#places.size);
      return this.#places.size - 1;
    };
    return { write, statements: statements.map(({ sql, params }) => [placeOf(sql), params]) };
  }

  #answered(answer: BatchAnswer): void {
    const waiting = this.#underWay.get(answer.batch);
    this.#underWay.delete(answer.batch);
    if (this.#underWay.size === 0) this.#worker.unref();
    if ('results' in answer) waiting?.resolve(answer.results);
    else waiting?.reject(new JournalUnavailable(this.#errorOf(answer)));
  }

  #errorOf({ error, errcode, code }: Extract<BatchAnswer, { error: string }>): Error {
    if (errcode !== undefined) return sqliteError(error, errcode, this.#file);
    return Object.assign(new Error(error), { code });
  }

  #died(error: Error): void {
    this.#dead ??= error;
    for (const { reject } of this.#underWay.values()) reject(new JournalUnavailable(error));
    this.#underWay.clear();
  }
}

/** Starts the thread, and resolves when it has opened the file. */
async function startWorker(file: string, readOnly: boolean): Promise<Worker> {
  // Under jest the sources run as they are; Node.js strips the types of this one file itself.
  const program = path.join(__dirname, `worker.m${path.extname(__filename).slice(1)}`);
  const worker = new Worker(program, {
    workerData: { path: file, busyTimeoutMs: OPENING_MS, readOnly },
  });
  await once(worker, 'message');
  return worker;
}

/** What a thread reports when it cannot open the file. */
const asSqliteError = (error: unknown, file: string): unknown => {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? error : sqliteError(String(error), errcode, file);
};
