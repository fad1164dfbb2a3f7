/** Expired rows of the journal are deleted in steps. */

/**
 * `attempts`: settled attempts and their reservations. `reservations`: reservations without an attempt. `confirmed`:
 * inputs of confirms. `followed`: followed transactions.
 */
export type PurgeTarget = 'attempts' | 'reservations' | 'confirmed' | 'changes' | 'followed';

export interface PurgeStep {
  target: PurgeTarget;
  /** Deletes attempts that were settled before this time, and other rows that were recorded before it. */
  settledBefore: number;
  /** Maximum number of rows to examine. */
  limit: number;
  /** Where the previous step ended (its `after`); null for the first step. */
  after: string | null;
}

export interface PurgeProgress {
  deleted: number;
  /** Where this step ended, for the next step; null if this was the last. */
  after: string | null;
}
