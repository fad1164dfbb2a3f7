/** Why the journal may lack attempts that it once had. The reason is stored, logged and shown in /readyz. */
export const FENCE_REASONS = ['failover', 'restored', 'attempt_missing', 'operator'] as const;
export type FenceReason = (typeof FENCE_REASONS)[number];

/**
 * The mark that the journal may have lost its latest attempts, for example in a failover to an asynchronous standby.
 * While it is up, every create is looked up before it is sent.
 */
export interface Fence {
  /** When it was raised, in milliseconds since 1970 by the journal's clock. */
  since: number;
  reason: FenceReason;
}

/** The fence of a journal, and how many attempts it has had. */
export interface JournalState {
  /** The fence, however old; null if none was raised, or if an operator lowered it. */
  fence: Fence | null;
  /** Sequence number of the latest attempt; a lower one than before means that the journal was replaced by an older one. */
  lastSequence: number;
}

/** A row of the table journal_state, with the column `last_sequence`. */
export const stateFromRow = (row: Record<string, unknown>): JournalState => {
  const since = Number(row['fence_since']);
  const reason = row['fence_reason'] as FenceReason;
  return { fence: since === 0 ? null : { since, reason }, lastSequence: Number(row['last_sequence']) };
};

/** The attempt whose outcome is to be recorded is not in the journal: the journal has lost it, or it was purged. */
export class AttemptMissing extends Error {
  constructor() {
    super('The journal does not have this attempt.');
    this.name = 'AttemptMissing';
  }
}
