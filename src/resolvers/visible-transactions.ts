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
  sights: TransactionFeed<T>;
  attempts: AttemptOperations;
  limit: LookupLimit;
}

/**
 * The payments, or the payouts, that exist for one caller: the only way from a resolver to the service's transactions. The
 * caller's channels and, without the full scope, what it created itself are checked before anything is shared with other
 * callers and before the service is asked.
 */
export class VisibleTransactions<T extends PaymentResource | PayoutResource> {
  readonly #options: VisibleOptions<T>;
  /** Made when it is first asked for: an operation that watches needs none. */
  #loader: Loader<T> | undefined;
  /** The transaction ids of what the caller created, null for everything else; undefined where it sees everything. */
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

  /**
   * A transaction as the service has it; null where it has none, or none that exists for this caller.
   * @throws AccessError for a channel that is not the caller's
   */
  load(key: LookupKey): Promise<T | null> {
    requireChannel(this.#options.caller, key.channel);
    return this.#own ? this.#loadOwn(key, this.#own.load(key)) : this.#lookUp(key);
  }

  /**
   * The current state of a transaction, then every change.
   * @throws AccessError for a channel that is not the caller's; ServiceError NOT_FOUND where it does not exist for it
   */
  async watch(channel: string, transactionId: string): Promise<AsyncIterableIterator<T>> {
    const { caller, kind, sights } = this.#options;
    requireChannel(caller, channel);
    if (this.#own && (await this.#own.load({ channel, transactionId })) === null)
      throw noSuchTransaction(kind);
    return sights.watch(channel, transactionId);
  }

  async #loadOwn({ channel, externalId }: LookupKey, own: Promise<string | null>): Promise<T | null> {
    const transactionId = await own;
    if (transactionId === null) return null;
    // By the id that the journal has: others may have used the same external id.
    const found = await this.#lookUp({ channel, transactionId });
    return found && externalId !== undefined ? withExternalId(found, externalId) : found;
  }

  #lookUp(key: LookupKey): Promise<T | null> {
    const { sights, limit } = this.#options;
    this.#loader ??= createLoader((asked) => sights.lookUp(asked), limit);
    return this.#loader.load(key);
  }
}

/** A copy: the answer itself is shared with everybody who looks up the same transaction at the same time. */
const withExternalId = <T extends object>(found: T, externalId: string): T =>
  Object.defineProperties(Object.create(Object.getPrototypeOf(found) as object) as T, {
    ...Object.getOwnPropertyDescriptors(found),
    externalId: { value: externalId, enumerable: true },
  });
