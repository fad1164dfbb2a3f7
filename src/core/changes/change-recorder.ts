import type { LRUCache } from 'lru-cache';
import type { ChangeSettings, PollSettings } from '../../config/types';
import type { FollowedTransaction, Observation, ObservedState } from '../../datasources/journal/changes';
import type { TransactionKind } from '../../datasources/journal/journal';
import { lazyLruCache } from '../../shared/lazy-lru-cache';
import type { JournalSession } from '../journal-session';
import { nextFollowDelayMs, type PollPhase } from '../polling/poll-schedule';
import { isPartialSnapshot, pollPhase, receivedAmountOf, stateOf } from '../polling/snapshot';
import { FollowedFilter, type ObservationWithPhase } from './followed-filter';
import { ObservationQueue } from './observation-queue';
import type { TransactionResource } from '../../schema/transaction';

/** State of a transaction in the latest response that this instance received. */
export interface KnownState extends Pick<ObservationWithPhase, 'status' | 'state' | 'phase'> {
  /** When a response last showed the transaction, by the monotonic clock. */
  seenAtMonotonic: number;
  /** When the journal last reported that it has recorded this state, in journal time; undefined until then. */
  journalConfirmedAt: number | undefined;
}

const MAX_KNOWN_STATES = 20_000;

/**
 * Records changes of followed transactions: new statuses, and new states of payments (docs/changes.md). Never throws,
 * and delays no response: the writes to the journal are queued.
 */
