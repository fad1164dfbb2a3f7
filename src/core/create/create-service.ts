import { randomUUID } from 'node:crypto';
import type { Attempt, BeginResult, NewAttempt } from '../../datasources/journal/journal';
import type { MutationOutcome } from '../../datasources/payment-service/mapping/responses';
import type { MoneySlot } from '../../datasources/payment-service/client';
import { InFlightCounter } from '../../shared/in-flight-counter';
import { sleep, withTimeout } from '../../shared/timeout';
import type { CreatePlan, CreateResult } from './create-plan';
import { differingParts, type KeyedHashes } from './keyed-hashes';
import { findLostCreate, inProgress } from './lost-create';
import type { Transaction } from '../recovery/transaction-matcher';
import type { OutcomeRecovery } from '../recovery/outcome-recovery';
import type { JournalSession } from '../journal-session';

interface CreateServiceOptions {
  session: JournalSession;
  recovery: OutcomeRecovery;
  hashes: KeyedHashes;
  timeoutMs: number;
}

/** Maximum time in ms of lookups after a lost response; also at most 90 % of the request timeout. */
const MAX_RECOVERY_MS = 3000;
const FIRST_LOOKUP_PAUSE_MS = 200;

/** Allowance for a busy process, in ms: time between writing the attempt and the start of the request timeout. */
const BUSY_ALLOWANCE_MS = 550;

/** One try of a create. `fenceSince`: start of the fence that was known when it began. */
interface Try {
  isLast: boolean;
  fenceSince: number;
}

/** Whether the key of an attempt may be used again. */
const isKeyReleased = ({ outcome }: Attempt): boolean => outcome === 'rejected' || outcome === 'not_sent';

/** Creates at most one transaction per idempotency key. See docs/exactly-once.md. */
export class CreateService {
  readonly #inFlight = new InFlightCounter();

  constructor(private readonly options: CreateServiceOptions) {}

