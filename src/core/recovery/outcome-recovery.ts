import { LRUCache } from 'lru-cache';
import { NO_ABSENCE, type Absence, type Attempt, type Outcome } from '../../datasources/journal/journal';
import { InFlightCounter } from '../../shared/in-flight-counter';
import type { ClockGuard } from '../clock-guard';
import { withTimeout } from '../../shared/timeout';
import type { TransactionMatcher, LookupMatch, Transaction } from './transaction-matcher';
import type { JournalSession } from '../journal-session';
import type { BackgroundObserver, RecoveryKind } from '../background-metrics';

/** Result of one attempt to recover an unknown outcome. */
export type RecoveryResult<T> =
  { kind: Extract<RecoveryKind, 'found'>; found: T } | { kind: Exclude<RecoveryKind, 'found'> };

interface OutcomeRecoveryOptions {
  session: JournalSession;
  clocks: ClockGuard;
  timeoutMs: number;
  /** How long after the last possible moment of sending a payment may still turn up, in milliseconds. */
  settleMs: number;
  /** Hears what each look came to. */
  observer: Pick<BackgroundObserver, 'onRecovery' | 'onOutcomeRecovered'>;
}

type Succeeded = Extract<Outcome, { outcome: 'succeeded' }>;
type Recovered = Succeeded | { outcome: 'not_sent'; settledAt: number };

const FIRST_CHECK_MS = 500;
const MAX_CHECK_MS = 60_000;
/** As in the journal's claims: after it another instance takes over. */
const OBSERVER_GRACE_MS = 5000;

/** At least so many lookups, spread over the settling time, have to find nothing before a key is released. */
const MIN_LOOKUPS = 4;

/** A lookup that is forgotten proves nothing; the next one counts from there. */
const MAX_REMEMBERED = 10_000;

/** Finds out what became of attempts whose outcome is not known. */
export class OutcomeRecovery {
  readonly #options: OutcomeRecoveryOptions;
  /** Follow-ups of this instance under way, by attempt. */
  readonly #underWay = new Map<string, Promise<RecoveryResult<Transaction>>>();
  /** When this instance last made a lookup that counts, by attempt and the monotonic clock. */
  readonly #countedAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  readonly #reports = new InFlightCounter();

  constructor(options: OutcomeRecoveryOptions) {
    this.#options = options;
  }

