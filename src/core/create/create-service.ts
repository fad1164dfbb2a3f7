import { randomBytes, randomUUID } from 'node:crypto';
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
import { differingParts, type CanonicalInput, type Fingerprints } from './fingerprint';
import type { TransactionMatcher, Transaction } from '../recovery/transaction-matcher';
import type { OutcomeRecovery } from '../recovery/outcome-recovery';
import type { JournalSession } from '../journal-session';

/** A validated create that is ready to be sent. */
export interface CreatePlan<T extends Transaction> {
  client: string;
  key: string;
  /** The method's wire type. */
  method: string;
  input: CanonicalInput;
  /** The details of the method that the transaction may show. */
  publicDetails: object;
  matcher: TransactionMatcher<T>;
  /** Preflight check that the service has no transaction under an external id; undefined: no preflight. */
  isFree?: ((externalId: string) => Promise<boolean>) | undefined;
  queue: SendQueue;
  /** Sends the create once. Throws a ServiceError only when it is certain that the service did not act on it. */
  send(
    attempt: Pick<NewAttempt, 'id' | 'externalId'>,
    options: MoneySendOptions,
  ): Promise<MutationOutcome<T>>;
}

/** The result of a create for its caller. */
export type CreateResult<T> =
  | { kind: 'success'; found: T; replayed: boolean }
  | { kind: 'refused'; httpStatus: number; message: string }
  | { kind: 'external_id_taken' }
  /** `differing`: the parts of the input that differ from the journal. */
  | { kind: 'conflict'; differing: string[] }
  | { kind: 'in_progress' }
  | { kind: 'unknown'; externalId: string };

interface CreateServiceOptions {
  session: JournalSession;
  recovery: OutcomeRecovery;
  fingerprints: Fingerprints;
  timeoutMs: number;
}

/** How long a caller whose response was lost waits for lookups, in milliseconds. */
const RECOVERY_MS = 3000;
const FIRST_DELAY_MS = 200;

/** Delay of a busy process between writing the attempt and the start of the request timeout. */
const SLACK_MS = 550;

/** Whether the key of an attempt may be used again. */
const isFreed = ({ outcome }: Attempt): boolean => outcome === 'rejected' || outcome === 'not_sent';

/** Creates at most one transaction per idempotency key. See docs/exactly-once.md. */
export class CreateService {
  readonly #inFlight = new InFlightCounter();

  constructor(private readonly options: CreateServiceOptions) {}

