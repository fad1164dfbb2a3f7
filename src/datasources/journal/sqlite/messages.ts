import type { SQLInputValue } from 'node:sqlite';

/** What the gateway and the thread that keeps the SQLite file say to each other. */

/** A statement, by its place among all the texts that the thread was told, and what it is asked for this time. */
export type NumberedStatement = [place: number, params: SQLInputValue[]];

/** Statements that belong together. Those behind the first that returns rows are left out; its rows come back. */
export interface NumberedJob {
  write: boolean;
  statements: NumberedStatement[];
}

export interface BatchMessage {
  batch: number;
  /** The texts of statements that the thread was not told before: each crosses once. */
  texts: string[];
  jobs: NumberedJob[];
  /** Until when to wait for another process that holds the file, in monotonic milliseconds. */
  until: number;
}

/** The rows of each job, or why nothing was done. */
export type BatchAnswer =
  | { batch: number; results: Record<string, unknown>[][] }
  | {
      batch: number;
      error: string;
      /** SQLite's result code, where SQLite has failed. */
      errcode: number | undefined;
      /** The code of any other error; FILE_REPLACED where the path no longer leads to the open file. */
      code: string | undefined;
    };
