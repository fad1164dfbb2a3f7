import type { SQLInputValue } from 'node:sqlite';

/** Messages between the gateway and the thread that owns the SQLite file. */

export interface Statement {
  sql: string;
  params: SQLInputValue[];
}

/** Statements of one unit of work. Execution ends with the first statement that returns rows; these are the result. */
export interface Job {
  write: boolean;
  statements: Statement[];
}

export interface BatchMessage {
  batch: number;
  jobs: readonly Job[];
  /** Time limit for a lock of another process, in monotonic milliseconds. */
  until: number;
}

/** The rows of each job, or why nothing was done. */
export type BatchResult =
  | { batch: number; results: Record<string, unknown>[][] }
  | {
      batch: number;
      error: string;
      /** Result code of SQLite; undefined for other errors. */
      errcode: number | undefined;
      /** Code of any other error; FILE_REPLACED when the path no longer leads to the open file. */
      code: string | undefined;
    };
