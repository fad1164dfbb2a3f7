import { bulkhead } from 'cockatiel';
import type { PollSettings } from '../../config/types';
import { lazyLruCache } from '../../shared/lazy-lru-cache';
import { runOutsideRequests } from '../../shared/outside-requests';
import type { ChangeNotification, ChangeNotifier } from '../../datasources/change-notifier/change-notifier';
import type { LookupKey } from '../../datasources/payment-service/client';
import { LookupCoalescer } from '../../datasources/payment-service/coalesced-lookups';
import type { BackgroundObserver, RunInBackgroundSpan } from '../background';
import type { JournalSession } from '../journal-session';
import { transactionIdHash, stateHash } from './snapshot';
import { TransactionPoller } from './transaction-poller';
import type { LatestValueIterator } from './latest-value-iterator';
import type { TransactionResource } from '../../schema/transaction';

export interface TransactionFeedOptions {
  pollSettings: PollSettings;
  journalSession: Pick<JournalSession, 'serviceName' | 'clock' | 'runtime'>;
  notifier: ChangeNotifier | null;
  runInSpan: RunInBackgroundSpan;
  observer: Pick<BackgroundObserver, 'onPoll'>;
  /** Receives every snapshot. @param requestedAtMonotonic start of the request, by `Runtime.monotonic()` */
  recorder: { onSnapshot(snapshot: TransactionResource, requestedAtMonotonic: number): void };
}

/**
 * Maximum number of concurrent polls, so that the lookups of callers still get bulkhead slots. Does not limit the
 * lookups that a poller makes before its first state.
 */
const MAX_CONCURRENT_POLLS = 32;
const MAX_STORED_HASHES = 20_000;

/**
 * Hashes of a transaction's last states. `ownHash`: the last state in a response to this instance. `peerHash`: the
 * last state that another instance has published since then. A state that equals one of them is not published again.
 */
interface LastStateHashes {
  ownHash?: string | undefined;
  peerHash?: string | undefined;
}

/** Looks up payments or payouts and serves subscriptions to them. Subscribers of a transaction share one poller. */
export class TransactionFeed<T extends TransactionResource> {
  readonly #lookupCoalescer: LookupCoalescer<T>;
  readonly #pollersByKey = new Map<string, TransactionPoller<T>>();
  /** The pollers by transaction hash, for messages of other instances. Empty if no other instances can exist. */
  readonly #pollerByTransactionHash = new Map<string, TransactionPoller<T>>();
  readonly #lastHashesByTransactionHash = lazyLruCache<string, LastStateHashes>(MAX_STORED_HASHES);
  readonly #pollBulkhead = bulkhead(MAX_CONCURRENT_POLLS, Infinity);

  /** @param lookUp returns null if the service has no such transaction */
  constructor(
    private readonly options: TransactionFeedOptions,
    private readonly kind: T['kind'],
    lookUp: (lookupKey: LookupKey) => Promise<T | null>,
  ) {
    this.#lookupCoalescer = new LookupCoalescer(lookUp);
  }

  /** Looks a transaction up; null if the service does not have it. Concurrent lookups of equal ids share a request. */
  lookUp(lookupKey: LookupKey): Promise<T | null> {
    return this.#lookupCoalescer.load(lookupKey);
  }