  /** Takes an attempt and looks for it; null when another instance is at it right now. Callers of this instance share one look. */
  async recoverNow<T extends Transaction>(
    attempt: Attempt,
    finder: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T> | null> {
    const shared = this.#underWay.get(attempt.id);
    // The finder of an attempt follows from its kind, so what is shared is of this type.
    if (shared) return shared as Promise<RecoveryResult<T>>;
    const { session: hand } = this.#options;
    const claimed = await hand.failClosed(hand.journal.claim(attempt.id, this.claim()));
    return claimed && this.recover(claimed, finder);
  }

  /** A claim that outlives one look, and the lookup that makes sure of it. */
  claim() {
    return this.#options.session.claim(this.#options.timeoutMs * 2 + 2000);
  }

  /** Looks for an attempt that this instance has claimed, and records what it found. */
  recover<T extends Transaction>(
    claimed: Attempt,
    finder: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T>> {
    const look = this.#lookUp(claimed, finder).finally(() => this.#underWay.delete(claimed.id));
    void look.then(
      ({ kind }) => this.#options.observer.onRecovery(claimed.kind, kind),
      () => undefined,
    );
    this.#underWay.set(claimed.id, look);
    return look;
  }

  async #lookUp<T extends Transaction>(
    attempt: Attempt,
    finder: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T>> {
    const { session: hand, timeoutMs, settleMs } = this.#options;
    const startedAt = hand.clock.monotonic();
    const mayCount = hand.clock.now() > attempt.sendUntil;
    const hit = await withTimeout(timeoutMs, finder.find(attempt)).catch(() => undefined);
    if (hit?.kind === 'found' && (await this.#recordRecovered(attempt, this.#succeeded(hit.found))))
      return this.#ended(attempt, hit);
    const absence =
      hit && mayCount ? await this.#absenceAfter(hit, { attempt, finder, startedAt }) : attempt.absence;
    const isProven = absence.lookups >= MIN_LOOKUPS && absence.spanMs >= settleMs;
    if (attempt.kind === 'payment' && hit?.kind === 'nothing' && absence !== attempt.absence && isProven) {
      await this.#recordRecovered(attempt, { outcome: 'not_sent', settledAt: hand.clock.now() });
      return this.#ended(attempt, { kind: 'not_sent' });
    }
    await this.scheduleRecheck(attempt, absence);
    return { kind: 'missing' };
  }

  /** Evidence after a lookup with this result. Returns the same object when the lookup does not count. */
  async #absenceAfter<T extends Transaction>(
    hit: LookupMatch<T>,
    { attempt, finder, startedAt }: { attempt: Attempt; finder: TransactionMatcher<T>; startedAt: number },
  ): Promise<Absence> {
    const { session: hand, clocks, timeoutMs, settleMs } = this.#options;
    const { absence } = attempt;
    // Something else under the external id may hide the payment that is looked for.
    if (hit.kind !== 'nothing') return NO_ABSENCE;
    if (!hit.isOwn || !clocks.isSteady() || this.#isObservedElsewhere(attempt)) return absence;
    const showsKnown = await withTimeout(timeoutMs, finder.showsKnown(attempt)).catch(() => false);
    if (!showsKnown) return absence;
    // Only the instance that made the last lookup knows how long ago it was, whatever the clocks of the others say.
    const last = absence.observer === hand.owner ? this.#countedAt.get(attempt.id) : undefined;
    const elapsed = last === undefined ? 0 : startedAt - last;
    this.#countedAt.set(attempt.id, startedAt);
    return {
      lookups: absence.lookups + 1,
      // However long nobody looked, one lookup proves no more than its share of the settling time.
      spanMs: Math.round(absence.spanMs + Math.min(elapsed, settleMs / (MIN_LOOKUPS - 1))),
      observer: hand.owner,
    };
  }

  /** Whether another instance measures how long nothing was found, and has not missed its time to look. */
  #isObservedElsewhere({ absence, nextRecheckAt: nextRecheckAt }: Attempt): boolean {
    const { session: hand } = this.#options;
    const isElsewhere = absence.observer !== '' && absence.observer !== hand.owner;
    const dueIn = (nextRecheckAt ?? 0) - hand.clock.now();
    return isElsewhere && dueIn > -OBSERVER_GRACE_MS && dueIn <= MAX_CHECK_MS * 2;
  }

  #ended<R>({ id }: Attempt, result: R): R {
    this.#countedAt.delete(id);
    return result;
  }

  /** Records that an attempt created this. False where another attempt has created it: then this one has not. */
  record(attempt: { id: string }, found: Transaction): Promise<boolean> {
    return this.#options.session.recordOutcome(attempt.id, this.#succeeded(found));
  }

  /** Resolves when no recovered outcome is still to be reported. */
  drained(): Promise<void> {
    return this.#reports.drained();
  }

  #succeeded({ transactionId, rawStatus }: Transaction): Succeeded {
    return {
      outcome: 'succeeded',
      transactionId,
      status: rawStatus,
      settledAt: this.#options.session.clock.now(),
    };
  }

  /** Records what recovery found, and reports it when it is in the journal. */
  #recordRecovered(attempt: Attempt, settlement: Recovered): Promise<boolean> {
    const report = (): void => void this.#reports.track(this.#report(attempt, settlement));
    return this.#options.session.recordOutcome(attempt.id, settlement, report);
  }

  /** Reports an outcome, unless another instance or an operator has settled the attempt first. Never rejects. */
  async #report(attempt: Attempt, settlement: Recovered): Promise<void> {
    const { session: hand, observer: heard } = this.#options;
    const { outcome, settledAt } = settlement;
    // Where this cannot be read, or the key is in use again, a second report is better than none.
    const now = await hand.journal.findById(hand.service, attempt.id).catch(() => null);
    if (now && (now.outcome !== outcome || now.settledAt !== settledAt)) return;
    const transactionId = 'transactionId' in settlement ? settlement.transactionId : null;
    heard.onOutcomeRecovered({ attempt, outcome, transactionId, instance: hand.owner });
  }

  /** Records that it is not known, to be looked for again later. */
  async scheduleRecheck(attempt: Attempt, absence?: Absence): Promise<void> {
    const { session: hand } = this.#options;
    const isElsewhere = this.#isObservedElsewhere(attempt);
    // The observer looks when it meant to, however often callers ask others meanwhile.
    const nextRecheckAt = isElsewhere
      ? (attempt.nextRecheckAt ?? 0)
      : Math.round(hand.clock.now() + this.#checkDelay(attempt.recheckCount));
    await hand.recordOutcome(attempt.id, { outcome: 'unknown', nextRecheckAt, ...(absence && { absence }) });
  }

  /** Exponential backoff with jitter. Short settling times are looked at more often: each lookup proves its share only. */
  #checkDelay(checks: number): number {
    const most = Math.min(MAX_CHECK_MS, Math.max(FIRST_CHECK_MS, this.#options.settleMs / (2 * MIN_LOOKUPS)));
    return Math.min(most, FIRST_CHECK_MS * 2 ** Math.min(checks, 10)) * (0.75 + Math.random() / 2);
  }
}
