import type { SQLInputValue } from 'node:sqlite';

/** What the gateway and the thread that keeps the SQLite file say to each other. */

export interface Statement {
  sql: string;
  params: SQLInputValue[];
}

/** Statements that belong together; the rows of each come back. */
export interface Job {
  write: boolean;
  statements: Statement[];
}

export interface BatchMessage {
  batch: number;
  jobs: Job[];
  /** Until when to wait for another process that holds the file, in milliseconds since 1970. */
  until: number;
}

export type BatchAnswer =
  { batch: number; results: Record<string, unknown>[][][] } | { batch: number; error: string };
