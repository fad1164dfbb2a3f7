import { AsyncLocalStorage } from 'node:async_hooks';
import { bulkhead } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import type { PollSettings } from '../../config/types';
import type { Clock } from '../../shared/clock';
import type { StateChange, ChangeNotifier } from '../../datasources/change-notifier/change-notifier';
import type { LookupKey } from '../../datasources/payment-service/client';
import { LookupCoalescer } from '../../datasources/payment-service/coalesced-lookups';
import { ServiceError } from '../../datasources/payment-service/service-error';
import type { BackgroundObserver, BackgroundRunner } from '../background';
import { transactionHash, stateHash, type Snapshot } from './snapshot';
import { TransactionPoller } from './transaction-poller';
import type { LatestValueIterator } from './latest-value-iterator';

/** Options that the feeds of payments and payouts share. */
export interface PollingOptions {
  settings: PollSettings;
  clock: Clock;
  /** Identifies the payment service and its credentials. */
  service: string;
  notifier: ChangeNotifier;
  background: BackgroundRunner;
  observer: Pick<BackgroundObserver, 'onPoll'>;
}

/** The transactions of one kind at the payment service. */
interface TransactionSource<T extends Snapshot> {
  kind: T['kind'];
  /** Null when there is none. */
  lookUp(key: LookupKey): Promise<T | null>;
  /** Sets the listener for the results of all lookups. */
  onSeen(listener: (found: T, requestedAt: number) => void): void;
}

/** Keeps capacity of the payment service for callers. */
const MAX_CONCURRENT_POLLS = 32;
/** Transactions whose published states are remembered. */
const MAX_REMEMBERED = 20_000;

/** State hashes of one transaction, as last seen by this instance and by another one. */
interface LastKnownHash {
  local?: string | undefined;
  remote?: string | undefined;
}

/**
 * Lookups and subscriptions of payments, or of payouts. Concurrent lookups share a request, subscribers of a transaction
 * share a poller, and every result reaches them.
 */
export class TransactionFeed<T extends Snapshot> {
  readonly #options: PollingOptions;
  readonly #source: TransactionSource<T>;
  readonly #lookups: LookupCoalescer<T>;
  /** By channel and transaction id. */
  readonly #pollers = new Map<string, TransactionPoller<T>>();
  /** The same by transaction hash, if other instances may publish changes. */
  readonly #pollersByHash = new Map<string, TransactionPoller<T>>();
  readonly #states = new LRUCache<string, LastKnownHash>({ max: MAX_REMEMBERED });
  readonly #limit = bulkhead(MAX_CONCURRENT_POLLS, Infinity);
  /** Runs pollers outside the async context of the request that started them. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();

  constructor(options: PollingOptions, source: TransactionSource<T>) {
    this.#options = options;
    this.#source = source;
    this.#lookups = new LookupCoalescer((key) => source.lookUp(key));
    source.onSeen((found, requestedAt) => this.#onSnapshot(found, requestedAt));
  }

  /** A transaction as the service returns it; null when there is none. Concurrent lookups of one key share a request. */
  lookUp(key: LookupKey): Promise<T | null> {
    return this.#lookups.load(key);
  }

  /** The current state, then every change, until it is completed or failed. */
  watch(channel: string, transactionId: string): LatestValueIterator<T> {
    return this.#outsideRequests(() => this.#pollerFor(channel, transactionId).subscribe());
  }

  /** Handles a callback of the service: looks the transaction up for its subscribers. */
  async onCallback(channel: string, transactionId: string): Promise<void> {
    if (!this.#pollSoon(channel, transactionId)) await this.lookUp({ channel, transactionId });
  }

  /** Stops sharing lookups of a channel that are in flight: their results may be older than a change. */
  invalidate(channel: string): void {
    this.#lookups.invalidateChannel(channel);
  }

  /**
   * Passes the result of a mutation to the subscribers of its transaction. A replayed result may come from the journal, so
   * it triggers a poll instead.
   * @param requestedAt start of the mutation, by `performance.now()`
   */
  onMutationResult({ found, replayed }: { found: T; replayed: boolean }, requestedAt: number): void {
    this.invalidate(found.channel);
    if (replayed) this.#pollSoon(found.channel, found.transactionId);
    else this.#onSnapshot(found, requestedAt);
  }

  /** Handles a change that another instance has published. */
  onRemoteChange({ name, state }: StateChange): void {
    this.#stateOf(name).remote = state;
    const poller = this.#pollersByHash.get(name);
    if (poller && (!poller.latest || stateHash(poller.latest) !== state)) poller.pollSoon();
  }

  /** Passes a snapshot to local subscribers, and publishes a change of state to other instances. */
  #onSnapshot(found: T, requestedAt: number): void {
    const { channel, transactionId } = found;
    const poller = this.#pollers.get(keyOf(channel, transactionId));
    if (poller) this.#outsideRequests(() => poller.onSnapshot(found, requestedAt));
    const { notifier } = this.#options;
    if (!notifier.hasPeers) return;
    const name = this.#hashOf(channel, transactionId);
    const state = stateHash(found);
    const known = this.#stateOf(name);
    if (known.local === state) return;
    known.local = state;
    // A state that another instance published is not published again.
    if (known.remote !== state) notifier.publish({ name, state });
    known.remote = undefined;
  }

  /** Returns false when the transaction has no subscribers on this instance. */
  #pollSoon(channel: string, transactionId: string): boolean {
    const poller = this.#pollers.get(keyOf(channel, transactionId));
    if (poller) this.#outsideRequests(() => poller.pollSoon());
    return poller !== undefined;
  }

  #stateOf(name: string): LastKnownHash {
    const known = this.#states.get(name) ?? {};
    this.#states.set(name, known);
    return known;
  }

  #pollerFor(channel: string, transactionId: string): TransactionPoller<T> {
    const key = keyOf(channel, transactionId);
    const existing = this.#pollers.get(key);
    if (existing) return existing;
    const { settings, clock, notifier, background, observer } = this.#options;
    const { kind } = this.#source;
    const name = notifier.hasPeers ? this.#hashOf(channel, transactionId) : undefined;
    const poller: TransactionPoller<T> = new TransactionPoller<T>({
      clock,
      settings,
      lookUp: () => {
        const poll = (): Promise<T | null> =>
          background({ name: `watch ${kind}` }, () => this.lookUp({ channel, transactionId }));
        // The first lookup does not queue. A queued one is skipped when the poller has ended meanwhile.
        if (!poller.latest) return poll();
        return this.#limit.execute(async () => (this.#pollers.get(key) === poller ? poll() : null));
      },
      notFound: () => noSuchTransaction(kind),
      onPoll: (result) => observer.onPoll(kind, result),
      onEnd: () => {
        this.#pollers.delete(key);
        if (name !== undefined) this.#pollersByHash.delete(name);
      },
    });
    this.#pollers.set(key, poller);
    if (name !== undefined) this.#pollersByHash.set(name, poller);
    return poller;
  }

  #hashOf(channel: string, transactionId: string): string {
    return transactionHash(`${this.#options.service} ${this.#source.kind}`, channel, transactionId);
  }
}

/** The error of a subscription to a transaction that does not exist, or is not visible to the caller. */
export const noSuchTransaction = (kind: Snapshot['kind']): ServiceError =>
  new ServiceError(
    'NOT_FOUND',
    `The service shows no such ${kind} on this channel. One that was just created may appear later.`,
  );

const keyOf = (channel: string, transactionId: string): string => `${channel} ${transactionId}`;
