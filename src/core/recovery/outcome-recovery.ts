import { LRUCache } from 'lru-cache';
import { NO_ABSENCE, type Absence, type Attempt, type Outcome } from '../../datasources/journal/journal';
import { InFlightCounter } from '../../shared/in-flight-counter';
import type { ClockGuard } from '../clock-guard';
import { withTimeout } from '../../shared/timeout';
import type { TransactionMatcher, LookupMatch, Transaction } from './transaction-matcher';
import type { JournalSession } from '../journal-session';
import type { BackgroundObserver, RecoveryKind } from '../background';

export type RecoveryResult<T> =
  { kind: Extract<RecoveryKind, 'found'>; found: T } | { kind: Exclude<RecoveryKind, 'found'> };

interface OutcomeRecoveryOptions {
  session: JournalSession;
  clockGuard: ClockGuard;
  timeoutMs: number;
  /** How long after `sendUntil` a payment may still appear at the service, in milliseconds. */
  settleMs: number;
  observer: Pick<BackgroundObserver, 'onRecovery' | 'onOutcomeRecovered'>;
}

type Succeeded = Extract<Outcome, { outcome: 'succeeded' }>;
type Recovered = Succeeded | { outcome: 'not_sent'; settledAt: number };

const FIRST_RECHECK_MS = 500;
const MAX_RECHECK_MS = 60_000;
/** After this delay another instance takes over; the same as for claims in the journal. */
const OBSERVER_GRACE_MS = 5000;

/** The minimum number of lookups without a match, spread over the settling time, before a key is released. */
const MIN_LOOKUPS = 4;

/** Evicted entries only delay the release of a key. */
const MAX_REMEMBERED = 10_000;

/** Recovers unknown outcomes by lookup. See docs/exactly-once.md. */
export class OutcomeRecovery {
  /** Recoveries of this instance, by attempt id: concurrent callers share one. */
  readonly #inFlight = new Map<string, Promise<RecoveryResult<Transaction>>>();
  /** When this instance last made a lookup that counts, by attempt id and the monotonic clock. */
  readonly #countedAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  readonly #reports = new InFlightCounter();

  constructor(private readonly options: OutcomeRecoveryOptions) {}

