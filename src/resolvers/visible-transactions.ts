import DataLoader from 'dataloader';
import { requireChannel, restrictedTo, type Caller } from '../auth/caller';
import type { LookupKey } from '../datasources/payment-service/client';
import {
  createLoader,
  type Loader,
  type LookupLimit,
} from '../datasources/payment-service/coalesced-lookups';
import type { AttemptOperations } from '../core/attempts';
import { noSuchTransaction, type TransactionFeed } from '../core/polling/transaction-feed';
import type { PaymentResource } from '../schema/payment';
import type { PayoutResource } from '../schema/payout';

interface VisibleOptions<T extends PaymentResource | PayoutResource> {
  kind: T['kind'];
  caller: Caller;
  feed: TransactionFeed<T>;
  attempts: AttemptOperations;
  limit: LookupLimit;
}

/**
 * The payments, or the payouts, that one caller may read; resolvers have no other access to transactions of the service. The
 * channel and, with a scope :own, the creator are checked before the lookup and before lookups of callers are coalesced.
 */
export class VisibleTransactions<T extends PaymentResource | PayoutResource> {
  readonly #options: VisibleOptions<T>;
  #loader: Loader<T> | undefined;
  /** The ids of transactions that the caller created, otherwise null; undefined for a caller with the full scope. */
  readonly #own: DataLoader<LookupKey, string | null, string> | undefined;

  constructor(options: VisibleOptions<T>) {
    const { kind, caller, attempts } = options;
    this.#options = options;
    const creator = restrictedTo(caller, `${kind}s:read`);
    if (creator === null) return;
    this.#own = new DataLoader(
      async (keys) => {
        const created = await attempts.findCreated(creator, kind, keys);
        return created.map((attempt) => attempt?.transactionId ?? null);
      },
      {
        cacheKeyFn: ({ channel, transactionId, externalId }) =>
          JSON.stringify([channel, transactionId, externalId]),
      },
    );
  }

  /** Null if the service finds none, or none of this caller. Throws an AccessError for a channel of others. */
  load(key: LookupKey): Promise<T | null> {
    requireChannel(this.#options.caller, key.channel);
    return this.#own ? this.#loadOwn(key, this.#own.load(key)) : this.#lookUp(key);
  }

  /** The current state, then every change. Throws an AccessError for a channel of others, a ServiceError NOT_FOUND. */
  async watch(channel: string, transactionId: string): Promise<AsyncIterableIterator<T>> {
    const { caller, kind, feed } = this.#options;
    requireChannel(caller, channel);
    if (this.#own && (await this.#own.load({ channel, transactionId })) === null)
      throw noSuchTransaction(kind);
    return feed.watch(channel, transactionId);
  }

  async #loadOwn({ channel, externalId }: LookupKey, own: Promise<string | null>): Promise<T | null> {
    const transactionId = await own;
    if (transactionId === null) return null;
    // By the transaction id in the journal: other callers may have used the same external id.
    const found = await this.#lookUp({ channel, transactionId });
    return found && externalId !== undefined ? withExternalId(found, externalId) : found;
  }

  #lookUp(key: LookupKey): Promise<T | null> {
    const { feed, limit } = this.#options;
    this.#loader ??= createLoader((keys) => feed.lookUp(keys), limit);
    return this.#loader.load(key);
  }
}

/** A copy, because coalesced lookups share the object. */
const withExternalId = <T extends object>(transaction: T, externalId: string): T =>
  Object.defineProperties(Object.create(Object.getPrototypeOf(transaction) as object) as T, {
    ...Object.getOwnPropertyDescriptors(transaction),
    externalId: { value: externalId, enumerable: true },
  });
