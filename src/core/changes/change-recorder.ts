import type { LRUCache } from 'lru-cache';
import type { FollowedTransaction, Observation, ObservedState } from '../../datasources/journal/changes';
import type { AttemptKind } from '../../datasources/journal/journal';
import { peek } from '../../schema/lazy-field';
import { growingCache } from '../../shared/growing-cache';
import type { Runtime } from '../../shared/runtime';
import type { JournalClock } from '../clocks';
import type { PollCategory } from '../polling/poll-schedule';
import { pollPhase, type Snapshot } from '../polling/snapshot';
import type { FollowSchedules } from './follow-schedules';
import type { FollowCheck, SeenTransaction } from './follow-check';
import type { ObservationQueue } from './observation-queue';

/** The state of a followed transaction that this instance has seen last. */
export interface KnownTransaction {
  status: string;
  state: string | null;
  category: PollCategory;
  /** When a response last showed the transaction, by the monotonic clock. */
  seenAt: number;
  /** When the journal last answered that this status and state is recorded, in journal time; undefined before. */
  confirmedAt: number | undefined;
}

const MAX_KNOWN = 20_000;
export interface ChangeRecorderOptions {
  clock: JournalClock;
  runtime: Pick<Runtime, 'monotonic'>;
  service: string;
  schedules: FollowSchedules;
  queue: ObservationQueue;
  check: FollowCheck;
}

/** Passes every snapshot that may show a new status or state to the journal. Never throws and never waits. */
export class ChangeRecorder {
  readonly #known: Record<AttemptKind, LRUCache<string, KnownTransaction>> = {
    payment: growingCache(MAX_KNOWN),
    payout: growingCache(MAX_KNOWN),
  };

  constructor(private readonly options: ChangeRecorderOptions) {}

  /** Handles a transaction that a response shows. @param requestedAt start of its request by `Runtime.monotonic()` */
  onSnapshot(found: Snapshot, requestedAt: number): void {
    const { check } = this.options;
    const known = this.#known[found.kind].get(found.transactionId);
    if (known) {
      known.seenAt = this.options.clock.monotonic();
      if (!isSameState(known, found)) this.#enqueue(this.#seen(found, requestedAt));
    } else if (!isStateMissing(found) && !check.isNotFollowed(found.transactionId)) {
      check.add(this.#seen(found, requestedAt));
    }
  }

  /** Handles a response whose transaction may be followed. */
  onMayBeFollowed(seen: SeenTransaction): void {
    const known = this.#known[seen.found.kind].get(seen.found.transactionId);
    if (!known || !isSameState(known, seen.found)) this.#enqueue(seen);
  }

  /** Returns the state that the response to a create shows, to be recorded with its outcome, and not again. */
  observedByCreate(found: Snapshot): ObservedState {
    this.#remember(found);
    return this.#observedState(found);
  }

  /** Returns the state of a followed transaction that was seen last; forgets it if the journal may have a newer one. */
  checkKnown({ kind, transactionId, status, changedAt }: FollowedTransaction): KnownTransaction | undefined {
    const known = this.#known[kind].peek(transactionId);
    const isCurrent = known?.status === status && changedAt <= (known.confirmedAt ?? -Infinity);
    if (isCurrent) return known;
    this.#known[kind].delete(transactionId);
    this.options.check.forget(transactionId);
    return undefined;
  }

  /** Returns the state that this instance has seen last; undefined if it has seen none. */
  lastKnown(kind: AttemptKind, transactionId: string): KnownTransaction | undefined {
    return this.#known[kind].peek(transactionId);
  }

  /** Confirms the state that a create's outcome recorded. */
  onCreateRecorded({ kind, transactionId }: Snapshot): void {
    const known = this.#known[kind].peek(transactionId);
    if (known) known.confirmedAt ??= this.options.clock.now();
  }

  #seen(found: Snapshot, requestedAt: number): SeenTransaction {
    const observedAt = this.options.clock.now();
    const sinceRequest = Math.max(0, this.options.runtime.monotonic() - requestedAt);
    return { found, requestedAt: Math.floor(observedAt - sinceRequest), observedAt };
  }

  #enqueue({ found, requestedAt, observedAt }: SeenTransaction): void {
    const { clock, service, queue, check } = this.options;
    const { kind, channel, transactionId } = found;
    const observation: Observation = {
      ...this.#observedState(found),
      service,
      kind,
      channel,
      transactionId,
      requestedAt,
      observedAt,
    };
    const entry = this.#remember(found);
    queue.add(observation, (result) => {
      const isLatest = this.#known[kind].peek(transactionId) === entry;
      if (!isLatest) return;
      if (result === 'recorded' || result === 'unchanged') entry.confirmedAt = clock.now();
      // The next response is passed to the journal again.
      else this.#known[kind].delete(transactionId);
      if (result === 'not_followed') check.addNotFollowed(transactionId);
    });
  }

  #remember(found: Snapshot): KnownTransaction {
    const entry: KnownTransaction = {
      status: found.status,
      state: stateOf(found),
      category: pollPhase(found),
      seenAt: this.options.clock.monotonic(),
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
      nextLookupAt: this.options.schedules.afterChange(category),
    };
  }
}

/** Returns the state of a payment without a lookup; null if the response has none. */
const stateOf = (found: Snapshot): string | null =>
  found.kind === 'payout' ? null : ((peek(found, 'state') as string | null | undefined) ?? null);

const receivedBy = (found: Snapshot): string | null => {
  if (found.status !== 'MISPAID') return null;
  const { received = null } = (peek(found, 'amount') ?? {}) as { received?: string | null };
  return received;
};

/** Whether a response lacks the state that the service may have: only a lookup would show it. */
const isStateMissing = (found: Snapshot): boolean =>
  found.kind === 'payment' &&
  found.complete !== undefined &&
  Object.getOwnPropertyDescriptor(found, 'state')?.get !== undefined;

const isSameState = (known: KnownTransaction, found: Snapshot): boolean =>
  known.status === found.status &&
  (found.kind === 'payout' || known.state === stateOf(found) || isStateMissing(found));
