import type { Attempt, AttemptKind } from '../../datasources/journal/journal';

/** Fields that payments and payouts have in common. */
export interface Transaction {
  transactionId: string;
  rawStatus: string;
}

/**
 * Result of a lookup by external id. `mismatch`: the transaction found is not, or not certainly, the one that the attempt
 * created. It may hide the attempt's transaction, so it never counts as evidence of absence.
 */
export type LookupMatch<T> =
  | { kind: 'found'; found: T }
  /** `why`: undefined if the transaction differs from the attempt. `rival`: another open attempt may have created it. */
  | { kind: 'mismatch'; why?: 'older' | 'created_by_another' | 'rival' }
  /** `isOwn`: whether the response comes from the service itself, and not from a proxy. */
  | { kind: 'nothing'; isOwn: boolean };

/** Finds the transaction that an attempt created. */
export interface TransactionMatcher<T extends Transaction> {
  readonly kind: AttemptKind;
  /** Returns a matcher that also redacts these values of the request in responses. */
  withRedaction(secrets: readonly string[]): TransactionMatcher<T>;
  /**
   * Looks for the transaction by the attempt's external id. Rejects with a ServiceError, or if the journal fails.
   * @param createdFrom earliest creation time, if it may be before the attempt: an earlier attempt may have been lost
   */
  find(attempt: Attempt, createdFrom?: number): Promise<LookupMatch<T>>;
  /**
   * Whether the service now finds another transaction of this kind and channel that is known to exist; true if none is
   * known. A service that does not find it has lost data or lags behind. Rejects as `find` does.
   */
  findsKnownTransaction(attempt: Attempt): Promise<boolean>;
  /** Returns the transaction of a succeeded attempt in its current state, or as recorded if the lookup fails. */
  current(attempt: Attempt): Promise<T>;
}
