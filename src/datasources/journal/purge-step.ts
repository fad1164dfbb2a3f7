/**
 * The kind of rows that a purge step deletes:
 * - `attempts`: settled attempts and their reserved external ids.
 * - `reservations`: reserved external ids whose attempt does not exist.
 * - `confirmed`: hashes of confirmed inputs. `changes`: recorded changes. `followed`: followed transactions.
 */
export type PurgeTarget = 'attempts' | 'reservations' | 'confirmed' | 'changes' | 'followed';

/** A step of the purge, which deletes expired rows in many short steps. */
export interface PurgeStep {
  target: PurgeTarget;
  /** Rows expire if they were settled, confirmed, recorded or created before this time. Unused for `reservations`. */
  settledBefore: number;
  /** Maximum number of rows to examine. */
  limit: number;
  /** `after` of the previous step's PurgeProgress; null for the first step. */
  after: string | null;
}

export interface PurgeProgress {
  /** Number of deleted rows, without the reserved external ids of deleted attempts. */
  deleted: number;
  /** Where this step ended: `after` of the next PurgeStep; null if no step must follow. */
  after: string | null;
}