  /**
   * Subscribes to the current state of a transaction and to its changes until it is completed or failed. The iterator
   * throws a ServiceError if the first lookup fails or finds no transaction, or if lookups fail for too long.
   */
  watch(channel: string, transactionId: string): LatestValueIterator<T> {
    return runOutsideRequests(() => this.#pollerFor(channel, transactionId).subscribe());
  }

  /** Looks a transaction up like lookUp(), but waits while MAX_CONCURRENT_POLLS polls are in flight. */
  lookUpAsPoll(channel: string, transactionId: string): Promise<T | null> {
    return this.#pollBulkhead.execute(() => this.lookUp({ channel, transactionId }));
  }

  /**
   * Handles a callback of the service. If the transaction has subscribers here, schedules an early poll; otherwise,
   * looks the transaction up.
   */
  async onCallback(channel: string, transactionId: string): Promise<void> {
    if (!this.#pollSoon(channel, transactionId)) await this.lookUp({ channel, transactionId });
  }

  /** Makes later lookups on a channel send new requests, not share those in flight. Call it after each mutation. */
  invalidateLookups(channel: string): void {
    this.#lookupCoalescer.invalidateChannel(channel);
  }

  /** Passes the result of a mutation to subscribers. A replayed result may be old, so it only triggers a poll. */
  onMutationResult(result: { transaction: T; replayed: boolean }, requestedAtMonotonic: number): void {
    const { transaction, replayed } = result;
    this.invalidateLookups(transaction.channel);
    if (replayed) this.#pollSoon(transaction.channel, transaction.transactionId);
    else this.onSnapshot(transaction, requestedAtMonotonic);
  }

  /** Handles the hash of a state that another instance has seen. Polls soon if subscribers here lack this state. */
  onRemoteChange({ subjectHash, stateHash: remoteStateHash }: ChangeNotification): void {
    this.#lastHashesOf(subjectHash).peerHash = remoteStateHash;
    const poller = this.#pollerByTransactionHash.get(subjectHash);
    if (poller && (!poller.latestSnapshot || stateHash(poller.latestSnapshot) !== remoteStateHash))
      poller.pollSoon();
  }

  /**
   * Passes a snapshot to the recorder and to subscribers here. Notifies other instances if its state is new.
   * @param requestedAtMonotonic start of the request, by `Runtime.monotonic()`
   */
  onSnapshot(snapshot: T, requestedAtMonotonic: number): void {
    const { channel, transactionId } = snapshot;
    this.options.recorder.onSnapshot(snapshot, requestedAtMonotonic);
    const poller = this.#pollersByKey.get(pollerKey(channel, transactionId));
    if (poller) runOutsideRequests(() => poller.onSnapshot(snapshot, requestedAtMonotonic));
    const { notifier } = this.options;
    if (!notifier) return;
    const transactionHash = this.#transactionHashOf(channel, transactionId);
    const newStateHash = stateHash(snapshot);
    const lastStateHashes = this.#lastHashesOf(transactionHash);
    if (lastStateHashes.ownHash === newStateHash) return;
    lastStateHashes.ownHash = newStateHash;
    // Does not publish a state that another instance has just published.
    if (lastStateHashes.peerHash !== newStateHash)
      notifier.publish({ subjectHash: transactionHash, stateHash: newStateHash });
    lastStateHashes.peerHash = undefined;
  }

  /** Schedules an early poll. Returns false if the transaction has no subscribers on this instance. */
  #pollSoon(channel: string, transactionId: string): boolean {
    const poller = this.#pollersByKey.get(pollerKey(channel, transactionId));
    if (poller) runOutsideRequests(() => poller.pollSoon());
    return poller !== undefined;
  }

  #lastHashesOf(transactionHash: string): LastStateHashes {
    const lastStateHashes = this.#lastHashesByTransactionHash.get(transactionHash) ?? {};
    this.#lastHashesByTransactionHash.set(transactionHash, lastStateHashes);
    return lastStateHashes;
  }

  #pollerFor(channel: string, transactionId: string): TransactionPoller<T> {
    const key = pollerKey(channel, transactionId);
    const existing = this.#pollersByKey.get(key);
    if (existing) return existing;
    const { pollSettings, journalSession, notifier, runInSpan, observer } = this.options;
    const { kind } = this;
    const transactionHash = notifier ? this.#transactionHashOf(channel, transactionId) : undefined;
    const poller: TransactionPoller<T> = new TransactionPoller<T>({
      clock: journalSession.clock,
      runtime: journalSession.runtime,
      pollSettings,
      lookUp: () => {
        const poll = (): Promise<T | null> =>
          runInSpan({ name: `watch ${kind}` }, () => this.lookUp({ channel, transactionId }));
        // A lookup before the first state starts at once. A later one may be queued, and is skipped if the poller ends.
        if (!poller.latestSnapshot) return poll();
        return this.#pollBulkhead.execute(async () =>
          this.#pollersByKey.get(key) === poller ? poll() : null,
        );
      },
      kind,
      onPoll: (result) => observer.onPoll(kind, result),
      onEnd: () => {
        this.#pollersByKey.delete(key);
        if (transactionHash !== undefined) this.#pollerByTransactionHash.delete(transactionHash);
      },
    });
    this.#pollersByKey.set(key, poller);
    if (transactionHash !== undefined) this.#pollerByTransactionHash.set(transactionHash, poller);
    return poller;
  }

  #transactionHashOf(channel: string, transactionId: string): string {
    const { serviceName } = this.options.journalSession;
    return transactionIdHash(`${serviceName} ${this.kind}`, channel, transactionId);
  }
}

const pollerKey = (channel: string, transactionId: string): string => `${channel} ${transactionId}`;
