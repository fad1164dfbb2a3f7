/**
 * Reasons for which the fence is raised (see Fence). In each case, the journal may have lost attempts. The reason is
 * stored in the journal, logged, and shown in /readyz.
 * - `failover`: a standby of PostgreSQL was promoted, or the server was restored from a physical backup.
 * - `restored`: the journal was replaced, for example by a restored dump, or by a copy of the SQLite file.
 * - `attempt_missing`: the outcome of an attempt was to be recorded, but the journal does not have this attempt.
 * - `operator`: an operator raised the fence.
 */
export type FenceReason = 'failover' | 'restored' | 'attempt_missing' | 'operator';

/**
 * A mark on a journal that may have lost its latest attempts, for example in a failover to an asynchronous standby.
 * While the fence is up, the gateway makes a lookup at the payment service before it sends a create. The lookup shows
 * whether a lost attempt has already created the transaction. This prevents double payments. The fence ends
 * FENCE_SECONDS after `since`, or when an operator lowers it (docs/exactly-once.md).
 */
export interface Fence {
  /** When the fence was raised, in ms since 1970 by the journal's clock. */
  since: number;
  reason: FenceReason;
}

/** The fence of a journal, and the last sequence number of its attempts. */
export interface FenceState {
  /**
   * The fence that was raised last, even if FENCE_SECONDS have already passed. Null if no fence was ever raised, or if
   * an operator has lowered it.
   */
  fence: Fence | null;
  /** Last sequence number that was assigned to an attempt. If it decreases, an older copy has replaced the journal. */
  lastAttemptSeq: number;
}

/** Converts a row of the table journal_state with the additional column `last_sequence`. */
export const fenceStateFromRow = (row: Record<string, unknown>): FenceState => {
  const since = Number(row['fence_since']);
  const reason = row['fence_reason'] as FenceReason;
  return { fence: since === 0 ? null : { since, reason }, lastAttemptSeq: Number(row['last_sequence']) };
};

/**
 * An outcome cannot be recorded, because the journal does not have the attempt. The attempt was lost or purged, or
 * another attempt with the same idempotency key has replaced it.
 */
export class AttemptMissing extends Error {
  constructor() {
    super('The journal does not have this attempt.');
    this.name = 'AttemptMissing';
  }
}
