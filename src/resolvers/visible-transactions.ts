import { bulkhead, isBulkheadRejectedError, type BulkheadPolicy } from 'cockatiel';
import DataLoader from 'dataloader';
import { requireChannel, creatorRestriction, type Caller } from '../auth/caller';
import { TRANSACTION_KINDS, type TransactionKind } from '../datasources/journal/journal';
import type { LookupKey } from '../datasources/payment-service/client';
import { lookupCacheKey } from '../datasources/payment-service/coalesced-lookups';
import type { AttemptOperations } from '../core/attempts';
import type { TransactionFeed } from '../core/polling/transaction-feed';
import { transactionNotFoundError } from '../core/polling/transaction-poller';
import type { CallerBulkheads } from '../datasources/payment-service/http/resilience';
import { rejectedLocallyError } from '../datasources/payment-service/mapping/responses';
import type { PaymentResource } from '../schema/payment';
import type { PayoutResource } from '../schema/payout';
import type { TransactionResource } from '../schema/transaction';

interface VisibleTransactionsOptions {
  kind: TransactionKind;
  caller: Caller;
  transactionFeed: TransactionFeed<PaymentResource> | TransactionFeed<PayoutResource>;
  attemptOperations: AttemptOperations;
  getLookupBulkhead: ReturnType<typeof createLookupBulkheadGetter>;
  callerBulkheads: CallerBulkheads;
}

/** Maximum number of concurrent lookups of one GraphQL operation. */
const MAX_CONCURRENT_LOOKUPS = 16;

/** Returns a getter of the bulkhead of one GraphQL operation. The bulkhead is created when it is first needed. */
export function createLookupBulkheadGetter(): () => BulkheadPolicy {
  let lookupBulkhead: BulkheadPolicy | undefined;
  return () => (lookupBulkhead ??= bulkhead(MAX_CONCURRENT_LOOKUPS, Infinity));
}

/** Returns the kinds of transactions for which the caller has at least one of `acceptedRights`. */
export const kindsWithRight = (
  { scopes }: Caller,
  ...acceptedRights: readonly ('read' | 'read:own' | 'create')[]
): TransactionKind[] =>
  TRANSACTION_KINDS.filter((kind) => acceptedRights.some((right) => scopes.has(`${kind}s:${right}`)));

/**
 * The payments, or the payouts, that one caller may read. Resolvers have no other access to transactions of the
 * service. Before each lookup, checks that the caller may use the channel. If the caller has only the `:own` scope,
 * also checks that the caller created the transaction.
 */
export class VisibleTransactions {
  readonly #options: VisibleTransactionsOptions;
  #lookupLoader: DataLoader<LookupKey, TransactionResource | null, string> | undefined;
  /**
   * Loads from the journal the transaction id for a lookup key; null if the caller did not create this transaction. The
   * property is undefined if the caller may read the transactions of all callers.
   */
  readonly #ownTransactionIdLoader: DataLoader<LookupKey, string | null, string> | undefined;

  constructor(options: VisibleTransactionsOptions) {
    const { kind, caller, attemptOperations } = options;
    this.#options = options;
    const creator = creatorRestriction(caller, `${kind}s:read`);
    if (creator === null) return;
    this.#ownTransactionIdLoader = new DataLoader(
      async (lookupKeys) => {
        const ownAttempts = await attemptOperations.findCreatingAttempts(creator, kind, lookupKeys);
        return ownAttempts.map((attempt) => attempt?.transactionId ?? null);
      },
      { cacheKeyFn: lookupCacheKey },
    );
  }

  /**
   * Looks a transaction up. Returns null if the service does not find it, or if the caller has only the `:own` scope
   * and did not create the transaction. Throws an AccessError if the caller may not use the channel.
   */
  load(lookupKey: LookupKey): Promise<TransactionResource | null> {
    requireChannel(this.#options.caller, lookupKey.channel);
    return this.#ownTransactionIdLoader
      ? this.#loadIfOwn(lookupKey, this.#ownTransactionIdLoader.load(lookupKey))
      : this.#lookUp(lookupKey);
  }

  /**
   * Yields the current state of a transaction, then newer states. A slow consumer misses intermediate states. Rejects
   * with an AccessError if the caller may not use the channel, and with NOT_FOUND if the caller has only the `:own`
   * scope and did not create the transaction. The iterator throws NOT_FOUND if the service does not find it.
   */
  async watch(channel: string, transactionId: string): Promise<AsyncIterableIterator<TransactionResource>> {
    const { caller, kind, transactionFeed } = this.#options;
    requireChannel(caller, channel);
    if (
      this.#ownTransactionIdLoader &&
      (await this.#ownTransactionIdLoader.load({ channel, transactionId })) === null
    )
      throw transactionNotFoundError(kind);
    return transactionFeed.watch(channel, transactionId);
  }

  async #loadIfOwn({ channel, externalId }: LookupKey, ownTransactionIdPromise: Promise<string | null>) {
    const transactionId = await ownTransactionIdPromise;
    if (transactionId === null) return null;
    // Look up by the transaction id from the journal, because other callers may have used the same external id.
    const transaction = await this.#lookUp({ channel, transactionId });
    return transaction && externalId !== undefined ? withExternalId(transaction, externalId) : transaction;
  }

  #lookUp(lookupKey: LookupKey): Promise<TransactionResource | null> {
    this.#lookupLoader ??= new DataLoader((lookupKeys) => Promise.all(this.#lookUpEach(lookupKeys)), {
      cacheKeyFn: lookupCacheKey,
    });
    return this.#lookupLoader.load(lookupKey);
  }

  /** Looks each key up separately, because the service cannot look up several transactions in one request. */
  #lookUpEach(lookupKeys: readonly LookupKey[]): Promise<TransactionResource | null | Error>[] {
    const { caller, transactionFeed, getLookupBulkhead, callerBulkheads } = this.#options;
    const callerBulkhead = callerBulkheads.get('lookups', caller.id);
    const lookUp = (lookupKey: LookupKey): Promise<TransactionResource | null> =>
      callerBulkhead.execute<TransactionResource | null>(() => transactionFeed.lookUp(lookupKey));
    // Most operations look up only one transaction, which needs no limit.
    const lookUpWithLimit =
      lookupKeys.length === 1
        ? lookUp
        : (lookupKey: LookupKey) => getLookupBulkhead().execute(() => lookUp(lookupKey));
    return lookupKeys.map((lookupKey) =>
      lookUpWithLimit(lookupKey).catch((error: Error) =>
        isBulkheadRejectedError(error) ? rejectedLocallyError() : error,
      ),
    );
  }
}

/** Returns a copy with the external id. The original may be shared with other callers: lookups are coalesced. */
const withExternalId = <T extends object>(transaction: T, externalId: string): T =>
  Object.create(Object.getPrototypeOf(transaction) as object, {
    ...Object.getOwnPropertyDescriptors(transaction),
    externalId: { value: externalId, enumerable: true },
  }) as T;
