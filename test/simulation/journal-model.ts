import {
  MAX_LEASE_MS,
  NO_ABSENCE_EVIDENCE,
  type Attempt,
  type AttemptKey,
  type TransactionKind,
  type InsertResult,
  type AttemptClaim,
  type ConfirmBeginResult,
  type ConfirmClaim,
  type EndedConfirm,
  type ConfirmedInput,
  type PaymentRef,
  type NewAttempt,
  type OutcomeDetails,
  type PurgeStepResult,
  type PurgeStep,
  type AttemptFields,
} from '../../src/datasources/journal/journal';
import { AttemptMissing, type FenceReason, type FenceState } from '../../src/datasources/journal/fence';

interface Commit {
  at: number;
  undo: (() => void)[];
}

type Confirm = Pick<ConfirmClaim, 'confirmId' | 'owner' | 'leaseUntil' | 'inputHash'> & {
  suspectHashes: string[];
};

/** The part of a new attempt that its sender does not choose. */
export const BEGUN = {
  outcome: 'in_progress',
  transactionId: null,
  wireStatus: null,
  settledAt: null,
  nextRecheckAt: null,
  recheckCount: 0,
  absence: NO_ABSENCE_EVIDENCE,
} as const;

const OBSERVER_EXCLUSIVE_CLAIM_MS = 5000;

const text = (...parts: string[]): string => parts.join('\u0001');
const keyOf = ({ service, client, key }: AttemptKey): string => text(service, client, key);
const paymentKey = ({ service, channel, transactionId }: PaymentRef): string =>
  text(service, channel, transactionId);
export const isOpen = ({ outcome }: Attempt): boolean => outcome === 'in_progress' || outcome === 'unknown';
const holdsExternalId = (attempt: Attempt): boolean => isOpen(attempt) || attempt.outcome === 'succeeded';
export const isReleased = (attempt: Attempt): boolean => !holdsExternalId(attempt);

const hasEnded = (leaseUntil: number, now: number): boolean =>
  leaseUntil < now || leaseUntil > now + MAX_LEASE_MS;

const isClaimable = (attempt: Attempt, now: number): boolean =>
  isOpen(attempt) && hasEnded(attempt.leaseUntil, now);

/**
 * Model of the journal's database: what each statement does, which commits are durable, and what a crash or a failover
 * undoes. journal-model.system.test.ts compares it with SQLite and PostgreSQL.
 */
export class JournalModel {
  readonly #attempts = new Map<string, Attempt>();
  readonly #keyById = new Map<string, string>();
  readonly #reservations = new Map<string, string>();
  readonly #confirms = new Map<string, Confirm>();
  readonly #confirmed = new Map<string, ConfirmedInput>();
  /** `identity`: that of the database to which the journal was last written. */
  #state = { fence: null as FenceState['fence'], identity: 0, seq: 0 };
  /** Identity of the present database. */
  #identity = 0;
  #commits: Commit[] = [];
  #durable = 0;
  #current: Commit | undefined;
  /** Called with a changed attempt; null: the key had no attempt, or its attempt was deleted. */
  onTransition: (before: Attempt | null, after: Attempt | null) => void = () => undefined;

  /** @param now the clock of the database in ms since 1970 */
  constructor(private readonly now: () => number) {}

