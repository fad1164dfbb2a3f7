import type { SQLInputValue } from 'node:sqlite';

/** Messages between the gateway and the thread that owns the SQLite file. */

export interface Statement {
  sql: string;
  params: SQLInputValue[];
}

/** Statements that run in order until one returns rows, which are the result. */
export interface Job {
  write: boolean;
  /** Whether a crash may lose the write. Ignored if another write of the batch must be durable. */
  isUnsynced?: boolean;
  statements: Statement[];
}

export interface BatchMessage {
  batch: number;
  jobs: readonly Job[];
  /** Latest time at which the batch can start or obtain the lock of the file, in monotonic milliseconds. */
  until: number;
}

/** The rows of each job, or the error that ended the batch. */
export type BatchResult =
  | { batch: number; results: Record<string, unknown>[][] }
  | {
      batch: number;
      error: string;
      /** Result code of SQLite; undefined for other errors. */
      errcode: number | undefined;
      /** Code of an error that is not from SQLite; FILE_REPLACED if the path no longer has the open file. */
      code: string | undefined;
    };
