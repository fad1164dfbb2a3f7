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

/** The latest state of a followed transaction that a response showed to this instance. */
export interface KnownTransaction {
  status: string;
  state: string | null;
  category: PollCategory;
  /** When a response last showed the transaction, by the monotonic clock. */
  seenAt: number;
  /** When the journal last confirmed that this state is recorded, in journal time; undefined if it has not yet. */
  confirmedAt: number | undefined;
}

const MAX_KNOWN = 20_000;

/** Records in the journal every snapshot that may show a new status or state. Never throws and never blocks. */
export class ChangeRecorder {
  readonly #known: Record<AttemptKind, LRUCache<string, KnownTransaction>> = {
    payment: growingCache(MAX_KNOWN),
    payout: growingCache(MAX_KNOWN),
  };
  readonly #queue: ObservationQueue;
  readonly #check: FollowCheck;

  /** @param onChange called when a change was recorded, or when an observation was dropped unrecorded */
  constructor(
    private readonly session: JournalSession,
    private readonly config: { changes: ChangeSettings; watching: PollSettings },
    private readonly onChange: (
      change: Pick<Observation, 'kind' | 'status' | 'channel'>,
      isRecorded: boolean,
    ) => void,
  ) {
    this.#queue = new ObservationQueue(session);
    this.#check = new FollowCheck(
      session,
      (seen) => this.#onMayBeFollowed(seen),
      ({ found }) => onChange(found, false),
    );
  }

  /** Returns the number of queued responses and observations, and the age of the oldest one in ms. */
  backlog(): { queued: number; oldestQueuedMs: number } {
    const now = this.session.clock.now();
    const oldestAt = Math.min(this.#queue.oldestAt ?? now, this.#check.oldestAt ?? now);
    return { queued: this.#queue.size + this.#check.size, oldestQueuedMs: Math.max(0, now - oldestAt) };
  }

  /** Resolves when every queued observation is recorded, or when the journal fails. */
  async flush(): Promise<void> {
    await this.#check.flush();
    await this.#queue.flush();
  }

  /** Handles a transaction in a response. @param requestedAt start of the request, by `Runtime.monotonic()` */
  onSnapshot(found: Snapshot, requestedAt: number): void {
    const known = this.#known[found.kind].get(found.transactionId);
    if (known) {
      known.seenAt = this.session.clock.monotonic();
      if (!isSameState(known, found)) this.#enqueue(this.#seen(found, requestedAt));
    } else if (!isStateMissing(found) && !this.#check.isNotFollowed(found.transactionId)) {
      this.#check.add(this.#seen(found, requestedAt));
    }
  }

  /** Returns the state in the response to a create. The caller records the state together with the outcome. */
  observedByCreate(found: Snapshot): ObservedState {
    this.#remember(found);
    return this.#observedState(found);
  }

  /** Returns the last known state of a followed transaction. If the journal may have a newer one, forgets the state. */
  checkKnown({ kind, transactionId, status, changedAt }: FollowedTransaction): KnownTransaction | undefined {
    const known = this.#known[kind].peek(transactionId);
    const isCurrent = known?.status === status && changedAt <= (known.confirmedAt ?? -Infinity);
    if (isCurrent) return known;
    this.#known[kind].delete(transactionId);
    this.#check.forget(transactionId);
    return undefined;
  }

  /** Returns the last known state of a transaction; undefined if no response showed the transaction to this instance. */
  lastKnown(kind: AttemptKind, transactionId: string): KnownTransaction | undefined {
    return this.#known[kind].peek(transactionId);
  }

  /** Called when the outcome of a create was recorded together with the first change. */
  onCreateRecorded(found: Snapshot): void {
    const known = this.#known[found.kind].peek(found.transactionId);
    if (known) known.confirmedAt ??= this.session.clock.now();
    this.onChange(found, true);
  }

  /** Queues an observation of a transaction that may be followed, unless its state is already known. */
  #onMayBeFollowed(seen: SeenTransaction): void {
    const known = this.#known[seen.found.kind].get(seen.found.transactionId);
    if (!known || !isSameState(known, seen.found)) this.#enqueue(seen);
  }

  #seen(found: Snapshot, requestedAt: number): SeenTransaction {
    const { clock, runtime } = this.session;
    const observedAt = clock.now();
    const sinceRequest = Math.max(0, runtime.monotonic() - requestedAt);
    return { found, requestedAt: Math.floor(observedAt - sinceRequest), observedAt };
  }

  #enqueue({ found, requestedAt, observedAt }: SeenTransaction): void {
    const { kind, channel, transactionId } = found;
    const observation: Observation = {
      ...this.#observedState(found),
      service: this.session.service,
      kind,
      channel,
      transactionId,
      requestedAt,
      observedAt,
    };
    const entry = this.#remember(found);
    this.#queue.add(observation, (result) => {
      if (result === 'recorded' || result === 'dropped') this.onChange(observation, result === 'recorded');
      const isLatest = this.#known[kind].peek(transactionId) === entry;
      if (!isLatest) return;
      if (result === 'recorded' || result === 'unchanged') entry.confirmedAt = this.session.clock.now();
      // Makes the next response with this transaction reach the journal again.
      else this.#known[kind].delete(transactionId);
      if (result === 'not_followed') this.#check.addNotFollowed(transactionId);
    });
  }

  #remember(found: Snapshot): KnownTransaction {
    const entry: KnownTransaction = {
      status: found.status,
      state: stateOf(found),
      category: pollPhase(found),
      seenAt: this.session.clock.monotonic(),
      confirmedAt: undefined,
    };
    this.#known[found.kind].set(found.transactionId, entry);
    return entry;
  }

  #observedState(found: Snapshot): ObservedState {
    const category = pollPhase(found);
    return {
      status: found.status,
      state: stateOf(found),
      received: receivedBy(found),
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
const stateOf = (found: Snapshot): string | null =>
  found.kind === 'payout' ? null : ((peek(found, 'state') as string | null | undefined) ?? null);

const receivedBy = (found: Snapshot): string | null => {
  if (found.status !== 'MISPAID') return null;
  const { received = null } = (peek(found, 'amount') ?? {}) as { received?: string | null };
  return received;
};

/** Whether a response omits the state of a payment, so that only a lookup would show it. */
const isStateMissing = (found: Snapshot): boolean =>
  found.kind === 'payment' &&
  found.complete !== undefined &&
  Object.getOwnPropertyDescriptor(found, 'state')?.get !== undefined;

const isSameState = (known: KnownTransaction, found: Snapshot): boolean =>
  known.status === found.status &&
  (found.kind === 'payout' || known.state === stateOf(found) || isStateMissing(found));
