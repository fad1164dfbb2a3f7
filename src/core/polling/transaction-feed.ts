import { bulkhead } from 'cockatiel';
import type { PollSettings } from '../../config/types';
import { lazyLruCache } from '../../shared/lazy-lru-cache';
import { runOutsideRequests } from '../../shared/outside-requests';
import type { ChangeNotification, ChangeNotifier } from '../../datasources/change-notifier/change-notifier';
import type { LookupKey } from '../../datasources/payment-service/client';
import { LookupCoalescer } from '../../datasources/payment-service/coalesced-lookups';
import type { BackgroundObserver, RunInBackgroundSpan } from '../background';
import type { JournalSession } from '../journal-session';
import { transactionIdHash, stateHash, type Snapshot } from './snapshot';
import { TransactionPoller } from './transaction-poller';
import type { LatestValueIterator } from './latest-value-iterator';

export interface TransactionFeedOptions {
  settings: PollSettings;
  session: Pick<JournalSession, 'service' | 'clock' | 'runtime'>;
  notifier: ChangeNotifier | null;
  runInSpan: RunInBackgroundSpan;
  observer: Pick<BackgroundObserver, 'onPoll'>;
  /** Receives every snapshot. @param requestedAt start of the request, by `Runtime.monotonic()` */
  recorder: { onSnapshot(snapshot: Snapshot, requestedAt: number): void };
}

/**
 * Maximum number of concurrent polls. Leaves capacity for callers. A poller's lookups before its first state have no
 * limit.
 */
const MAX_CONCURRENT_POLLS = 32;
const MAX_STORED_HASHES = 20_000;

/**
 * Hashes of a transaction's last states. `own`: the last state in a response to this instance. `peer`: the last state
 * that another instance has published since then. A state that equals one of them is not published again.
 */
interface LastStateHashes {
  own?: string | undefined;
  peer?: string | undefined;
}

/** Looks up payments or payouts and serves subscriptions to them. Subscribers of a transaction share one poller. */
export class TransactionFeed<T extends Snapshot> {
  readonly #lookups: LookupCoalescer<T>;
  readonly #pollers = new Map<string, TransactionPoller<T>>();
  /** The pollers by transaction hash, for messages of other instances. Empty if no other instances can exist. */
  readonly #pollersByHash = new Map<string, TransactionPoller<T>>();
  readonly #lastHashes = lazyLruCache<string, LastStateHashes>(MAX_STORED_HASHES);
  readonly #pollBulkhead = bulkhead(MAX_CONCURRENT_POLLS, Infinity);

  /** @param lookUp returns null if the service has no such transaction */
  constructor(
    private readonly options: TransactionFeedOptions,
    private readonly kind: T['kind'],
    lookUp: (key: LookupKey) => Promise<T | null>,
  ) {
    this.#lookups = new LookupCoalescer(lookUp);
  }

  /** Looks a transaction up; null if the service does not have it. Concurrent lookups of one key share a request. */
  lookUp(key: LookupKey): Promise<T | null> {
    return this.#lookups.load(key);
  }

