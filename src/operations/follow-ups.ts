import { LRUCache } from 'lru-cache';
import { NO_ABSENCE, type Absence, type Attempt, type Settlement } from '../datasources/journal/journal';
import { UnderWay } from '../under-way';
import type { ClockGuard } from './clock-guard';
import { within } from './deadline';
import type { Finder, Hit, Transaction } from './finder';
import type { JournalHand } from './journal-hand';
import type { OperationsListener } from './operations-listener';

/** What following an attempt up came to. */
export type FollowedUp<T> =
  | { kind: 'found'; found: T }
  /** It is certain now that nothing was created; the key is free. */
  | { kind: 'not_sent' }
  /** Not found, which proves nothing yet. */
  | { kind: 'missing' };

interface FollowUpOptions {
  hand: JournalHand;
  clocks: ClockGuard;
  timeoutMs: number;
  /** How long after the last possible moment of sending a payment may still turn up, in milliseconds. */
  settleMs: number;
  /** Hears what each look came to. */
  heard: Pick<OperationsListener, 'followedUp' | 'recovered'>;
}

type Succeeded = Extract<Settlement, { outcome: 'succeeded' }>;
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
export class FollowUps {
  readonly #options: FollowUpOptions;
  /** Follow-ups of this instance under way, by attempt. */
  readonly #underWay = new Map<string, Promise<FollowedUp<Transaction>>>();
  /** When this instance last made a lookup that counts, by attempt and the monotonic clock. */
  readonly #countedAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  readonly #reports = new UnderWay();

  constructor(options: FollowUpOptions) {
    this.#options = options;
  }

  /** Takes an attempt and looks for it; null when another instance is at it right now. Callers of this instance share one look. */
  async tryNow<T extends Transaction>(attempt: Attempt, finder: Finder<T>): Promise<FollowedUp<T> | null> {
    const shared = this.#underWay.get(attempt.id);
    // The finder of an attempt follows from its kind, so what is shared is of this type.
    if (shared) return shared as Promise<FollowedUp<T>>;
    const { hand } = this.#options;
    const claimed = await hand.required(hand.journal.claim(attempt.id, this.claim()));
    return claimed && this.follow(claimed, finder);
  }

  /** A claim that outlives one look, and the lookup that makes sure of it. */
  claim() {
    return this.#options.hand.claim(this.#options.timeoutMs * 2 + 2000);
  }

  /** Looks for an attempt that this instance has claimed, and records what it found. */
  follow<T extends Transaction>(claimed: Attempt, finder: Finder<T>): Promise<FollowedUp<T>> {
    const look = this.#look(claimed, finder).finally(() => this.#underWay.delete(claimed.id));
    void look.then(
      ({ kind }) => this.#options.heard.followedUp(claimed.kind, kind),
      () => undefined,
    );
    this.#underWay.set(claimed.id, look);
    return look;
  }

