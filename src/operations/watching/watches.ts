import { AsyncLocalStorage } from 'node:async_hooks';
import { bulkhead } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock';
import type { Change, ChangeFeed } from '../../datasources/changes/changes';
import type { LookupKey } from '../../datasources/service/client';
import { ServiceError } from '../../datasources/service/service-error';
import type { Background } from '../background';
import type { OperationsListener } from '../operations-listener';
import type { Schedule } from './schedule';
import { nameOf, nameOfState, type Watchable } from './sighting';
import { Watch } from './watch';
import type { Watcher } from './watcher';

/** How watched transactions are looked at. */
export interface WatchSettings {
  schedule: Schedule;
  /** After so long an outage the watchers are told, in milliseconds; 0: never. */
  outageMs: number;
}

/** What the watches of payments and of payouts have in common. */
export interface WatchesOptions extends WatchSettings {
  clock: Clock;
  /** Names the service and the credentials used there. */
  service: string;
  feed: ChangeFeed;
  background: Background;
  /** Hears what each look of a watch came to. */
  heard: Pick<OperationsListener, 'looked'>;
}

interface OfOneKind<T extends Watchable> {
  kind: T['kind'];
  lookUp(key: LookupKey): Promise<T | null>;
}

/** Looks of watches never take all the room that callers need. */
const MAX_LOOKS_AT_A_TIME = 32;
/** Of so many transactions it is remembered what instances have said of them. */
const MAX_TOLD = 20_000;

/** The names of the states in which this instance, and another one, last saw a transaction. */
interface Told {
  seen?: string | undefined;
  heard?: string | undefined;
}

/** All payments, or all payouts, that somebody watches here. */
export class Watches<T extends Watchable> {
  readonly #options: WatchesOptions & OfOneKind<T>;
  readonly #byKey = new Map<string, Watch<T>>();
  /** The same by the names that instances use among each other; only where there can be others. */
  readonly #byName = new Map<string, Watch<T>>();
  readonly #states = new LRUCache<string, Told>({ max: MAX_TOLD });
  readonly #limit = bulkhead(MAX_LOOKS_AT_A_TIME, Infinity);
  /** A watch outlives the request that began it, and belongs to none. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();

  constructor(options: WatchesOptions & OfOneKind<T>) {
    this.#options = options;
  }

  /** The current state, then every change; ends after the last. */
  watch(channel: string, transactionId: string): Watcher<T> {
    return this.#outsideRequests(() => this.#watchFor(channel, transactionId).join());
  }

  /**
   * Somebody has seen a transaction: whoever watches it hears of it, here and on other instances.
   * @param askedAt when the question was asked, by the clock of `performance`
   */
  seen(found: T, askedAt: number): void {
    const watch = this.#byKey.get(keyOf(found.channel, found.transactionId));
    if (watch) this.#outsideRequests(() => watch.seen(found, askedAt));
    if (!this.#options.feed.reachesOthers) return;
    const name = this.#nameOf(found.channel, found.transactionId);
    const state = nameOfState(found);
    const told = this.#toldOf(name);
    const isNews = told.seen !== state;
    told.seen = state;
    // What others say is not said again, and neither is what was the same here before they said something else.
    if (isNews && told.heard !== state) this.#options.feed.tell({ name, state });
    // What others said of it before counts no more.
    if (isNews) told.heard = undefined;
  }

  /** There may be something new of a transaction. Returns whether somebody watches it here, and it is looked at. */
  hint(channel: string, transactionId: string): boolean {
    const watch = this.#byKey.get(keyOf(channel, transactionId));
    if (watch) this.#outsideRequests(() => watch.hint());
    return watch !== undefined;
  }

  /** Another instance has seen a transaction in a state. */
  heard({ name, state }: Change): void {
    this.#toldOf(name).heard = state;
    const watch = this.#byName.get(name);
    if (watch && (!watch.known || nameOfState(watch.known) !== state)) watch.hint();
  }

  #toldOf(name: string): Told {
    const told = this.#states.get(name) ?? {};
    this.#states.set(name, told);
    return told;
  }

  #watchFor(channel: string, transactionId: string): Watch<T> {
    const key = keyOf(channel, transactionId);
    const there = this.#byKey.get(key);
    if (there) return there;
    const { kind, clock, schedule, outageMs, feed, lookUp, background, heard } = this.#options;
    const name = feed.hearsOthers ? this.#nameOf(channel, transactionId) : undefined;
    const stopListening = feed.listen();
    const watch: Watch<T> = new Watch<T>({
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
      looked: (result) => heard.looked(kind, result),
      ended: () => {
        this.#byKey.delete(key);
        stopListening();
        if (name !== undefined) this.#byName.delete(name);
      },
    });
    this.#byKey.set(key, watch);
    if (name !== undefined) this.#byName.set(name, watch);
    return watch;
  }

  #nameOf(channel: string, transactionId: string): string {
    const { kind, service } = this.#options;
    return nameOf(`${service} ${kind}`, channel, transactionId);
  }
}

/** Message for a subscription to a transaction that does not exist, or is not visible to the caller. */
export const noSuchTransaction = (kind: Watchable['kind']): ServiceError =>
  new ServiceError(
    'NOT_FOUND',
    `The service shows no such ${kind} on this channel. One that was just created may appear later.`,
  );

const keyOf = (channel: string, transactionId: string): string => `${channel} ${transactionId}`;
