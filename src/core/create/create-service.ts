import type { Attempt, InsertResult, NewAttempt } from '../../datasources/journal/journal';
import type { MutationOutcome } from '../../datasources/payment-service/mapping/responses';
import type { ReservedSlot } from '../../datasources/payment-service/client';
import { ServiceError } from '../../datasources/payment-service/service-error';
import { withTimeout } from '../../shared/timeout';
import { externalIdTakenError, type CreatePlan, type CreateResult } from './create-plan';
import { differingParts, type KeyedHashes } from './keyed-hashes';
import { isKeyReleased } from '../../datasources/journal/rows';
import { newAttemptId } from '../../datasources/journal/stored-values';
import {
  inProgressCreateError,
  unknownCreateOutcomeError,
  idempotencyConflictError,
  invalidInputError,
  rejectedCreateError,
} from '../../schema/user-errors';
import type { TransactionResource } from '../../schema/transaction';
import { findCreateOfLostAttempt } from './lost-attempt';
import { creationTimeMs } from '../polling/snapshot';
import type { OutcomeRecovery } from '../recovery/outcome-recovery';
import type { JournalSession } from '../journal-session';

/** Dependencies and settings of createOnce(). */
export interface CreateOptions {
  journalSession: JournalSession;
  recovery: OutcomeRecovery;
  hashes: KeyedHashes;
  requestTimeoutMs: number;
}

/** Maximum time in ms of the lookups after a lost response; 90 % of `requestTimeoutMs` if that is less. */
const MAX_RECOVERY_MS = 3000;
const SECOND_LOOKUP_DELAY_MS = 200;

/** Assumed maximum delay in ms, in a busy process, from inserting an attempt to sending it. Part of `sendUntil`. */
const MAX_SEND_DELAY_MS = 550;

/**
 * Creates at most one transaction per idempotency key (docs/exactly-once.md). Sends the create, or replays an earlier
 * one with the same key. Continues if the caller disconnects. An invalid input is never sent. If an earlier create sent
 * this input while it was valid, for example before the card expired, that create is replayed. If createOnce() throws a
 * ServiceError, this call certainly created nothing.
 */
export const createOnce = <T extends TransactionResource>(
  options: CreateOptions,
  plan: CreatePlan<T>,
): Promise<CreateResult<T>> =>
  options.journalSession.withLeaseRenewal(() => new CreateCall(options, plan).run());

/**
 * One call of createOnce(), with at most two tries. If #try() or a method that it calls returns undefined
 * instead of a CreateResult, another try is necessary, for example because the idempotency key was released meanwhile.
 */
class CreateCall<T extends TransactionResource> {
  #isLastTry = false;
  /** JournalFence.since at the start of the current try: when the fence was last raised; 0 if there was none. */
  #expectedFenceSince = 0;

  constructor(
    private readonly options: CreateOptions,
    private readonly plan: CreatePlan<T>,
  ) {}

