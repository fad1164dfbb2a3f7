import type { Attempt, AttemptKind } from '../../datasources/journal/journal';

/** What creates have in common, whatever they create. */
export interface Transaction {
  transactionId: string;
  rawStatus: string;
}

/**
 * What a lookup by external id shows. `other`: something that is not believed to be what the attempt created. It may
 * hide it, as the service does not say which of two it shows, and so proves nothing, ever.
 */
export type LookupMatch<T> =
  | { kind: 'found'; found: T }
  | { kind: 'other' }
  /** `isOwn`: whether the service itself says so, and not something in front of it. */
  | { kind: 'nothing'; isOwn: boolean };

/** Finds again what an attempt created. */
export interface TransactionMatcher<T extends Transaction> {
  readonly kind: AttemptKind;
  /** The same for a request that handed these in: they do not come back. */
  withRedaction(secrets: readonly string[]): TransactionMatcher<T>;
  /** Looks for it by its external id. Throws ServiceErrors. */
  find(attempt: Attempt): Promise<LookupMatch<T>>;
  /**
   * Whether lookups reach the data of the service now: whether it shows the last transaction that is known to have been
   * created on this channel. True where none is known. Throws ServiceErrors.
   */
  showsKnown(attempt: Attempt): Promise<boolean>;
  /** What a settled attempt created: its current state, or what the journal remembers where the service does not say. */
  current(attempt: Attempt): Promise<T>;
}