  /** Sends the create, or replays an earlier one under its key. Continues when the caller disconnects. */
  create<T extends Transaction>(plan: CreatePlan<T>): Promise<CreateResult<T>> {
    const work = this.options.session.withLeaseRenewal(async () => {
      // Recovery of an earlier attempt may release the key: then the create is tried once more.
      const result = (await this.#attemptCreate(plan, false)) ?? (await this.#attemptCreate(plan, true));
      return result ?? { kind: 'in_progress' as const };
    });
    return this.#inFlight.track(work);
  }

  /**
   * Replays an earlier create without sending one; null when the key has none. For an input that is invalid now but may have
   * been valid when it was first sent, for example a card that has expired since.
   */
  async replay<T extends Transaction>(
    plan: CreatePlan<T>,
    errors: readonly FieldError[],
  ): Promise<CreateResult<T> | null> {
    const { session } = this.options;
    // The journal has no attempt under an invalid key.
    if (errors.some(({ path }) => path[0] === 'idempotencyKey')) return null;
    const work = session.withLeaseRenewal(async () => {
      const existing = await this.#findActive(plan);
      if (!existing) return null;
      await session.clockKnown();
      return (await this.#replay(existing, plan)) ?? null;
    });
    return this.#inFlight.track(work);
  }

  /** Resolves when no create is in flight. */
  drained(): Promise<void> {
    return this.#inFlight.drained();
  }

  /** Undefined when the key has just been released. */
  async #attemptCreate<T extends Transaction>(
    plan: CreatePlan<T>,
    isLast: boolean,
  ): Promise<CreateResult<T> | undefined> {
    const { session } = this.options;
    await session.clockKnown();
    if (!(await this.#preflight(plan))) return this.#onExternalIdTaken(plan, isLast);
    if (!plan.queue.hasFreeSlot()) {
      // A replay needs no slot, so its caller does not wait for one.
      const existing = await this.#findActive(plan);
      if (existing) return this.#replay(existing, plan);
    }
    // Take the slot before recording: after a crash a recorded attempt counts as possibly sent.
    const slot = await plan.queue.reserve(plan.input.channel);
    let attempt: NewAttempt;
    let begun: BeginResult;
    let outcome: MutationOutcome<T> | undefined;
    try {
      attempt = this.#newAttempt(plan);
      begun = await session.insertAttempt(attempt);
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
   * The external id is taken, perhaps by a concurrent call with the same key: that one is replayed. Undefined when it has
   * released both meanwhile.
   */
  async #onExternalIdTaken<T extends Transaction>(
    plan: CreatePlan<T>,
    isLast: boolean,
  ): Promise<CreateResult<T> | undefined> {
    const attempt = await this.#find(plan);
    if (attempt && !isFreed(attempt)) return this.#replay(attempt, plan);
    return attempt && !isLast ? undefined : { kind: 'external_id_taken' };
  }

  #find({ client, key }: CreatePlan<Transaction>): Promise<Attempt | null> {
    const { session } = this.options;
    return session.failClosed(session.journal.find({ service: session.service, client, key }));
  }

  /** The attempt that holds the key; null when the key may be used. */
  async #findActive(plan: CreatePlan<Transaction>): Promise<Attempt | null> {
    const attempt = await this.#find(plan);
    return attempt && isFreed(attempt) ? null : attempt;
  }

  #newAttempt({ input, ...plan }: CreatePlan<Transaction>): NewAttempt {
    const { session, fingerprints, timeoutMs } = this.options;
    const now = session.clock.now();
    return {
      id: randomUUID(),
      service: session.service,
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
      owner: session.owner,
      leaseUntil: session.leaseUntil(),
      startedAt: now,
      serviceStartedAt: plan.queue.serviceNow(),
      sendUntil: now + session.timeoutMs + SLACK_MS + timeoutMs,
    };
  }

  /** Whether the service has no transaction under the external id; true when the key was used before. */
  async #preflight(plan: CreatePlan<Transaction>): Promise<boolean> {
    const { externalId } = plan.input;
    if (!plan.isFree || externalId === null) return true;
    return (await this.#findActive(plan)) !== null || plan.isFree(externalId);
  }

  async #send<T extends Transaction>(
    attempt: NewAttempt,
    plan: CreatePlan<T>,
    slot: MoneySlot,
  ): Promise<MutationOutcome<T>> {
    const { session } = this.options;
    const mayRepeat = (): Promise<boolean> => session.holds(attempt.id);
    return plan.send(attempt, { slot, mayRepeat }).catch(async (error: unknown) => {
      await session.recordOutcome(attempt.id, { outcome: 'not_sent', settledAt: session.clock.now() });
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
      await session.recordOutcome(attempt.id, { outcome: 'rejected', settledAt: session.clock.now() });
      return outcome;
    }
    // A transaction that another attempt created is not the result of this one.
    if (outcome.kind === 'accepted' && (await recovery.record(attempt, outcome.response)))
      return { kind: 'success', found: outcome.response, replayed: false };
    return this.#recoverLostResponse(attempt, plan);
  }

  /** The response was lost: looks the transaction up for up to 3 seconds, then leaves it to background recovery. */
  async #recoverLostResponse<T extends Transaction>(
    attempt: NewAttempt,
    { matcher }: CreatePlan<T>,
  ): Promise<CreateResult<T>> {
    const { recovery, timeoutMs } = this.options;
    const begun: Attempt = {
      ...attempt,
      seq: 0,
      outcome: 'in_progress',
      transactionId: null,
      status: null,
      settledAt: null,
      nextRecheckAt: null,
      recheckCount: 0,
      absence: NO_ABSENCE,
    };
    const deadline = performance.now() + Math.min(RECOVERY_MS, timeoutMs * 0.9);
    for (let delayMs = FIRST_DELAY_MS; ; delayMs *= 2) {
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

  /** Replays an earlier attempt under this key. Undefined when recovery has released the key. */
  async #replay<T extends Transaction>(
    attempt: Attempt,
    plan: CreatePlan<T>,
  ): Promise<CreateResult<T> | undefined> {
    const { session, fingerprints, recovery } = this.options;
    const { matcher, input, method } = plan;
    if (attempt.kind !== matcher.kind || !fingerprints.matches(attempt, input, method))
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

/** A UUID of version 7 (RFC 9562): unique, and ordered by time. */
function newExternalId(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
