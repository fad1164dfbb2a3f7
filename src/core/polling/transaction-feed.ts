import type { StateChange } from '../../datasources/change-notifier/change-notifier';
import type { LookupKey } from '../../datasources/payment-service/client';
import { LookupCoalescer } from '../../datasources/payment-service/coalesced-lookups';
import type { Snapshot } from './snapshot';
import type { LatestValueIterator } from './latest-value-iterator';
import { PollerRegistry, type PollerRegistryOptions } from './poller-registry';

interface TransactionFeedOptions<T extends Snapshot> extends PollerRegistryOptions {
  kind: T['kind'];
  /** Looks a transaction up at the service; null when there is none. */
  ask(key: LookupKey): Promise<T | null>;
  /** Reports the result of every lookup, whoever requested it. */
  source: { onSeen(seen: (found: T, askedAt: number) => void): void };
}

/** Lookups and subscriptions of payments, or of payouts: the result of each lookup reaches all subscribers of that transaction. */
export class TransactionFeed<T extends Snapshot> {
  readonly #lookups: LookupCoalescer<T>;
  readonly #watches: PollerRegistry<T>;

  constructor({ ask, source, ...options }: TransactionFeedOptions<T>) {
    this.#lookups = new LookupCoalescer(ask);
    this.#watches = new PollerRegistry({ ...options, lookUp: (key) => this.lookUp(key) });
    source.onSeen((found, askedAt) => this.#watches.onSnapshot(found, askedAt));
  }

  /** A transaction as the service returns it; null when there is none. Concurrent lookups of one key share a request. */
  lookUp(key: LookupKey): Promise<T | null> {
    return this.#lookups.load(key);
  }

  /** The current state, then every change, until it is completed or failed. */
  watch(channel: string, transactionId: string): LatestValueIterator<T> {
    return this.#watches.watch(channel, transactionId);
  }

  /** Handles a change that another instance has published. */
  onRemoteChange(change: StateChange): void {
    this.#watches.onRemoteChange(change);
  }

  /** Handles a callback of the service: looks the transaction up for its subscribers. */
  async onCallback(channel: string, transactionId: string): Promise<void> {
    if (!this.#watches.pollSoon(channel, transactionId)) await this.lookUp({ channel, transactionId });
  }

  /** Stops sharing lookups of a channel that are in flight: their results may be older than a change. */
  invalidate(channel: string): void {
    this.#lookups.invalidateChannel(channel);
  }

  /**
   * Passes the result of a mutation to the subscribers of its transaction. A replayed result may come from the journal, so
   * it triggers a poll instead.
   */
  onMutationResult({ found, replayed }: { found: T; replayed: boolean }, askedAt: number): void {
    this.invalidate(found.channel);
    if (replayed) this.#watches.pollSoon(found.channel, found.transactionId);
    else this.#watches.onSnapshot(found, askedAt);
  }
}