  async #look<T extends Transaction>(attempt: Attempt, finder: Finder<T>): Promise<FollowedUp<T>> {
    const { hand, timeoutMs, settleMs } = this.#options;
    const startedAt = hand.clock.monotonic();
    const mayCount = hand.clock.now() > attempt.sendUntil;
    const hit = await within(timeoutMs, finder.find(attempt)).catch(() => undefined);
    if (hit?.kind === 'found' && (await this.#recover(attempt, this.#succeeded(hit.found))))
      return this.#ended(attempt, hit);
    const absence =
      hit && mayCount ? await this.#absenceAfter(hit, { attempt, finder, startedAt }) : attempt.absence;
    const isProven = absence.lookups >= MIN_LOOKUPS && absence.spanMs >= settleMs;
    if (attempt.kind === 'payment' && hit?.kind === 'nothing' && absence !== attempt.absence && isProven) {
      await this.#recover(attempt, { outcome: 'not_sent', settledAt: hand.clock.now() });
      return this.#ended(attempt, { kind: 'not_sent' });
    }
    await this.leaveUnknown(attempt, absence);
    return { kind: 'missing' };
  }

  /** Evidence after a lookup with this result. Returns the same object when the lookup does not count. */
  async #absenceAfter<T extends Transaction>(
    hit: Hit<T>,
    { attempt, finder, startedAt }: { attempt: Attempt; finder: Finder<T>; startedAt: number },
  ): Promise<Absence> {
    const { hand, clocks, timeoutMs, settleMs } = this.#options;
    const { absence } = attempt;
    // Something else under the external id may hide the payment that is looked for.
    if (hit.kind !== 'nothing') return NO_ABSENCE;
    if (!hit.isOwn || !clocks.isSteady() || this.#isObservedElsewhere(attempt)) return absence;
    const showsKnown = await within(timeoutMs, finder.showsKnown(attempt)).catch(() => false);
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
  #isObservedElsewhere({ absence, nextCheckAt }: Attempt): boolean {
    const { hand } = this.#options;
    const isElsewhere = absence.observer !== '' && absence.observer !== hand.owner;
    const dueIn = (nextCheckAt ?? 0) - hand.clock.now();
    return isElsewhere && dueIn > -OBSERVER_GRACE_MS && dueIn <= MAX_CHECK_MS * 2;
  }

  #ended<R>({ id }: Attempt, result: R): R {
    this.#countedAt.delete(id);
    return result;
  }

  /** Records that an attempt created this. False where another attempt has created it: then this one has not. */
  record(attempt: { id: string }, found: Transaction): Promise<boolean> {
    return this.#options.hand.settle(attempt.id, this.#succeeded(found));
  }

  /** Resolves when no recovered outcome is still to be reported. */
  idle(): Promise<void> {
    return this.#reports.idle();
  }

  #succeeded({ transactionId, rawStatus }: Transaction): Succeeded {
    return {
      outcome: 'succeeded',
      transactionId,
      status: rawStatus,
      settledAt: this.#options.hand.clock.now(),
    };
  }

  /** Records what recovery found, and reports it when it is in the journal. */
  #recover(attempt: Attempt, settlement: Recovered): Promise<boolean> {
    const report = (): void => void this.#reports.follow(this.#report(attempt, settlement));
    return this.#options.hand.settle(attempt.id, settlement, report);
  }

  /** Reports an outcome, unless another instance or an operator has settled the attempt first. Never rejects. */
  async #report(attempt: Attempt, settlement: Recovered): Promise<void> {
    const { hand, heard } = this.#options;
    const { outcome, settledAt } = settlement;
    // Where this cannot be read, or the key is in use again, a second report is better than none.
    const now = await hand.journal.findById(hand.service, attempt.id).catch(() => null);
    if (now && (now.outcome !== outcome || now.settledAt !== settledAt)) return;
    const transactionId = 'transactionId' in settlement ? settlement.transactionId : null;
    heard.recovered({ attempt, outcome, transactionId, instance: hand.owner });
  }

  /** Records that it is not known, to be looked for again later. */
  async leaveUnknown(attempt: Attempt, absence?: Absence): Promise<void> {
    const { hand } = this.#options;
    const isElsewhere = this.#isObservedElsewhere(attempt);
    // The observer looks when it meant to, however often callers ask others meanwhile.
    const nextCheckAt = isElsewhere
      ? (attempt.nextCheckAt ?? 0)
      : Math.round(hand.clock.now() + this.#checkDelay(attempt.checks));
    await hand.settle(attempt.id, { outcome: 'unknown', nextCheckAt, ...(absence && { absence }) });
  }

  /** Exponential backoff with jitter. Short settling times are looked at more often: each lookup proves its share only. */
  #checkDelay(checks: number): number {
    const most = Math.min(MAX_CHECK_MS, Math.max(FIRST_CHECK_MS, this.#options.settleMs / (2 * MIN_LOOKUPS)));
    return Math.min(most, FIRST_CHECK_MS * 2 ** Math.min(checks, 10)) * (0.75 + Math.random() / 2);
  }
}