  async run(): Promise<CreateResult<T>> {
    const { inputErrors } = this.plan;
    if (inputErrors.length > 0) return (await this.#replayDespiteErrors()) ?? invalidInputError(inputErrors);
    const firstResult = await this.#try();
    if (firstResult) return firstResult;
    this.#isLastTry = true;
    return (await this.#try()) ?? inProgressCreateError();
  }

  async #replayDespiteErrors(): Promise<CreateResult<T> | undefined> {
    // The journal has no attempt with an invalid idempotency key.
    if (this.plan.inputErrors.some(({ path }) => path[0] === 'idempotencyKey')) return undefined;
    const keyHolder = await this.#findKeyHolder();
    if (!keyHolder) return undefined;
    await this.options.journalSession.ensureClockSync();
    return this.#replay(keyHolder);
  }

  async #try(): Promise<CreateResult<T> | undefined> {
    const { journalSession } = this.options;
    const { bulkheadSlots, input, client } = this.plan;
    await journalSession.ensureClockSync();
    await journalSession.ensureFenceRead();
    // If the fence is raised or lowered before the insert, the journal rejects the attempt (`fence_changed`).
    this.#expectedFenceSince = journalSession.fence.since;
    if (journalSession.fence.active) {
      const result = await this.#replayEarlierCreate();
      if (result !== null) return result;
    } else if (!(await this.#passesPreflight())) return this.#onExternalIdTaken();
    if (!bulkheadSlots.hasFreeSlot(client)) {
      // A replay needs no slot for sending, so it must not wait for one.
      const keyHolder = await this.#findKeyHolder();
      if (keyHolder) return this.#replay(keyHolder);
    }
    // Reserve the slot before the insert: a crash while an inserted attempt waits for one would make it `unknown`.
    const slot = await bulkheadSlots.reserve(input.channel, client);
    let attempt: NewAttempt;
    let insertResult: InsertResult;
    let outcome: MutationOutcome<T> | undefined;
    try {
      attempt = this.#newAttempt();
      insertResult = await journalSession.insertAttempt(attempt);
      if (insertResult.kind === 'started') outcome = await this.#send(attempt, slot);
    } finally {
      slot.release();
    }
    if (outcome) return this.#conclude(attempt, outcome);
    return insertResult.kind === 'started' ? undefined : this.#onNotInserted(insertResult);
  }

  /**
   * Called while the fence is up. Replays the create of the attempt that uses this key. If the journal has none, looks
   * up whether a lost attempt with this key created a transaction. If so, replays that create. If certainly not,
   * returns null: the create can be sent. Throws a ServiceError if the lookup fails or proves nothing.
   */
  async #replayEarlierCreate(): Promise<CreateResult<T> | null | undefined> {
    const { journalSession, recovery } = this.options;
    const keyHolder = await this.#findKeyHolder();
    if (keyHolder) return this.#replay(keyHolder);
    journalSession.requirePropagatedFence();
    const newAttempt = this.#newAttempt();
    const { lostAttemptsSince } = journalSession.fence;
    const result = await findCreateOfLostAttempt(newAttempt, this.plan, lostAttemptsSince);
    if (result === 'none') return null;
    if (result === 'conflict') return idempotencyConflictError(['method or amount']);
    if (result === 'external_id_taken') return this.#onExternalIdTaken();
    // If the transaction is a payment, its creation time becomes `serviceStartedAt`. With a later time, a recovery
    // after a crash would reject the payment as too old. The creation time of a payout is not known.
    const { transaction } = result;
    const createdAt = creationTimeMs(transaction);
    const serviceStartedAt = Number.isNaN(createdAt) ? newAttempt.serviceStartedAt : createdAt;
    const attempt = { ...newAttempt, serviceStartedAt };
    const outcome = recovery.prepareSucceededOutcome(transaction);
    const insertResult = await journalSession.insertAttempt(attempt, outcome);
    if (insertResult.kind !== 'started') return this.#onNotInserted(insertResult);
    if (await recovery.recordCreated(attempt, transaction)) return { transaction, replayed: true };
    // Meanwhile, another attempt was recorded as the creator of the transaction. This attempt sent nothing.
    await this.#recordNotCreated(attempt, 'not_sent');
    return undefined;
  }

  async #onNotInserted(
    insertResult: Exclude<InsertResult, { kind: 'started' }>,
  ): Promise<CreateResult<T> | undefined> {
    if (insertResult.kind === 'exists') return this.#replay(insertResult.attempt);
    if (insertResult.kind === 'reserved') return this.#onExternalIdTaken();
    await this.options.journalSession.refreshFence();
    return undefined;
  }

  /** Called if the external id is taken. Replays the attempt that uses this key, if any: it may have taken the id. */
  async #onExternalIdTaken(): Promise<CreateResult<T> | undefined> {
    const attempt = await this.#findAttempt();
    if (attempt && !isKeyReleased(attempt)) return this.#replay(attempt);
    // The attempt with this key has released the external id, perhaps after this try's check. The next try checks
    // again.
    if (attempt && !this.#isLastTry) return undefined;
    // If the fence was raised during this try, the external id may be held by an attempt with this key that the journal
    // has lost. The next try looks it up.
    const { journalSession } = this.options;
    await journalSession.refreshFence();
    if (journalSession.fence.since !== this.#expectedFenceSince) return undefined;
    return externalIdTakenError();
  }

  #findAttempt(): Promise<Attempt | null> {
    const { journal, serviceName: service } = this.options.journalSession;
    const { client, idempotencyKey: key } = this.plan;
    return this.options.journalSession.failClosed(journal.find({ service, client, key }));
  }

