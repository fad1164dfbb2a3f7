import { randomUUID } from 'node:crypto';
import {
  NO_ABSENCE,
  type Attempt,
  type BeginResult,
  type NewAttempt,
} from '../../datasources/journal/journal';
import type { MutationOutcome } from '../../datasources/payment-service/mapping/responses';
import type { MoneySendOptions, MoneySlot, SendQueue } from '../../datasources/payment-service/client';
import type { FieldError } from '../../schema/user-errors';
import { InFlightCounter } from '../../shared/in-flight-counter';
import { sleep, withTimeout } from '../../shared/timeout';
import { newExternalId } from './external-id';
import { differingParts, type CanonicalInput, type Fingerprints } from './fingerprint';
import type { TransactionMatcher, Transaction } from '../recovery/transaction-matcher';
import type { OutcomeRecovery } from '../recovery/outcome-recovery';
import type { JournalSession } from '../journal-session';

/** A create, checked and ready to be sent. */
export interface CreatePlan<T extends Transaction> {
  client: string;
  key: string;
  /** The method's wire type. */
  method: string;
  input: CanonicalInput;
  /** What the transaction may show of its method. */
  publicDetails: object;
  matcher: TransactionMatcher<T>;
  /** Present where an external id must not have been used before: whether the service has nothing under it. */
  isFree?(externalId: string): Promise<boolean>;
  queue: SendQueue;
  /** Sends it once. Throws ServiceErrors, and only where it is certain that the service did not act. */
  send(
    attempt: Pick<NewAttempt, 'id' | 'externalId'>,
    options: MoneySendOptions,
  ): Promise<MutationOutcome<T>>;
}

/** How a create ended for its caller. */
export type CreateResult<T> =
  | { kind: 'success'; found: T; replayed: boolean }
  | { kind: 'refused'; httpStatus: number; message: string }
  | { kind: 'external_id_taken' }
  /** `differing`: the parts of the input that the journal shows to be others. */
  | { kind: 'conflict'; differing: string[] }
  | { kind: 'in_progress' }
  | { kind: 'unknown'; externalId: string };

interface CreateServiceOptions {
  session: JournalSession;
  recovery: OutcomeRecovery;
  fingerprints: Fingerprints;
  timeoutMs: number;
}

/** How long the caller of a lost answer waits for it to turn up, in milliseconds. */
const SEARCH_MS = 3000;
const SEARCH_STEP_MS = 200;

/** What a busy process may lose after the attempt was written, before the time for sending it begins. */
const SLACK_MS = 550;

const isFreed = ({ outcome }: Attempt): boolean => outcome === 'rejected' || outcome === 'not_sent';

/** Creates at most once per key, whatever fails: the heart of the gateway. See docs/exactly-once.md. */
export class CreateService {
  readonly #options: CreateServiceOptions;
  readonly #inFlight = new InFlightCounter();

  constructor(options: CreateServiceOptions) {
    this.#options = options;
  }