  /**
   * Sends the create, or replays an earlier one with the same key. Continues if the caller disconnects. Never sends an
   * invalid input, but it may have been valid when it was first sent, for example with a card that has expired since.
   */
  create<T extends Transaction>(plan: CreatePlan<T>): Promise<CreateResult<T>> {
    const work = this.options.session.withLeaseRenewal(async () => {
      if (plan.errors.length > 0)
        return (await this.#replayInvalid(plan)) ?? { kind: 'invalid' as const, errors: plan.errors };
      // An earlier attempt may release the key meanwhile. The create is then tried once more.
      const result = (await this.#tryCreate(plan, false)) ?? (await this.#tryCreate(plan, true));
      return result ?? { kind: 'in_progress' as const };
    });
    return this.#inFlight.track(work);
  }

  async #replayInvalid<T extends Transaction>(plan: CreatePlan<T>): Promise<CreateResult<T> | undefined> {
    // The journal has no attempt with an invalid key.
    if (plan.errors.some(({ path }) => path[0] === 'idempotencyKey')) return undefined;
    const existing = await this.#findActive(plan);
    if (!existing) return undefined;
    await this.options.session.waitForClockSync();
    return this.#replay(existing, plan);
  }

  /** Resolves when no create is in flight. */
  drained(): Promise<void> {
    return this.#inFlight.drained();
  }

  /** Tries the create once. Undefined if an earlier attempt has just released the key, so that a retry may succeed. */
  async #tryCreate<T extends Transaction>(
    plan: CreatePlan<T>,
    isLast: boolean,
  ): Promise<CreateResult<T> | undefined> {
    const { session } = this.options;
    await session.waitForClockSync();
    await session.waitForFence();
    // The journal refuses the attempt if the fence goes up after this decision.
    const current = { isLast, fenceSince: session.fence.since };
    if (session.fence.active) {
      const result = await this.#replayLost(plan, current);
      if (result !== null) return result;
    } else if (!(await this.#passesPreflight(plan))) return this.#onExternalIdTaken(plan, current);
    if (!plan.queue.hasFreeSlot()) {
      // A replay needs no slot, so it does not wait for one.
      const existing = await this.#findActive(plan);
      if (existing) return this.#replay(existing, plan);
    }
    // Reserve the slot before recording the attempt, because after a crash a recorded attempt may have been sent.
    const slot = await plan.queue.reserve(plan.input.channel);
    let attempt: NewAttempt;
    let begun: BeginResult;
    let outcome: MutationOutcome<T> | undefined;
    try {
      attempt = this.#newAttempt(plan, current.fenceSince);
      begun = await session.insertAttempt(attempt);
      if (begun.kind === 'started') outcome = await this.#send(attempt, plan, slot);
    } finally {
      slot.release();
    }
    if (outcome) return this.#conclude(attempt, plan, outcome);
    return begun.kind === 'started' ? undefined : this.#onNotBegun(begun, plan, current);
  }

  /** Replays what a lost attempt with this key created. Null: nothing, the create may be sent. Undefined: try again. */
  async #replayLost<T extends Transaction>(
    plan: CreatePlan<T>,
    current: Try,
  ): Promise<CreateResult<T> | null | undefined> {
    const { session, recovery } = this.options;
    const existing = await this.#findActive(plan);
    if (existing) return this.#replay(existing, plan);
    session.requireSettledFence();
    const attempt = this.#newAttempt(plan, current.fenceSince);
    const lost = await findLostCreate(attempt, plan, session.fence.lostSince);
    if (lost === 'none') return null;
    if (lost === 'conflict') return { kind: lost, differing: [] };
    if (lost === 'external_id_taken') return this.#onExternalIdTaken(plan, current);
    const begun = await session.insertAttempt(attempt);
    if (begun.kind !== 'started') return this.#onNotBegun(begun, plan, current);
    if (await recovery.record(attempt, lost.found))
      return { kind: 'success', found: lost.found, replayed: true };
    // Another key has recorded it meanwhile. Nothing was sent for this one.
    await session.recordOutcome(attempt, { outcome: 'not_sent', settledAt: session.clock.now() });
    return undefined;
  }

  async #onNotBegun<T extends Transaction>(
    begun: Exclude<BeginResult, { kind: 'started' }>,
    plan: CreatePlan<T>,
    current: Try,
  ): Promise<CreateResult<T> | undefined> {
    if (begun.kind === 'exists') return this.#replay(begun.attempt, plan);
    if (begun.kind === 'reserved') return this.#onExternalIdTaken(plan, current);
    await this.options.session.refreshFence();
    return undefined;
  }

