import type { SqlWithValues } from '../rows.js';

/**
 * A unit of work for the SQLite thread: statements that run in order until one returns rows. These rows are the result
 * of the job. If no statement returns rows, the result is empty.
 */
export interface Job {
  /** Whether the job writes. The thread executes all writes of a batch in one database transaction. */
  isWrite: boolean;
  /** Whether a power failure or crash of the machine may lose the write. No effect if the batch has a durable write. */
  isUnsynced?: boolean;
  statements: SqlWithValues[];
}

/** A parameter in JSON. Bytes are written as an array with one text: their hexadecimal digits. */
export type JsonParameter = string | number | null | [hex: string];

/** A Job in JSON. Each SQL text is replaced by its index among all texts that were sent to the thread. */
export interface EncodedJob extends Omit<Job, 'statements'> {
  statements: [sqlTextNumber: number, parameters: JsonParameter[]][];
}

/** Message to the SQLite thread: a batch of jobs. */
export interface BatchMessage {
  batchId: number;
  /** EncodedJob[] as JSON text. A text is several times cheaper to pass to a thread than objects with byte arrays. */
  jobsJson: string;
  /** SQL texts that were not sent to the thread before, in the order of their numbers. */
  newSqlTexts: string[];
  /** Latest time at which the batch may start or obtain the lock of the file, by `monotonicMs`. */
  deadlineMs: number;
}

/** Message from the SQLite thread: the rows of each job, or the error that ended the batch. */
export type BatchResult =
  | { batchId: number; results: Record<string, unknown>[][] }
  | {
      batchId: number;
      errorText: string;
      /** Result code of SQLite; undefined for other errors. */
      errcode: number | undefined;
      /**
       * System error code, or FILE_REPLACED if the open file is no longer at its path; undefined if there is none.
       * Unused if `errcode` is set.
       */
      systemCode: string | undefined;
    };