export class ChangeRecorder {
  readonly #knownStatesByKind: Record<TransactionKind, LRUCache<string, KnownState>> = {
    payment: lazyLruCache(MAX_KNOWN_STATES),
    payout: lazyLruCache(MAX_KNOWN_STATES),
  };
  readonly #queue: ObservationQueue;
  readonly #followedFilter: FollowedFilter;

  /**
   * @param onRecordedOrDropped called with `isRecorded: true` when a change was recorded, and with `isRecorded: false`
   * when a state that may be new was dropped
   */
  constructor(
    private readonly journalSession: JournalSession,
    private readonly config: { changeSettings: ChangeSettings; pollSettings: PollSettings },
    private readonly onRecordedOrDropped: (
      observedChange: Pick<Observation, 'kind' | 'status' | 'channel'>,
      isRecorded: boolean,
    ) => void,
  ) {
    this.#queue = new ObservationQueue(journalSession);
    this.#followedFilter = new FollowedFilter(
      journalSession,
      (observation) => this.#enqueueIfNew(observation),
      (observation) => onRecordedOrDropped(observation, false),
    );
  }

  /**
   * Returns the number of observed states that the journal has not yet checked or recorded (`queuedCount`), and the age
   * of the oldest of them in ms (`oldestQueuedAgeMs`; 0 if there is none).
   */
  backlog(): { queuedCount: number; oldestQueuedAgeMs: number } {
    const now = this.journalSession.clock.now();
    const oldestObservedAt = Math.min(
      this.#queue.oldestObservedAt ?? now,
      this.#followedFilter.oldestObservedAt ?? now,
    );
    return {
      queuedCount: this.#queue.queuedCount + this.#followedFilter.queuedCount,
      oldestQueuedAgeMs: Math.max(0, now - oldestObservedAt),
    };
  }

  /** Records the queued observations immediately. Resolves when all are recorded, or when the journal fails. */
  async flush(): Promise<void> {
    await this.#followedFilter.flush();
    await this.#queue.flush();
  }

  /**
   * Queues the state in a response for recording, unless this instance already knows this state or knows that the
   * transaction is not followed. If no state of a payment is known yet, ignores a response that lacks `state`.
   * @param requestedAtMonotonic start of the request, by `Runtime.monotonic()`
   */
  onSnapshot(snapshot: TransactionResource, requestedAtMonotonic: number): void {
    const knownState = this.#knownStatesByKind[snapshot.kind].get(snapshot.transactionId);
    if (knownState) {
      knownState.seenAtMonotonic = this.journalSession.clock.monotonic();
      if (!isSameState(knownState, snapshot))
        this.#enqueue(this.#toObservation(snapshot, requestedAtMonotonic));
    } else if (!isStateMissing(snapshot) && !this.#followedFilter.isNotFollowed(snapshot.transactionId)) {
      this.#followedFilter.enqueue(this.#toObservation(snapshot, requestedAtMonotonic));
    }
  }

  /**
   * Returns the state of a transaction that was just created or recovered, and remembers it as known. The caller must
   * record it in the journal, with the outcome of the create.
   */
  rememberCreatedState(snapshot: TransactionResource): ObservedState {
    const observation = this.#toObservation(snapshot, this.journalSession.runtime.monotonic());
    this.#rememberState(observation);
    return observation;
  }

  /**
   * Compares the known state of a transaction with its row in the journal, which another instance may have updated. A
   * crash or failover of the database may also have lost the latest change. Returns the known state if the row has the
   * same status and state, and no later change. Otherwise, forgets the known state and returns undefined.
   */
  revalidateKnownState(followedTransaction: FollowedTransaction): KnownState | undefined {
    const { kind, transactionId, status, state, changedAt } = followedTransaction;
    const knownState = this.#knownStatesByKind[kind].peek(transactionId);
    const isCurrent =
      knownState?.status === status &&
      knownState.state === state &&
      changedAt <= (knownState.journalConfirmedAt ?? -Infinity);
    if (isCurrent) return knownState;
    this.#knownStatesByKind[kind].delete(transactionId);
    this.#followedFilter.forgetNotFollowed(transactionId);
    return undefined;
  }

  /** Returns the last known state of a transaction; undefined if this instance knows none. */
  lastKnownState(kind: TransactionKind, transactionId: string): KnownState | undefined {
    return this.#knownStatesByKind[kind].peek(transactionId);
  }

  /** Must be called when the journal has recorded the outcome of a create and, with it, the first change. */
  onCreateRecorded(snapshot: TransactionResource): void {
    const knownState = this.#knownStatesByKind[snapshot.kind].peek(snapshot.transactionId);
    if (knownState?.status === snapshot.status)
      knownState.journalConfirmedAt ??= this.journalSession.clock.now();
    this.onRecordedOrDropped(snapshot, true);
  }

  #enqueueIfNew(observation: ObservationWithPhase): void {
    const knownState = this.#knownStatesByKind[observation.kind].get(observation.transactionId);
    if (knownState?.status !== observation.status || knownState.state !== observation.state)
      this.#enqueue(observation);
  }

  #toObservation(snapshot: TransactionResource, requestedAtMonotonic: number): ObservationWithPhase {
    const { clock, runtime, serviceName } = this.journalSession;
    const observedAt = clock.now();
    const sinceRequestMs = Math.max(0, runtime.monotonic() - requestedAtMonotonic);
    const { kind, channel, transactionId, status } = snapshot;
    const phase = pollPhase(snapshot);
    return {
      service: serviceName,
      kind,
      channel,
      transactionId,
      status,
      state: stateOf(snapshot),
      received: status === 'MISPAID' ? receivedAmountOf(snapshot) : null,
      phase,
      isFinal: phase === 'done',
      nextLookupAt: this.#firstFollowLookupAt(phase),
      requestedAt: Math.floor(observedAt - sinceRequestMs),
      observedAt,
    };
  }

  #enqueue(observation: ObservationWithPhase): void {
    const { kind, transactionId } = observation;
    const rememberedState = this.#rememberState(observation);
    this.#queue.add(observation, (result) => {
      if (result === 'recorded' || result === 'dropped')
        this.onRecordedOrDropped(observation, result === 'recorded');
      const isLatest = this.#knownStatesByKind[kind].peek(transactionId) === rememberedState;
      if (!isLatest) return;
      if (result === 'recorded' || result === 'unchanged')
        rememberedState.journalConfirmedAt = this.journalSession.clock.now();
      // Forgets the state, so that the next response is compared with the journal again.
      else this.#knownStatesByKind[kind].delete(transactionId);
      if (result === 'not_followed') this.#followedFilter.cacheNotFollowed(transactionId);
    });
  }

  #rememberState({ kind, transactionId, status, state, phase }: ObservationWithPhase): KnownState {
    const seenAtMonotonic = this.journalSession.clock.monotonic();
    const knownState: KnownState = { status, state, phase, seenAtMonotonic, journalConfirmedAt: undefined };
    this.#knownStatesByKind[kind].set(transactionId, knownState);
    return knownState;
  }

  /** Returns the due time of the first lookup after a change; null after a final status, and if FOLLOW_DAYS is 0. */
  #firstFollowLookupAt(phase: PollPhase): number | null {
    const { changeSettings, pollSettings } = this.config;
    if (phase === 'done' || changeSettings.followAfterCreateMs === 0) return null;
    const { clock, runtime } = this.journalSession;
    return clock.now() + nextFollowDelayMs(pollSettings.intervalsByPhase[phase], 0, 0, runtime.random());
  }
}

/** Whether the state of a payment is missing in a response, so that reading `state` would trigger a lookup. */
const isStateMissing = (snapshot: TransactionResource): boolean =>
  isPartialSnapshot(snapshot) && Object.getOwnPropertyDescriptor(snapshot, 'state')?.get !== undefined;

const isSameState = (knownState: KnownState, snapshot: TransactionResource): boolean =>
  knownState.status === snapshot.status &&
  (snapshot.kind === 'payout' || knownState.state === stateOf(snapshot) || isStateMissing(snapshot));