  /** Claims and recovers an attempt; null when another instance has claimed it. */
  async recoverNow<T extends Transaction>(
    attempt: Attempt,
    matcher: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T> | null> {
    const shared = this.#inFlight.get(attempt.id);
    // The kind of an attempt determines its matcher, and so the type of the shared result.
    if (shared) return shared as Promise<RecoveryResult<T>>;
    const { session } = this.options;
    const claimed = await session.failClosed(session.journal.claim(attempt.id, this.claim()));
    return claimed && this.recover(claimed, matcher);
  }

  /** A claim that outlives the two lookups of one recovery. */
  claim() {
    return this.options.session.claim(this.options.timeoutMs * 2 + 2000);
  }

  /** Recovers an attempt that this instance has claimed, and records the result. */
  recover<T extends Transaction>(
    claimed: Attempt,
    matcher: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T>> {
    const recovering = this.#lookUp(claimed, matcher).finally(() => this.#inFlight.delete(claimed.id));
    void recovering.then(
      ({ kind }) => {
        if (kind !== 'missing') this.#countedAt.delete(claimed.id);
        this.options.observer.onRecovery(claimed.kind, kind);
      },
      () => undefined,
    );
    this.#inFlight.set(claimed.id, recovering);
    return recovering;
  }

  async #lookUp<T extends Transaction>(
    attempt: Attempt,
    matcher: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T>> {
    const { session, timeoutMs, settleMs } = this.options;
    const startedAt = session.clock.monotonic();
    const mayCount = session.clock.now() > attempt.sendUntil;
    const match = await withTimeout(timeoutMs, matcher.find(attempt)).catch(() => undefined);
    if (match?.kind === 'found' && (await this.#recordRecovered(attempt, this.#succeeded(match.found))))
      return match;
    const absence =
      match && mayCount ? await this.#absenceAfter(match, { attempt, matcher, startedAt }) : attempt.absence;
    const isProven = absence.lookups >= MIN_LOOKUPS && absence.spanMs >= settleMs;
    if (attempt.kind === 'payment' && match?.kind === 'nothing' && absence !== attempt.absence && isProven) {
      await this.#recordRecovered(attempt, { outcome: 'not_sent', settledAt: session.clock.now() });
      return { kind: 'not_sent' };
    }
    await this.scheduleRecheck(attempt, absence);
    return { kind: 'missing' };
  }

  /** The evidence of absence after a lookup. Returns the same object when the lookup does not count. */
  async #absenceAfter<T extends Transaction>(
    match: LookupMatch<T>,
    { attempt, matcher, startedAt }: { attempt: Attempt; matcher: TransactionMatcher<T>; startedAt: number },
  ): Promise<Absence> {
    const { session, clockGuard, timeoutMs, settleMs } = this.options;
    const { absence } = attempt;
    // Another transaction under the external id may hide this one.
    if (match.kind !== 'nothing') return NO_ABSENCE;
    if (!match.isOwn || !clockGuard.isSteady() || this.#isObservedElsewhere(attempt)) return absence;
    const showsKnown = await withTimeout(timeoutMs, matcher.showsKnown(attempt)).catch(() => false);
    if (!showsKnown) return absence;
    // Only the instance that made the last lookup can measure the time since, by its monotonic clock.
    const last = absence.observer === session.owner ? this.#countedAt.get(attempt.id) : undefined;
    const elapsed = last === undefined ? 0 : startedAt - last;
    this.#countedAt.set(attempt.id, startedAt);
    return {
      lookups: absence.lookups + 1,
      // After a long pause one lookup still counts for its share of the settling time only.
      spanMs: Math.round(absence.spanMs + Math.min(elapsed, settleMs / (MIN_LOOKUPS - 1))),
      observer: session.owner,
    };
  }

  /** Whether another instance measures the absence and is not overdue with its next lookup. */
  #isObservedElsewhere({ absence, nextRecheckAt }: Attempt): boolean {
    const { session } = this.options;
    const isObserved = absence.observer !== '' && absence.observer !== session.owner;
    const dueIn = (nextRecheckAt ?? 0) - session.clock.now();
    return isObserved && dueIn > -OBSERVER_GRACE_MS && dueIn <= MAX_RECHECK_MS * 2;
  }

  /** Records that an attempt created this transaction; false when another attempt created it. */
  record(attempt: { id: string }, found: Transaction): Promise<boolean> {
    return this.options.session.recordOutcome(attempt.id, this.#succeeded(found));
  }

  /** Resolves when every recovered outcome has been reported. */
  drained(): Promise<void> {
    return this.#reports.drained();
  }

  #succeeded({ transactionId, rawStatus }: Transaction): Succeeded {
    return {
      outcome: 'succeeded',
      transactionId,
      status: rawStatus,
      settledAt: this.options.session.clock.now(),
    };
  }

  /** Records a recovered outcome, and reports it once it is in the journal. */
  #recordRecovered(attempt: Attempt, outcome: Recovered): Promise<boolean> {
    const report = (): void => void this.#reports.track(this.#report(attempt, outcome));
    return this.options.session.recordOutcome(attempt.id, outcome, report);
  }

  /** Reports a recovered outcome, unless another instance or an operator recorded one first. Never rejects. */
  async #report(attempt: Attempt, recovered: Recovered): Promise<void> {
    const { session, observer } = this.options;
    const { outcome, settledAt } = recovered;
    // When this cannot be read, a duplicate report is better than none.
    const current = await session.journal.findById(session.service, attempt.id).catch(() => null);
    if (current && (current.outcome !== outcome || current.settledAt !== settledAt)) return;
    const transactionId = 'transactionId' in recovered ? recovered.transactionId : null;
    observer.onOutcomeRecovered({ attempt, outcome, transactionId, instance: session.owner });
  }

  /** Records an unknown outcome, and when to look it up again. */
  async scheduleRecheck(attempt: Attempt, absence?: Absence): Promise<void> {
    const { session } = this.options;
    const isElsewhere = this.#isObservedElsewhere(attempt);
    // Calls on other instances do not postpone the observer's next lookup.
    const nextRecheckAt = isElsewhere
      ? (attempt.nextRecheckAt ?? 0)
      : Math.round(session.clock.now() + this.#recheckDelay(attempt.recheckCount));
    await session.recordOutcome(attempt.id, {
      outcome: 'unknown',
      nextRecheckAt,
      ...(absence && { absence }),
    });
  }

  /** Exponential backoff with jitter; at most an eighth of the settling time, since each lookup counts for a share of it. */
  #recheckDelay(rechecks: number): number {
    const most = Math.min(
      MAX_RECHECK_MS,
      Math.max(FIRST_RECHECK_MS, this.options.settleMs / (2 * MIN_LOOKUPS)),
    );
    return Math.min(most, FIRST_RECHECK_MS * 2 ** Math.min(rechecks, 10)) * (0.75 + Math.random() / 2);
  }
}
