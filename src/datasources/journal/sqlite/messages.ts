import type { SqlValue } from '../rows.js';

/** Messages between the gateway and the thread that owns the SQLite file. */

export interface Statement {
  sql: string;
  params: SqlValue[];
}

/** Statements that run in order until one returns rows, which are the result. */
export interface Job {
  write: boolean;
  /** Whether a crash may lose the write. Ignored if another write of the batch must be durable. */
  isUnsynced?: boolean;
  statements: Statement[];
}

/** A parameter in JSON. Bytes are an array with their hexadecimal digits. */
export type JsonParameter = string | number | null | [hex: string];

/** A job in JSON. A number replaces each SQL text: its index among all texts that were sent to the thread. */
export interface NumberedJob {
  write: boolean;
  isUnsynced?: boolean;
  statements: [number: number, params: JsonParameter[]][];
}

export interface BatchMessage {
  batch: number;
  /** NumberedJob[] as JSON text, which is several times cheaper to pass than objects with byte arrays. */
  jobs: string;
  /** SQL texts that this batch is the first to use. */
  newStatements: string[];
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
      /** Code of an error that is not from SQLite; FILE_REPLACED if the open file is no longer at its path. */
      code: string | undefined;
    };
