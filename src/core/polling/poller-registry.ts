import { AsyncLocalStorage } from 'node:async_hooks';
import { bulkhead } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import type { PollSettings } from '../../config/types';
import type { Clock } from '../../shared/clock';
import type { StateChange, ChangeNotifier } from '../../datasources/change-notifier/change-notifier';
import type { LookupKey } from '../../datasources/payment-service/client';
import { ServiceError } from '../../datasources/payment-service/service-error';
import type { BackgroundRunner } from '../background-runner';
import type { BackgroundObserver } from '../background-metrics';
import { transactionHash, stateHash, type Snapshot } from './snapshot';
import { TransactionPoller } from './transaction-poller';
import type { LatestValueIterator } from './latest-value-iterator';

/** What the watches of payments and of payouts have in common. */
export interface PollerRegistryOptions extends PollSettings {
  clock: Clock;
  /** Names the service and the credentials used there. */
  service: string;
  feed: ChangeNotifier;
  background: BackgroundRunner;
  /** Hears what each look of a watch came to. */
  heard: Pick<BackgroundObserver, 'onPoll'>;
}

interface OfOneKind<T extends Snapshot> {
  kind: T['kind'];
  lookUp(key: LookupKey): Promise<T | null>;
}

/** Looks of watches never take all the room that callers need. */
const MAX_CONCURRENT_POLLS = 32;
/** Of so many transactions it is remembered what instances have said of them. */
const MAX_REMEMBERED = 20_000;

/** The names of the states in which this instance, and another one, last saw a transaction. */
interface LastKnownHash {
  seen?: string | undefined;
  heard?: string | undefined;
}

/** All payments, or all payouts, that somebody watches here. */
export class PollerRegistry<T extends Snapshot> {
  readonly #options: PollerRegistryOptions & OfOneKind<T>;
  readonly #byKey = new Map<string, TransactionPoller<T>>();
  /** The same by the names that instances use among each other; only where there can be others. */
  readonly #byName = new Map<string, TransactionPoller<T>>();
  readonly #states = new LRUCache<string, LastKnownHash>({ max: MAX_REMEMBERED });
  readonly #limit = bulkhead(MAX_CONCURRENT_POLLS, Infinity);
  /** A watch outlives the request that began it, and belongs to none. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();

  constructor(options: PollerRegistryOptions & OfOneKind<T>) {
    this.#options = options;
  }

  /** The current state, then every change; ends after the last. */
  watch(channel: string, transactionId: string): LatestValueIterator<T> {
    return this.#outsideRequests(() => this.#watchFor(channel, transactionId).subscribe());
  }

  /**
   * Somebody has seen a transaction: whoever watches it hears of it, here and on other instances.
   * @param askedAt when the question was asked, by the clock of `performance`
   */
  onSnapshot(found: T, askedAt: number): void {
    const watch = this.#byKey.get(keyOf(found.channel, found.transactionId));
    if (watch) this.#outsideRequests(() => watch.onSnapshot(found, askedAt));
    if (!this.#options.feed.hasPeers) return;
    const name = this.#nameOf(found.channel, found.transactionId);
    const state = stateHash(found);
    const told = this.#toldOf(name);
    const isNews = told.seen !== state;
    told.seen = state;
    // What others say is not said again, and neither is what was the same here before they said something else.
    if (isNews && told.heard !== state) this.#options.feed.publish({ name, state });
    // What others said of it before counts no more.
    if (isNews) told.heard = undefined;
  }

  /** There may be something new of a transaction. Returns whether somebody watches it here, and it is looked at. */
  pollSoon(channel: string, transactionId: string): boolean {
    const watch = this.#byKey.get(keyOf(channel, transactionId));
    if (watch) this.#outsideRequests(() => watch.pollSoon());
    return watch !== undefined;
  }

  /** Another instance has seen a transaction in a state. */
  onRemoteChange({ name, state }: StateChange): void {
    this.#toldOf(name).heard = state;
    const watch = this.#byName.get(name);
    if (watch && (!watch.known || stateHash(watch.known) !== state)) watch.pollSoon();
  }

  #toldOf(name: string): LastKnownHash {
    const told = this.#states.get(name) ?? {};
    this.#states.set(name, told);
    return told;
  }

  #watchFor(channel: string, transactionId: string): TransactionPoller<T> {
    const key = keyOf(channel, transactionId);
    const there = this.#byKey.get(key);
    if (there) return there;
    const { kind, clock, schedule, outageMs, feed, lookUp, background, heard } = this.#options;
    const name = feed.hasPeers ? this.#nameOf(channel, transactionId) : undefined;
    const watch: TransactionPoller<T> = new TransactionPoller<T>({
      clock,
      schedule,
      outageMs,
      lookUp: () => {
        const look = (): Promise<T | null> =>
          background({ name: `watch ${kind}` }, () => lookUp({ channel, transactionId }));
        // Who begins to watch waits as little as who asks. Nothing is looked up for those who left while they waited.
        if (!watch.known) return look();
        return this.#limit.execute(async () => (this.#byKey.get(key) === watch ? look() : null));
      },
      missing: () => noSuchTransaction(kind),
      looked: (result) => heard.onPoll(kind, result),
      ended: () => {
        this.#byKey.delete(key);
        if (name !== undefined) this.#byName.delete(name);
      },
    });
    this.#byKey.set(key, watch);
    if (name !== undefined) this.#byName.set(name, watch);
    return watch;
  }

  #nameOf(channel: string, transactionId: string): string {
    const { kind, service } = this.#options;
    return transactionHash(`${service} ${kind}`, channel, transactionId);
  }
}

/** Message for a subscription to a transaction that does not exist, or is not visible to the caller. */
export const noSuchTransaction = (kind: Snapshot['kind']): ServiceError =>
  new ServiceError(
    'NOT_FOUND',
    `The service shows no such ${kind} on this channel. One that was just created may appear later.`,
  );

const keyOf = (channel: string, transactionId: string): string => `${channel} ${transactionId}`;