  /**
   * Subscribes to the current state of a transaction and to its changes until it is completed or failed. The iterator
   * throws a ServiceError if the first lookup fails or finds no transaction, or if lookups fail for too long.
   */
  watch(channel: string, transactionId: string): LatestValueIterator<T> {
    return runOutsideRequests(() => this.#pollerFor(channel, transactionId).subscribe());
  }

  /** Looks a transaction up like lookUp(), but waits while MAX_CONCURRENT_POLLS polls are in flight. */
  poll(channel: string, transactionId: string): Promise<T | null> {
    return this.#pollBulkhead.execute(() => this.lookUp({ channel, transactionId }));
  }

  /**
   * Handles a callback of the service. If the transaction has subscribers here, schedules an early poll; otherwise,
   * looks the transaction up.
   */
  async onCallback(channel: string, transactionId: string): Promise<void> {
    if (!this.#pollSoon(channel, transactionId)) await this.lookUp({ channel, transactionId });
  }

  /** Must be called after a mutation: later lookups on the channel then do not share older requests in flight. */
  invalidateLookups(channel: string): void {
    this.#lookups.invalidateChannel(channel);
  }

  /** Passes the result of a mutation to subscribers. A replayed result may be old, so it only triggers a poll. */
  onMutationResult(result: { transaction: T; replayed: boolean }, requestedAt: number): void {
    const { transaction, replayed } = result;
    this.invalidateLookups(transaction.channel);
    if (replayed) this.#pollSoon(transaction.channel, transaction.transactionId);
    else this.onSnapshot(transaction, requestedAt);
  }

  /** Handles the hash of a state that another instance has seen. Polls soon if subscribers here lack this state. */
  onRemoteChange({ subjectHash, stateHash: remoteStateHash }: ChangeNotification): void {
    this.#lastHashesOf(subjectHash).peer = remoteStateHash;
    const poller = this.#pollersByHash.get(subjectHash);
    if (poller && (!poller.latest || stateHash(poller.latest) !== remoteStateHash)) poller.pollSoon();
  }

  /**
   * Passes a snapshot to the recorder and to subscribers here. Notifies other instances if its state is new.
   * @param requestedAt start of the request, by `Runtime.monotonic()`
   */
  onSnapshot(snapshot: T, requestedAt: number): void {
    const { channel, transactionId } = snapshot;
    this.options.recorder.onSnapshot(snapshot, requestedAt);
    const poller = this.#pollers.get(pollerKey(channel, transactionId));
    if (poller) runOutsideRequests(() => poller.onSnapshot(snapshot, requestedAt));
    const { notifier } = this.options;
    if (!notifier) return;
    const subjectHash = this.#subjectHashOf(channel, transactionId);
    const newStateHash = stateHash(snapshot);
    const hashes = this.#lastHashesOf(subjectHash);
    if (hashes.own === newStateHash) return;
    hashes.own = newStateHash;
    // Does not publish a state that another instance has just published.
    if (hashes.peer !== newStateHash) notifier.publish({ subjectHash, stateHash: newStateHash });
    hashes.peer = undefined;
  }

  /** Schedules an early poll. Returns false if the transaction has no subscribers on this instance. */
  #pollSoon(channel: string, transactionId: string): boolean {
    const poller = this.#pollers.get(pollerKey(channel, transactionId));
    if (poller) runOutsideRequests(() => poller.pollSoon());
    return poller !== undefined;
  }

  #lastHashesOf(subjectHash: string): LastStateHashes {
    const hashes = this.#lastHashes.get(subjectHash) ?? {};
    this.#lastHashes.set(subjectHash, hashes);
    return hashes;
  }

  #pollerFor(channel: string, transactionId: string): TransactionPoller<T> {
    const key = pollerKey(channel, transactionId);
    const existing = this.#pollers.get(key);
    if (existing) return existing;
    const { settings, session, notifier, runInSpan, observer } = this.options;
    const { kind } = this;
    const subjectHash = notifier ? this.#subjectHashOf(channel, transactionId) : undefined;
    const poller: TransactionPoller<T> = new TransactionPoller<T>({
      clock: session.clock,
      runtime: session.runtime,
      settings,
      lookUp: () => {
        const poll = (): Promise<T | null> =>
          runInSpan({ name: `watch ${kind}` }, () => this.lookUp({ channel, transactionId }));
        // A lookup before the first state starts immediately. A later one may be queued, and is skipped if the poller
        // ends.
        if (!poller.latest) return poll();
        return this.#pollBulkhead.execute(async () => (this.#pollers.get(key) === poller ? poll() : null));
      },
      kind,
      onPoll: (result) => observer.onPoll(kind, result),
      onEnd: () => {
        this.#pollers.delete(key);
        if (subjectHash !== undefined) this.#pollersByHash.delete(subjectHash);
      },
    });
    this.#pollers.set(key, poller);
    if (subjectHash !== undefined) this.#pollersByHash.set(subjectHash, poller);
    return poller;
  }

  #subjectHashOf(channel: string, transactionId: string): string {
    return transactionIdHash(`${this.options.session.service} ${this.kind}`, channel, transactionId);
  }
}

const pollerKey = (channel: string, transactionId: string): string => `${channel} ${transactionId}`;