  get attempts(): Attempt[] {
    return [...this.#attempts.values()];
  }

  commit<T>(at: number, isDurable: boolean, write: () => T): T {
    this.#current = { at, undo: [] };
    try {
      return write();
    } finally {
      if (this.#current.undo.length > 0) this.#commits.push(this.#current);
      if (isDurable) this.#durable = this.#commits.length;
      this.#current = undefined;
    }
  }

  /** Syncs what was committed before this time, as the background writer of a database does. */
  syncUntil(at: number): void {
    while (this.#durable < this.#commits.length && (this.#commits[this.#durable]?.at ?? 0) < at)
      this.#durable += 1;
  }

  crash(): number {
    return this.#undoFrom(this.#durable);
  }

  /** Undoes every commit after this time, and changes the database identity. Returns the number of lost commits. */
  failOver(since: number): number {
    let first = this.#commits.length;
    while (first > 0 && (this.#commits[first - 1]?.at ?? 0) > since) first -= 1;
    const lost = this.#undoFrom(first);
    this.#identity += 1;
    return lost;
  }

  #undoFrom(first: number): number {
    const undone = this.#commits.splice(first);
    for (const { undo } of undone.reverse()) for (const step of undo.reverse()) step();
    this.#durable = Math.min(this.#durable, first);
    return undone.length;
  }

  #set<V>(map: Map<string, V>, key: string, value: V | undefined): void {
    const before = map.get(key);
    const put = (next: V | undefined): void => {
      if (next === undefined) map.delete(key);
      else map.set(key, next);
    };
    this.#current?.undo.push(() => put(before));
    put(value);
  }

  #setState(change: object): void {
    const before = this.#state;
    this.#current?.undo.push(() => (this.#state = before));
    this.#state = { ...before, ...change };
  }

  #put(attempt: AttemptKey, after: Attempt | undefined): void {
    const key = keyOf(attempt);
    const before = this.#attempts.get(key);
    this.#set(this.#attempts, key, after);
    if (after) this.#keyById.set(after.id, key);
    this.onTransition(before ?? null, after ?? null);
  }

  insertAttempt(attempt: NewAttempt): InsertResult {
    if (this.#state.identity !== this.#identity) this.readFenceState();
    const { reservesExternalId, fenceSince, ...sent } = attempt;
    const isFenceChanged = fenceSince !== (this.#state.fence?.since ?? 0);
    if (isFenceChanged) return this.#holderOf(attempt) ?? { kind: 'fence_changed' };
    const externalId = text(attempt.service, attempt.channel, attempt.externalId);
    const reserver = this.#byId(this.#reservations.get(externalId) ?? '');
    if (reservesExternalId && !(reserver && holdsExternalId(reserver)))
      this.#set(this.#reservations, externalId, attempt.id);
    const before = this.find(attempt);
    const isFree = !reservesExternalId || this.#reservations.get(externalId) === attempt.id;
    if (isFree && (!before || (isReleased(before) && before.id !== attempt.id))) {
      const seq = this.#state.seq + 1;
      this.#setState({ seq });
      this.#put(sent, { ...sent, ...BEGUN, seq });
      return { kind: 'started' };
    }
    return this.#holderOf(attempt) ?? { kind: 'reserved' };
  }

  /** The result for an attempt that was not written; undefined if nothing holds its key. */
  #holderOf(attempt: NewAttempt): InsertResult | undefined {
    const holder = this.find(attempt);
    if (holder?.id === attempt.id) return { kind: 'started' };
    return holder && !isReleased(holder) ? { kind: 'exists', attempt: holder } : undefined;
  }

  recordOutcome(id: string, outcome: OutcomeDetails): boolean {
    const attempt = this.#byId(id);
    if (!attempt) {
      if (outcome.outcome === 'succeeded' || outcome.outcome === 'unknown') throw new AttemptMissing();
      return true;
    }
    if (outcome.outcome === 'unknown') {
      const { nextRecheckAt, absence = attempt.absence } = outcome;
      const recheckCount = attempt.recheckCount + 1;
      const unknown = { outcome: outcome.outcome, leaseUntil: 0, nextRecheckAt, absence, recheckCount };
      if (isOpen(attempt)) this.#put(attempt, { ...attempt, ...unknown });
      return true;
    }
    const { service, kind } = attempt;
    const { transactionId, wireStatus } =
      outcome.outcome === 'succeeded' ? outcome : { transactionId: null, wireStatus: null };
    if (transactionId !== null && this.findByTransaction(service, kind, transactionId, id)) return false;
    if (isOpen(attempt)) {
      const settled = { ...outcome, transactionId, wireStatus, absence: NO_ABSENCE_EVIDENCE };
      const ended = { owner: '', leaseUntil: 0, sendUntil: 0, serviceStartedAt: null, nextRecheckAt: null };
      this.#put(attempt, { ...attempt, ...settled, ...ended });
    }
    return true;
  }

  #byId(id: string): Attempt | undefined {
    const attempt = this.#attempts.get(this.#keyById.get(id) ?? '');
    return attempt?.id === id ? attempt : undefined;
  }

  find(attempt: AttemptKey): Attempt | null {
    return this.#attempts.get(keyOf(attempt)) ?? null;
  }

  findById(service: string, id: string): Attempt | null {
    const attempt = this.#byId(id);
    return attempt?.service === service ? attempt : null;
  }

  findByTransaction(service: string, kind: TransactionKind, id: string, except?: string): Attempt | null {
    const found = this.attempts.filter((attempt) => attempt.transactionId === id && attempt.id !== except);
    return found.find((attempt) => attempt.service === service && attempt.kind === kind) ?? null;
  }

  hasRival(attempt: AttemptFields): boolean {
    const amount = attempt.kind === 'payment' ? (['currency', 'value'] as const) : [];
    const names = ['externalId', 'service', 'channel', 'kind', 'method', ...amount] as const;
    const rivals = this.attempts.filter((other) => names.every((name) => other[name] === attempt[name]));
    return rivals.some((other) => other.id !== attempt.id && isOpen(other));
  }

  findSucceededOnChannel({ service, channel, client, kind }: AttemptFields): string | null {
    const found = this.attempts
      .filter((other) => other.outcome === 'succeeded' && other.service === service)
      .filter((other) => other.channel === channel && other.kind === kind);
    const own = found.filter((other) => other.client === client).sort(newestFirst);
    return (own[0] ?? found[0])?.transactionId ?? null;
  }

  renew(owner: string, leaseUntil: number, ids: readonly string[]): void {
    for (const [key, attempt] of this.#attempts)
      if (attempt.owner === owner && attempt.outcome === 'in_progress' && ids.includes(attempt.id))
        this.#set(this.#attempts, key, { ...attempt, leaseUntil });
    for (const [key, confirm] of this.#confirms)
      if (confirm.owner === owner && confirm.leaseUntil > 0 && ids.includes(confirm.confirmId))
        this.#set(this.#confirms, key, { ...confirm, leaseUntil });
  }

  claim(id: string, { owner, now, leaseUntil }: AttemptClaim): Attempt | null {
    const attempt = this.#byId(id);
    if (!attempt || !isClaimable(attempt, now)) return null;
    const claimed: Attempt = { ...attempt, outcome: 'unknown', owner, leaseUntil };
    this.#put(attempt, claimed);
    return claimed;
  }

  claimDue(claim: AttemptClaim, limit: number): Attempt[] {
    const { service, owner, now } = claim;
    const isDue = ({ nextRecheckAt, absence: { observerId } }: Attempt): boolean =>
      nextRecheckAt === null ||
      nextRecheckAt <= now - (observerId === '' || observerId === owner ? 0 : OBSERVER_EXCLUSIVE_CLAIM_MS);
    return this.attempts
      .filter((each) => each.service === service && isClaimable(each, now) && isDue(each))
      .sort((a, b) => (a.nextRecheckAt ?? -Infinity) - (b.nextRecheckAt ?? -Infinity) || a.seq - b.seq)
      .slice(0, limit)
      .flatMap(({ id }) => this.claim(id, claim) ?? []);
  }

  beginConfirm(claim: ConfirmClaim): ConfirmBeginResult | null {
    const { confirmId, owner, leaseUntil, inputHash, now } = claim;
    const key = paymentKey(claim);
    const before = this.#confirms.get(key);
    if (before && !hasEnded(before.leaseUntil, now)) return null;
    const isNew = before !== undefined && !before.suspectHashes.join(' ').includes(before.inputHash);
    const suspectHashes = [...(before?.suspectHashes ?? []), ...(isNew ? [before.inputHash] : [])];
    this.#set(this.#confirms, key, { confirmId, owner, leaseUntil, inputHash, suspectHashes });
    return { isEarlierOutcomeUnknown: before !== undefined, unresolvedInputHashes: suspectHashes };
  }

  endConfirm(id: string, { outcome, confirmedInputs: confirmed }: EndedConfirm): void {
    for (const input of confirmed) {
      const key = text(paymentKey(input), input.inputHash);
      if (!this.#confirmed.has(key)) this.#set(this.#confirmed, key, input);
    }
    for (const [key, confirm] of this.#confirms) {
      if (confirm.confirmId !== id) continue;
      const inputHash = outcome === 'not_carried_out' ? '' : confirm.inputHash;
      const ended = outcome === 'known' ? undefined : { ...confirm, leaseUntil: 0, inputHash };
      this.#set(this.#confirms, key, ended);
    }
  }

  confirmedInputs(payment: PaymentRef): ConfirmedInput[] {
    const wanted = paymentKey(payment);
    return [...this.#confirmed.values()].filter((input) => paymentKey(input) === wanted);
  }

  purgeStep({ target, expiredBefore, maxExaminedCount, after }: PurgeStep): PurgeStepResult {
    const from = Number(after ?? 0);
    if (target === 'reservations') {
      const left = [...this.#reservations].filter(([, id]) => !this.#byId(id));
      for (const [key] of left) this.#set(this.#reservations, key, undefined);
      return { deletedCount: left.length, endPosition: null };
    }
    if (target === 'confirmed') {
      const expired = [...this.#confirmed]
        .filter(([, { confirmedAt }]) => confirmedAt >= from && confirmedAt < expiredBefore)
        .sort(([, a], [, b]) => a.confirmedAt - b.confirmedAt)
        .slice(0, maxExaminedCount);
      for (const [key] of expired) this.#set(this.#confirmed, key, undefined);
      const times = expired.map(([, { confirmedAt }]) => confirmedAt);
      return progress(times, maxExaminedCount);
    }
    const expired = this.attempts
      .filter(({ settledAt }) => settledAt !== null && settledAt >= from && settledAt < expiredBefore)
      .sort((a, b) => (a.settledAt ?? 0) - (b.settledAt ?? 0) || a.seq - b.seq)
      .slice(0, maxExaminedCount);
    for (const attempt of expired) {
      const reserved = text(attempt.service, attempt.channel, attempt.externalId);
      if (this.#reservations.get(reserved) === attempt.id) this.#set(this.#reservations, reserved, undefined);
      this.#put(attempt, undefined);
    }
    const times = expired.map(({ settledAt }) => settledAt ?? 0);
    return progress(times, maxExaminedCount);
  }

  readFenceState(): FenceState {
    if (this.#state.identity !== this.#identity) {
      const fence = { since: Math.floor(this.now()), reason: 'failover' as const };
      this.#setState({ identity: this.#identity, fence });
    }
    return { fence: this.#state.fence, lastAttemptSeq: this.#state.seq };
  }

  setFence(reason: FenceReason | null): void {
    this.#setState({ fence: reason === null ? null : { since: Math.floor(this.now()), reason } });
  }
}

const newestFirst = (a: Attempt, b: Attempt): number => b.startedAt - a.startedAt || b.seq - a.seq;

const progress = (times: readonly number[], limit: number): PurgeStepResult => ({
  deletedCount: times.length,
  endPosition: times.length < limit ? null : String(times.at(-1)),
});
