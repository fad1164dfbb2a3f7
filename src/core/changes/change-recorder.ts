import type { LRUCache } from 'lru-cache';
import type { ChangeSettings, PollSettings } from '../../config/types';
import type { FollowedTransaction, Observation, ObservedState } from '../../datasources/journal/changes';
import type { AttemptKind } from '../../datasources/journal/journal';
import { peek } from '../../schema/lazy-field';
import { growingCache } from '../../shared/growing-cache';
import type { JournalSession } from '../journal-session';
import { nextFollowDelay, type PollCategory } from '../polling/poll-schedule';
import { pollPhase, type Snapshot } from '../polling/snapshot';
import { FollowCheck, type SeenTransaction } from './follow-check';
import { ObservationQueue } from './observation-queue';

/** The latest state of a followed transaction in the responses to this instance. */
export interface KnownTransaction {
  status: string;
  state: string | null;
  category: PollCategory;
  /** When a response last showed the transaction, by the monotonic clock. */
  seenAt: number;
  /** Journal time at which the journal last confirmed that it has this state; undefined if it has not yet. */
  confirmedAt: number | undefined;
}

const MAX_KNOWN_TRANSACTIONS = 20_000;

/** Records in the journal every snapshot that may show a new status or state. Never throws and never blocks. */
export class ChangeRecorder {
  readonly #knownTransactions: Record<AttemptKind, LRUCache<string, KnownTransaction>> = {
    payment: growingCache(MAX_KNOWN_TRANSACTIONS),
    payout: growingCache(MAX_KNOWN_TRANSACTIONS),
  };
  readonly #queue: ObservationQueue;
  readonly #followCheck: FollowCheck;

  /** @param onChange called when a change was recorded or an observation was dropped */
  constructor(
    private readonly session: JournalSession,
    private readonly config: { changes: ChangeSettings; watching: PollSettings },
    private readonly onChange: (
      change: Pick<Observation, 'kind' | 'status' | 'channel'>,
      isRecorded: boolean,
    ) => void,
  ) {
    this.#queue = new ObservationQueue(session);
    this.#followCheck = new FollowCheck(
      session,
      (seen) => this.#onMayBeFollowed(seen),
      (seen) => onChange(seen, false),
    );
  }

  /** Returns the number of queued responses and observations, and the age of the oldest one in ms. */
  backlog(): { queued: number; oldestQueuedMs: number } {
    const now = this.session.clock.now();
    const oldestAt = Math.min(this.#queue.oldestAt ?? now, this.#followCheck.oldestAt ?? now);
    return { queued: this.#queue.size + this.#followCheck.size, oldestQueuedMs: Math.max(0, now - oldestAt) };
  }

  /** Resolves when every queued observation is recorded, or when the journal fails. */
  async flush(): Promise<void> {
    await this.#followCheck.flush();
    await this.#queue.flush();
  }

  /** Handles a transaction in a response. @param requestedAt start of the request, by `Runtime.monotonic()` */
  onSnapshot(snapshot: Snapshot, requestedAt: number): void {
    const lastState = this.#knownTransactions[snapshot.kind].get(snapshot.transactionId);
    if (lastState) {
      lastState.seenAt = this.session.clock.monotonic();
      if (!isSameState(lastState, snapshot)) this.#enqueue(this.#toSeenTransaction(snapshot, requestedAt));
    } else if (!isStateMissing(snapshot) && !this.#followCheck.isNotFollowed(snapshot.transactionId)) {
      this.#followCheck.add(this.#toSeenTransaction(snapshot, requestedAt));
    }
  }

  /** Returns the state in the response to a create. The caller records the state together with the outcome. */
  observedByCreate(snapshot: Snapshot): ObservedState {
    const seen = this.#toSeenTransaction(snapshot, this.session.runtime.monotonic());
    this.#remember(seen);
    return this.#observedState(seen);
  }

  /** Returns the last known state of a followed transaction. Forgets it and returns undefined if it may be outdated. */
  checkKnown({ kind, transactionId, status, changedAt }: FollowedTransaction): KnownTransaction | undefined {
    const lastState = this.#knownTransactions[kind].peek(transactionId);
    const isCurrent = lastState?.status === status && changedAt <= (lastState.confirmedAt ?? -Infinity);
    if (isCurrent) return lastState;
    this.#knownTransactions[kind].delete(transactionId);
    this.#followCheck.forget(transactionId);
    return undefined;
  }

  /** Returns the last known state of a transaction; undefined if this instance has not seen the transaction. */
  lastKnown(kind: AttemptKind, transactionId: string): KnownTransaction | undefined {
    return this.#knownTransactions[kind].peek(transactionId);
  }

  /** Called when the outcome of a create was recorded together with the first change. */
  onCreateRecorded(snapshot: Snapshot): void {
    const lastState = this.#knownTransactions[snapshot.kind].peek(snapshot.transactionId);
    if (lastState) lastState.confirmedAt ??= this.session.clock.now();
    this.onChange(snapshot, true);
  }

  /** Queues an observation of a transaction that may be followed, unless its state is already known. */
  #onMayBeFollowed(seen: SeenTransaction): void {
    const lastState = this.#knownTransactions[seen.kind].get(seen.transactionId);
    if (lastState?.status !== seen.status || lastState.state !== seen.state) this.#enqueue(seen);
  }

  #toSeenTransaction(snapshot: Snapshot, requestedAt: number): SeenTransaction {
    const { clock, runtime } = this.session;
    const observedAt = clock.now();
    const sinceRequestMs = Math.max(0, runtime.monotonic() - requestedAt);
    const { kind, channel, transactionId, status } = snapshot;
    return {
      kind,
      channel,
      transactionId,
      status,
      state: stateOf(snapshot),
      received: receivedAmountOf(snapshot),
      category: pollPhase(snapshot),
      requestedAt: Math.floor(observedAt - sinceRequestMs),
      observedAt,
    };
  }

  #enqueue(seen: SeenTransaction): void {
    const { kind, channel, transactionId, requestedAt, observedAt } = seen;
    const observation: Observation = {
      ...this.#observedState(seen),
      service: this.session.service,
      kind,
      channel,
      transactionId,
      requestedAt,
      observedAt,
    };
    const entry = this.#remember(seen);
    this.#queue.add(observation, (result) => {
      if (result === 'recorded' || result === 'dropped') this.onChange(observation, result === 'recorded');
      const isLatest = this.#knownTransactions[kind].peek(transactionId) === entry;
      if (!isLatest) return;
      if (result === 'recorded' || result === 'unchanged') entry.confirmedAt = this.session.clock.now();
      // Then the next response that shows the transaction is compared with the journal again.
      else this.#knownTransactions[kind].delete(transactionId);
      if (result === 'not_followed') this.#followCheck.cacheNotFollowed(transactionId);
    });
  }

  #remember({ kind, transactionId, status, state, category }: SeenTransaction): KnownTransaction {
    const seenAt = this.session.clock.monotonic();
    const entry: KnownTransaction = { status, state, category, seenAt, confirmedAt: undefined };
    this.#knownTransactions[kind].set(transactionId, entry);
    return entry;
  }

  #observedState({ status, state, received, category }: SeenTransaction): ObservedState {
    return {
      status,
      state,
      received,
      isFinal: category === 'done',
      nextLookupAt: this.#nextLookupAt(category),
    };
  }

  /** Returns the time of the next lookup of a transaction that has just changed; null if it needs no further lookup. */
  #nextLookupAt(category: PollCategory): number | null {
    const { changes, watching } = this.config;
    if (category === 'done' || changes.followMs === 0) return null;
    return this.session.clock.now() + nextFollowDelay(watching.schedule[category], 0, 0);
  }
}

/** Returns the state of a payment without triggering a lookup; null if the response contains no state. */
const stateOf = (snapshot: Snapshot): string | null =>
  snapshot.kind === 'payout' ? null : ((peek(snapshot, 'state') as string | null | undefined) ?? null);

const receivedAmountOf = (snapshot: Snapshot): string | null => {
  if (snapshot.status !== 'MISPAID') return null;
  const { received = null } = (peek(snapshot, 'amount') ?? {}) as { received?: string | null };
  return received;
};

/** Whether a response omits the state of a payment. Reading `state` would then trigger a lookup. */
const isStateMissing = (snapshot: Snapshot): boolean =>
  snapshot.kind === 'payment' &&
  snapshot.loadComplete !== undefined &&
  Object.getOwnPropertyDescriptor(snapshot, 'state')?.get !== undefined;

const isSameState = (known: KnownTransaction, found: Snapshot): boolean =>
  known.status === found.status &&
  (found.kind === 'payout' || known.state === stateOf(found) || isStateMissing(found));
