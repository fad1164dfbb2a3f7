/**
 * Reasons why the journal may have lost attempts and the fence is raised. They are stored, logged and shown in /readyz.
 * - `failover`: a standby of PostgreSQL was promoted, or the server was restored from a physical backup.
 * - `restored`: the journal was replaced, for example by a restored dump, or by a copy of the SQLite file.
 * - `attempt_missing`: an outcome was to be recorded, but the journal does not have its attempt.
 * - `operator`: an operator raised the fence.
 */
export const FENCE_REASONS = ['failover', 'restored', 'attempt_missing', 'operator'] as const;
export type FenceReason = (typeof FENCE_REASONS)[number];

/**
 * A mark on the journal: it may have lost its latest attempts, for example in a failover to an asynchronous standby. While
 * a fence is up, every create is looked up at the payment service before it is sent, to prevent double payments. A
 * fence ends FENCE_SECONDS after `since`, or when an operator lowers it (docs/exactly-once.md).
 */
export interface Fence {
  /** When the fence was raised, in ms since 1970 by the journal's clock. */
  since: number;
  reason: FenceReason;
}

/** The fence of a journal, and the last sequence number of its attempts. */
export interface JournalState {
  /** The last fence, even if FENCE_SECONDS have passed; null if none was raised, or if an operator lowered it. */
  fence: Fence | null;
  /** Last sequence number that was assigned to an attempt. If it decreases, an older copy has replaced the journal. */
  lastSequence: number;
}

/** Converts a row of the table journal_state with the additional column `last_sequence`. */
export const journalStateFromRow = (row: Record<string, unknown>): JournalState => {
  const since = Number(row['fence_since']);
  const reason = row['fence_reason'] as FenceReason;
  return { fence: since === 0 ? null : { since, reason }, lastSequence: Number(row['last_sequence']) };
};

/** An outcome cannot be recorded, because the journal has lost or purged the attempt. */
export class AttemptMissing extends Error {
  constructor() {
    super('The journal does not have this attempt.');
    this.name = 'AttemptMissing';
  }
}