  /** Does what the plan says, or finds out what was done before. Goes on to its end when the caller leaves. */
  create<T extends Transaction>(plan: CreatePlan<T>): Promise<CreateResult<T>> {
    const work = this.#options.session.withLeaseRenewal(async () => {
      // The key may turn out to be free only after its first attempt has been followed up.
      const end = (await this.#attemptCreate(plan, false)) ?? (await this.#attemptCreate(plan, true));
      return end ?? { kind: 'in_progress' as const };
    });
    return this.#inFlight.track(work);
  }

  /**
   * What became of the create that this key belongs to already; null where there is none. Sends no create: for an input that
   * breaks a rule now, although it may have broken none when it was sent first (a card that has expired since).
   * @param faults the rules that are broken
   */
  async replay<T extends Transaction>(
    plan: CreatePlan<T>,
    faults: readonly FieldError[],
  ): Promise<CreateResult<T> | null> {
    const { session: hand } = this.#options;
    // Nothing was recorded under a key that breaks a rule itself.
    if (faults.some(({ path }) => path[0] === 'idempotencyKey')) return null;
    const work = hand.withLeaseRenewal(async () => {
      const before = await this.#find(plan);
      if (!before || isFreed(before)) return null;
      if (!hand.clock.isSynchronized) await hand.clockKnown();
      return (await this.#replay(before, plan)) ?? null;
    });
    return this.#inFlight.track(work);
  }

  /** Resolves when no create is under way. */
  drained(): Promise<void> {
    return this.#inFlight.drained();
  }

  /** Undefined when the key has just become free. */
  async #attemptCreate<T extends Transaction>(
    plan: CreatePlan<T>,
    isLast: boolean,
  ): Promise<CreateResult<T> | undefined> {
    const { session: hand } = this.#options;
    if (!hand.clock.isSynchronized) await hand.clockKnown();
    if (!(await this.#preflight(plan))) return this.#onExternalIdTaken(plan, isLast);
    if (!plan.queue.hasFreeSlot()) {
      // A key that was used needs no slot: its caller does not wait for those who do.
      const before = await this.#find(plan);
      if (before && !isFreed(before)) return this.#replay(before, plan);
    }
    // Take the slot before recording: after a crash a recorded attempt counts as possibly sent.
    const slot = await plan.queue.reserve(plan.input.channel);
    let attempt: NewAttempt;
    let begun: BeginResult;
    let outcome: MutationOutcome<T> | undefined;
    try {
      attempt = this.#newAttempt(plan);
      begun = await hand.insertAttempt(attempt);
      if (begun.kind === 'started') outcome = await this.#send(attempt, plan, slot);
    } finally {
      slot.release();
    }
    if (outcome) return this.#conclude(attempt, plan, outcome);
    return begun.kind === 'exists'
      ? this.#replay(begun.attempt, plan)
      : this.#onExternalIdTaken(plan, isLast);
  }

  /**
   * The external id is taken: perhaps by a call with this very key, which came first. If that has ended meanwhile and
   * freed both, the caller may try once more.
   */
  async #onExternalIdTaken<T extends Transaction>(
    plan: CreatePlan<T>,
    isLast: boolean,
  ): Promise<CreateResult<T> | undefined> {
    const attempt = await this.#find(plan);
    if (attempt && !isFreed(attempt)) return this.#replay(attempt, plan);
    return attempt && !isLast ? undefined : { kind: 'external_id_taken' };
  }

  #find<T extends Transaction>({ client, key }: CreatePlan<T>): Promise<Attempt | null> {
    const { session: hand } = this.#options;
    return hand.failClosed(hand.journal.find({ service: hand.service, client, key }));
  }

  #newAttempt<T extends Transaction>({ input, ...plan }: CreatePlan<T>): NewAttempt {
    const { session: hand, fingerprints, timeoutMs } = this.#options;
    const now = hand.clock.now();
    return {
      id: randomUUID(),
      service: hand.service,
      client: plan.client,
      key: plan.key,
      kind: plan.matcher.kind,
      fingerprint: fingerprints.of(input),
      channel: input.channel,
      method: plan.method,
      externalId: input.externalId ?? newExternalId(now),
      currency: input.amount.currency,
      value: input.amount.value,
      publicDetails: JSON.stringify(plan.publicDetails),
      reserve: plan.isFree !== undefined,
      owner: hand.owner,
      leaseUntil: hand.leaseUntil(),
      startedAt: now,
      serviceStartedAt: plan.queue.serviceNow(),
      sendUntil: now + hand.timeoutMs + SLACK_MS + timeoutMs,
    };
  }

  /** Asks the service, before a first sending, whether the external id is free. */
  async #preflight<T extends Transaction>(plan: CreatePlan<T>): Promise<boolean> {
    const { externalId } = plan.input;
    if (!plan.isFree || externalId === null) return true;
    const before = await this.#find(plan);
    return (before !== null && !isFreed(before)) || plan.isFree(externalId);
  }

  async #send<T extends Transaction>(
    attempt: NewAttempt,
    plan: CreatePlan<T>,
    slot: MoneySlot,
  ): Promise<MutationOutcome<T>> {
    const { session: hand } = this.#options;
    const mayRepeat = (): Promise<boolean> => hand.holds(attempt.id);
    return plan.send(attempt, { slot, mayRepeat }).catch(async (error: unknown) => {
      await hand.recordOutcome(attempt.id, { outcome: 'not_sent', settledAt: hand.clock.now() });
      throw error;
    });
  }

  async #conclude<T extends Transaction>(
    attempt: NewAttempt,
    plan: CreatePlan<T>,
    outcome: MutationOutcome<T>,
  ): Promise<CreateResult<T>> {
    const { session: hand, recovery: followUps } = this.#options;
    if (outcome.kind === 'accepted') {
      // A transaction that another attempt has created is not the answer to this one.
      const isOwn = await followUps.record(attempt, outcome.answer);
      return isOwn
        ? { kind: 'success', found: outcome.answer, replayed: false }
        : this.#recoverLostResponse(attempt, plan);
    }
    if (outcome.kind === 'refused') {
      await hand.recordOutcome(attempt.id, { outcome: 'rejected', settledAt: hand.clock.now() });
      return outcome;
    }
    return this.#recoverLostResponse(attempt, plan);
  }

  /** The answer was lost: looks for what it may have told, for as long as a caller can be kept waiting. */
  async #recoverLostResponse<T extends Transaction>(
    attempt: NewAttempt,
    { matcher: finder }: CreatePlan<T>,
  ): Promise<CreateResult<T>> {
    const { recovery: followUps, timeoutMs } = this.#options;
    const begun: Attempt = { ...attempt, ...NOTHING_KNOWN };
    const deadline = performance.now() + Math.min(SEARCH_MS, timeoutMs * 0.9);
    for (let step = SEARCH_STEP_MS; ; step *= 2) {
      const left = deadline - performance.now();
      const hit = await withTimeout(left, finder.find(begun)).catch(() => undefined);
      if (hit?.kind === 'found' && (await followUps.record(attempt, hit.found)))
        return { kind: 'success', found: hit.found, replayed: true };
      if (performance.now() + step >= deadline) break;
      await sleep(step);
    }
    await followUps.scheduleRecheck(begun);
    return { kind: 'unknown', externalId: attempt.externalId };
  }

  /** The key was used before. Undefined when it turns out to be free now. */
  async #replay<T extends Transaction>(
    attempt: Attempt,
    plan: CreatePlan<T>,
  ): Promise<CreateResult<T> | undefined> {
    const { session: hand, fingerprints, recovery: followUps } = this.#options;
    const { matcher: finder, input, method } = plan;
    if (attempt.kind !== finder.kind || !fingerprints.matches(attempt, input, method))
      return { kind: 'conflict', differing: differingParts(attempt, input, method) };
    if (attempt.outcome === 'succeeded') {
      return { kind: 'success', found: await finder.current(attempt), replayed: true };
    }
    if (attempt.outcome === 'in_progress' && hand.isLeased(attempt)) return { kind: 'in_progress' };
    const result = await followUps.recoverNow(attempt, finder);
    if (result === null) return { kind: 'in_progress' };
    if (result.kind === 'found') return { kind: 'success', found: result.found, replayed: true };
    return result.kind === 'not_sent' ? undefined : { kind: 'unknown', externalId: attempt.externalId };
  }
}

const NOTHING_KNOWN = {
  seq: 0,
  outcome: 'in_progress',
  transactionId: null,
  status: null,
  settledAt: null,
  nextRecheckAt: null,
  recheckCount: 0,
  absence: NO_ABSENCE,
} as const;
