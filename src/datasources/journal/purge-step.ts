/** The steps in which expired rows of the journal are deleted. */

/**
 * `attempts`: settled attempts and their reservations. `reservations`: reservations without an attempt. `confirmed`:
 * inputs of confirms. `followed`: followed transactions.
 */
export type PurgeTarget = 'attempts' | 'reservations' | 'confirmed' | 'changes' | 'followed';

export interface PurgeStep {
  target: PurgeTarget;
  /** Deletes attempts settled, payments confirmed, changes recorded and followed transactions created before this time. */
  settledBefore: number;
  /** Maximum number of rows to examine. */
  limit: number;
  /** `after` that the previous step returned; null for the first step. */
  after: string | null;
}

export interface PurgeProgress {
  deleted: number;
  /** Where the next step begins; null if this was the last step. */
  after: string | null;
}
