/** The steps in which expired rows of the journal are deleted. */

/**
 * Settled attempts and their reservations, reservations without an attempt, inputs of confirms, changes, or followed
 * transactions.
 */
export type PurgeTarget = 'attempts' | 'reservations' | 'confirmed' | 'changes' | 'followed';

export interface PurgeStep {
  target: PurgeTarget;
  /**
   * Attempts settled, inputs confirmed, changes recorded, and followed transactions created before this time are deleted.
   */
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