  /** Replays an attempt with this key that took the external id. Undefined: it has released both, and a retry may succeed. */
  async #onExternalIdTaken<T extends Transaction>(
    plan: CreatePlan<T>,
    { isLast, fenceSince }: Try,
  ): Promise<CreateResult<T> | undefined> {
    const attempt = await this.#find(plan);
    if (attempt && !isKeyReleased(attempt)) return this.#replay(attempt, plan);
    if (attempt && !isLast) return undefined;
    // The journal may just have lost the attempt that took it.
    const { session } = this.options;
    await session.refreshFence();
    return session.fence.since === fenceSince || isLast ? { kind: 'external_id_taken' } : undefined;
  }

  #find({ client, key }: CreatePlan<Transaction>): Promise<Attempt | null> {
    const { session } = this.options;
    return session.failClosed(session.journal.find({ service: session.service, client, key }));
  }

  /** Returns the attempt that holds the key; null if the key may be used. */
  async #findActive(plan: CreatePlan<Transaction>): Promise<Attempt | null> {
    const attempt = await this.#find(plan);
    return attempt && isKeyReleased(attempt) ? null : attempt;
  }

  #newAttempt({ input, ...plan }: CreatePlan<Transaction>, fenceSince: number): NewAttempt {
    const { session, hashes, timeoutMs } = this.options;
    const { service } = session;
    const { client, key } = plan;
    const now = session.clock.now();
    return {
      id: randomUUID(),
      service,
      client,
      key,
      kind: plan.matcher.kind,
      fingerprint: hashes.ofCreate(input),
      channel: input.channel,
      method: plan.method,
      externalId: input.externalId ?? hashes.externalIdOf({ service, client, key }),
      currency: input.amount.currency,
      value: input.amount.value,
      publicDetails: JSON.stringify(plan.publicDetails),
      reserve: plan.isExternalIdFree !== undefined,
      owner: session.owner,
      leaseUntil: session.leaseUntil(),
      startedAt: now,
      serviceStartedAt: plan.queue.serviceNow(),
      sendUntil: now + session.timeoutMs + BUSY_ALLOWANCE_MS + timeoutMs,
      fenceSince,
    };
  }

  /** Whether no preflight is needed (for example because the key is in use), or the preflight finds no transaction. */
  async #passesPreflight(plan: CreatePlan<Transaction>): Promise<boolean> {
    const { externalId } = plan.input;
    if (!plan.isExternalIdFree || externalId === null) return true;
    return (await this.#findActive(plan)) !== null || plan.isExternalIdFree(externalId);
  }

  async #send<T extends Transaction>(
    attempt: NewAttempt,
    plan: CreatePlan<T>,
    slot: MoneySlot,
  ): Promise<MutationOutcome<T>> {
    const { session } = this.options;
    const mayRepeat = (): Promise<boolean> => session.ownsInProgress(attempt.id);
    return plan.send(attempt, { slot, mayRepeat }).catch(async (error: unknown) => {
      await session.recordOutcome(attempt, { outcome: 'not_sent', settledAt: session.clock.now() });
      throw error;
    });
  }

  async #conclude<T extends Transaction>(
    attempt: NewAttempt,
    plan: CreatePlan<T>,
    outcome: MutationOutcome<T>,
  ): Promise<CreateResult<T>> {
    const { session, recovery } = this.options;
    if (outcome.kind === 'refused') {
      await session.recordOutcome(attempt, { outcome: 'rejected', settledAt: session.clock.now() });
      return outcome;
    }
    // A transaction that another attempt created is not the result of this one.
    if (outcome.kind === 'accepted' && (await recovery.record(attempt, outcome.response)))
      return { kind: 'success', found: outcome.response, replayed: false };
    return this.#recoverLostResponse(attempt, plan);
  }

  /** Handles a lost response: looks the transaction up for a short time, then leaves it to src/core/recovery. */
  async #recoverLostResponse<T extends Transaction>(
    attempt: NewAttempt,
    { matcher }: CreatePlan<T>,
  ): Promise<CreateResult<T>> {
    const { recovery, timeoutMs } = this.options;
    const begun = inProgress(attempt);
    const deadline = performance.now() + Math.min(MAX_RECOVERY_MS, timeoutMs * 0.9);
    for (let delayMs = FIRST_LOOKUP_PAUSE_MS; ; delayMs *= 2) {
      const leftMs = deadline - performance.now();
      const match = await withTimeout(leftMs, matcher.find(begun)).catch(() => undefined);
      if (match?.kind === 'found' && (await recovery.record(attempt, match.found)))
        return { kind: 'success', found: match.found, replayed: true };
      if (performance.now() + delayMs >= deadline) break;
      await sleep(delayMs);
    }
    await recovery.scheduleRecheck(begun);
    return { kind: 'unknown', externalId: attempt.externalId };
  }

  /** Replays an earlier attempt with this key. Undefined if recovery has released the key. */
  async #replay<T extends Transaction>(
    attempt: Attempt,
    plan: CreatePlan<T>,
  ): Promise<CreateResult<T> | undefined> {
    const { session, hashes, recovery } = this.options;
    const { matcher, input, method } = plan;
    if (attempt.kind !== matcher.kind || !hashes.matches(attempt, input, method))
      return { kind: 'conflict', differing: differingParts(attempt, input, method) };
    if (attempt.outcome === 'succeeded') {
      return { kind: 'success', found: await matcher.current(attempt), replayed: true };
    }
    if (attempt.outcome === 'in_progress' && session.isLeased(attempt)) return { kind: 'in_progress' };
    const result = await recovery.recoverNow(attempt, matcher);
    if (result === null) return { kind: 'in_progress' };
    if (result.kind === 'found') return { kind: 'success', found: result.found, replayed: true };
    return result.kind === 'not_sent' ? undefined : { kind: 'unknown', externalId: attempt.externalId };
  }
}