  /** Returns the attempt that uses the idempotency key; null if the key is free. */
  async #findKeyHolder(): Promise<Attempt | null> {
    const attempt = await this.#findAttempt();
    return attempt && isKeyReleased(attempt) ? null : attempt;
  }

  #newAttempt(): NewAttempt {
    const { journalSession, hashes, requestTimeoutMs } = this.options;
    const { serviceName: service } = journalSession;
    const { client, idempotencyKey: key, input, ...plan } = this.plan;
    const now = journalSession.clock.now();
    return {
      id: newAttemptId({ service, client, key }, journalSession.runtime),
      service,
      client,
      key,
      kind: plan.matcher.kind,
      fingerprint: hashes.fingerprintOfCreate(input),
      channel: input.channel,
      method: plan.methodType,
      externalId: input.externalId ?? hashes.deriveExternalId({ service, client, key }),
      currency: input.amount.currency,
      value: input.amount.value,
      publicDetails: JSON.stringify(plan.publicDetails),
      reservesExternalId: plan.checkExternalIdFree !== undefined,
      owner: journalSession.instanceId,
      leaseUntil: journalSession.newLeaseEnd(),
      startedAt: now,
      serviceStartedAt: plan.bulkheadSlots.serviceTimeLowerBound(),
      sendUntil: now + journalSession.journalTimeoutMs + MAX_SEND_DELAY_MS + requestTimeoutMs,
      fenceSince: this.#expectedFenceSince,
    };
  }

  /**
   * Whether the preflight lookup finds no payout. Also true if no lookup is needed: there is no preflight, the gateway
   * generates the external id, or an attempt already uses the key. Throws a ServiceError if the lookup fails.
   */
  async #passesPreflight(): Promise<boolean> {
    const { plan } = this;
    const { externalId } = plan.input;
    if (!plan.checkExternalIdFree || externalId === null) return true;
    return (await this.#findKeyHolder()) !== null || plan.checkExternalIdFree(externalId);
  }

  #send(attempt: NewAttempt, slot: ReservedSlot): Promise<MutationOutcome<T>> {
    const mayRetryAfter401 = (): Promise<boolean> => this.options.journalSession.ownsInProgress(attempt.id);
    return this.plan.send(attempt, { slot, mayRetryAfter401 }).catch(async (error: unknown) => {
      if (error instanceof ServiceError) await this.#recordNotCreated(attempt, 'not_sent');
      // Any other error is a bug, for example in reading the response. The service may have carried out the create.
      else await this.options.recovery.recordUnknown(attempt);
      throw error;
    });
  }

  #recordNotCreated(attempt: NewAttempt, outcome: 'rejected' | 'not_sent'): Promise<boolean> {
    const { journalSession } = this.options;
    return journalSession.recordOrQueueOutcome(attempt, { outcome, settledAt: journalSession.clock.now() });
  }

  async #conclude(attempt: NewAttempt, outcome: MutationOutcome<T>): Promise<CreateResult<T>> {
    if (outcome.kind === 'refused') {
      await this.#recordNotCreated(attempt, 'rejected');
      return rejectedCreateError(outcome.httpStatus, outcome.message);
    }
    // recordCreated() returns false if another attempt created the transaction or holds the idempotency key.
    const { recovery } = this.options;
    if (outcome.kind === 'accepted' && (await recovery.recordCreated(attempt, outcome.transaction)))
      return { transaction: outcome.transaction, replayed: false };
    return this.#recoverUnknownOutcome(attempt);
  }

  /**
   * Handles a response that was lost, is invalid, or shows a transaction of another attempt. Looks the transaction up
   * for MAX_RECOVERY_MS at most. If it is not found, records the outcome `unknown`, for the recovery job.
   */
  async #recoverUnknownOutcome(attempt: NewAttempt): Promise<CreateResult<T>> {
    const { recovery, requestTimeoutMs, journalSession } = this.options;
    const { matcher } = this.plan;
    const { runtime } = journalSession;
    const deadline = runtime.monotonic() + Math.min(MAX_RECOVERY_MS, requestTimeoutMs * 0.9);
    for (let delayMs = SECOND_LOOKUP_DELAY_MS; ; delayMs *= 2) {
      const leftMs = deadline - runtime.monotonic();
      const matchResult = await withTimeout(leftMs, matcher.find(attempt), runtime).catch(() => undefined);
      if (matchResult?.kind === 'found' && (await recovery.recordCreated(attempt, matchResult.transaction)))
        return { transaction: matchResult.transaction, replayed: true };
      if (runtime.monotonic() + delayMs >= deadline) break;
      await runtime.sleep(delayMs);
    }
    await recovery.recordUnknown(attempt);
    return unknownCreateOutcomeError(attempt);
  }

  async #replay(attempt: Attempt): Promise<CreateResult<T> | undefined> {
    const { journalSession, hashes, recovery } = this.options;
    const { matcher, input, methodType } = this.plan;
    if (attempt.kind !== matcher.kind || !hashes.matches(attempt, input, methodType))
      return idempotencyConflictError(differingParts(attempt, input, methodType));
    if (attempt.outcome === 'succeeded')
      return { transaction: await matcher.lookUpOrReadFromJournal(attempt), replayed: true };
    if (attempt.outcome === 'in_progress' && journalSession.isLeased(attempt)) return inProgressCreateError();
    const result = await recovery.claimAndRecover(attempt, matcher);
    if (result === null) return inProgressCreateError();
    if (result.kind === 'found') return { transaction: result.transaction, replayed: true };
    return result.kind === 'not_sent' ? undefined : unknownCreateOutcomeError(attempt);
  }
}
