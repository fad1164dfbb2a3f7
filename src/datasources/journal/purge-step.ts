/**
 * The kind of rows that a purge step deletes:
 * - `attempts`: settled attempts and their reserved external ids.
 * - `reservations`: reserved external ids whose attempt does not exist.
 * - `confirmed`: hashes of the inputs with which payments were confirmed.
 * - `changes`: rows of the record of changes (see changes.ts).
 * - `followed`: transactions that the gateway follows by lookups (see FollowedTransaction).
 */
export type PurgeTarget = 'attempts' | 'reservations' | 'confirmed' | 'changes' | 'followed';

/** A step of the purge, which deletes expired rows in many short steps. */
export interface PurgeStep {
  target: PurgeTarget;
  /**
   * Rows whose time is before this have expired. The time is `settledAt` for `attempts`, `confirmedAt` for `confirmed`,
   * `recordedAt` for `changes`, and `createSucceededAt` (see FollowedTransaction) for `followed`. Unused for
   * `reservations`.
   */
  expiredBefore: number;
  /** Maximum number of rows to examine. */
  maxExaminedCount: number;
  /** `endPosition` of the previous step's PurgeStepResult; null for the first step. */
  after: string | null;
}

export interface PurgeStepResult {
  /** Number of deleted rows, without the reserved external ids of deleted attempts. */
  deletedCount: number;
  /** Position where this step ended, for `after` of the next PurgeStep. Null if the target needs no further step. */
  endPosition: string | null;
}
