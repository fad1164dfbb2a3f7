import type { Attempt, AttemptKind } from '../../datasources/journal/journal';

/** The common fields of payments and payouts. */
export interface Transaction {
  transactionId: string;
  rawStatus: string;
}

/**
 * Result of a lookup by external id. `mismatch`: the transaction found is not, or not certainly, the one that the attempt
 * created. It may hide that one, so it never counts as evidence of absence.
 */
export type LookupMatch<T> =
  | { kind: 'found'; found: T }
  | { kind: 'mismatch' }
  /** `isOwn`: whether the response comes from the service itself, not from a proxy. */
  | { kind: 'nothing'; isOwn: boolean };

/** Finds the transaction that an attempt created. */
export interface TransactionMatcher<T extends Transaction> {
  readonly kind: AttemptKind;
  /** A matcher that redacts these values of the request in responses. */
  withRedaction(secrets: readonly string[]): TransactionMatcher<T>;
  /** Looks it up by external id. Throws ServiceErrors. */
  find(attempt: Attempt): Promise<LookupMatch<T>>;
  /**
   * Whether the service now finds the last transaction that is known to exist on this channel; true when none is known. A
   * service that does not find it has lost its data or lags behind. Throws ServiceErrors.
   */
  showsKnown(attempt: Attempt): Promise<boolean>;
  /** The transaction of a succeeded attempt: its current state, or the recorded one if the lookup fails. */
  current(attempt: Attempt): Promise<T>;
}
