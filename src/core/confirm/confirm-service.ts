import type {
  ConfirmBeginResult,
  ConfirmClaim,
  EndedConfirm,
  ConfirmedInput,
} from '../../datasources/journal/journal';
import type { ConfirmRequest, PaymentsApi } from '../../datasources/payment-service/payments';
import { refusedByGatewayError } from '../../datasources/payment-service/service-error';
import { PaymentState, PaymentStatus, type PaymentResource } from '../../schema/payment';
import { presentOrNull } from '../../schema/lazy-field';
import type { ConfirmPaymentResult, PaymentSuccess } from '../../schema/mutations';
import {
  inProgressConfirmError,
  unknownConfirmOutcomeError,
  rejectedConfirmError,
} from '../../schema/user-errors';
import { ConfirmClaims, notCarriedOutResult } from './confirm-claims';
import { compareWithEarlierInputs } from './confirm-history';
import { withTimeout } from '../../shared/timeout';
import type { KeyedHashes } from '../create/keyed-hashes';
import type { JournalSession } from '../journal-session';

type ConfirmOutcome =
  { transaction: PaymentResource; replayed: boolean } | Exclude<ConfirmPaymentResult, PaymentSuccess>;

interface ConfirmServiceOptions {
  journalSession: JournalSession;
  payments: PaymentsApi;
  hashes: KeyedHashes;
  requestTimeoutMs: number;
}

const PAYMENT_NOT_FOUND_MESSAGE =
  'The payment service did not find this payment, which may have been confirmed before; this call sent no confirm. Repeat it unchanged.';

/** Delays in ms before the lookups after a confirm of unknown outcome, each from the end of the previous lookup. */
const LOOKUP_DELAYS_MS = [0, 300, 900];

/** Statuses that a payment can reach without a confirm. They do not prove that a confirm was carried out. */
const STATUSES_REACHABLE_WITHOUT_CONFIRM: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** A confirm that has claimed its payment in the journal. */
interface ConfirmCall {
  request: ConfirmRequest;
  claim: ConfirmClaim;
  beginResult: ConfirmBeginResult;
  comparison: ReturnType<typeof compareWithEarlierInputs> & {
    /** Whether the fence is up: the journal may have lost a confirm, with this or another input (see JournalFence). */
    mayLackConfirm: boolean;
  };
}

/** The result of a confirm: `outcome` for the caller, `resultToRecord` to record in the journal. */
interface ConfirmCompletion {
  outcome: ConfirmOutcome;
  resultToRecord: EndedConfirm;
}

const asReplay = (payment: PaymentResource): ConfirmOutcome => ({ transaction: payment, replayed: true });

/** Sends confirms, one at a time per payment. If necessary, first looks the payment up (docs/exactly-once.md). */
export class ConfirmService {
  readonly #claims: ConfirmClaims;

  constructor(private readonly options: ConfirmServiceOptions) {
    this.#claims = new ConfirmClaims(options.journalSession);
  }

  /** Confirms a payment, or replays an earlier confirm with the same input. Continues if the caller disconnects. */
  confirm(request: ConfirmRequest): Promise<ConfirmOutcome> {
    return this.options.journalSession.withLeaseRenewal(() => this.#claimAndConfirm(request));
  }

  /** Tries once more to record each unrecorded result. Never rejects. */
  flushUnrecorded(): Promise<void> {
    return this.#claims.flushUnrecorded();
  }

  async #claimAndConfirm(request: ConfirmRequest): Promise<ConfirmOutcome> {
    const { journalSession, hashes } = this.options;
    // With an unsynchronized clock, this instance could take over a confirm that another instance has in flight.
    await journalSession.ensureClockSync();
    await journalSession.ensureFenceRead();
    journalSession.requirePropagatedFence();
    const claim = this.#newClaim(request);
    const { confirmId, inputHash } = claim;
    const beginResult = await this.#claims.begin(claim);
    let resultToRecord = beginResult && notCarriedOutResult(beginResult);
    let matchingInput: ConfirmedInput | undefined;
    try {
      const confirmedInputs = await journalSession.failClosed(journalSession.journal.confirmedInputs(claim));
      matchingInput = confirmedInputs.find((earlierInput) => earlierInput.inputHash === inputHash);
      if (!matchingInput) {
        if (!beginResult) return inProgressConfirmError();
        const isComparable = (hash: string): boolean => hashes.isComparable(hash);
        // A failover of the journal may have raised the fence (docs/exactly-once.md) since this instance last read it.
        await journalSession.refreshFence();
        journalSession.requirePropagatedFence();
        const compared = compareWithEarlierInputs(inputHash, beginResult, confirmedInputs, isComparable);
        const journalMayLackConfirm = journalSession.fence.active !== null;
        const isIncomparable = compared.isIncomparable || journalMayLackConfirm;
        const comparison = { ...compared, isIncomparable, mayLackConfirm: journalMayLackConfirm };
        const completion = await this.#confirm({ request, claim, beginResult, comparison });
        resultToRecord = completion.resultToRecord;
        return completion.outcome;
      }
    } finally {
      if (resultToRecord) await this.#claims.end(confirmId, resultToRecord);
    }
    return asReplay(await this.#lookUpOrReadFromJournal(request, matchingInput));
  }

  #newClaim(request: ConfirmRequest): ConfirmClaim {
    const { channel, transactionId, definition, bodyFields: fields } = request;
    const { journalSession, hashes } = this.options;
    const { serviceName: service } = journalSession;
    const paymentRef = { service, channel, transactionId };
    return {
      confirmId: journalSession.runtime.randomUUID(),
      ...paymentRef,
      owner: journalSession.instanceId,
      now: journalSession.clock.now(),
      leaseUntil: journalSession.newLeaseEnd(),
      inputHash: hashes.fingerprintOfConfirm({ ...paymentRef, method: definition.type, fields }),
    };
  }

  /**
   * Sends the confirm. If an earlier confirm may have been carried out, first looks the payment up. Then sends nothing
   * if the payment is not found, or if it has moved on and an earlier confirm may have had the same input.
   */
  async #confirm(call: ConfirmCall): Promise<ConfirmCompletion> {
    const { request, claim, beginResult, comparison } = call;
    const { payments } = this.options;
    const mayBeRepeat = comparison.wasSent || comparison.isIncomparable;
    const mustLookUp = mayBeRepeat || comparison.otherUnresolved;
    const paymentBefore = mustLookUp ? await payments.lookUp(request) : null;
    // Sends nothing: an earlier confirm may have been carried out. The 404, perhaps of a proxy, does not show whether.
    if (mustLookUp && !paymentBefore) throw refusedByGatewayError(PAYMENT_NOT_FOUND_MESSAGE);
    const movedOnPayment = paymentBefore && hasMovedOn(paymentBefore, request) ? paymentBefore : null;
    if (movedOnPayment && mayBeRepeat) {
      // The payment may have moved on because of another input, so the outcome of this input stays unknown.
      const mayBeEffectOfOtherInput =
        !comparison.wasSent && (comparison.otherUnresolved || comparison.mayLackConfirm);
      if (comparison.otherConfirmed || mayBeEffectOfOtherInput) {
        const outcome = unknownConfirmOutcomeError(request.transactionId);
        return { outcome, resultToRecord: notCarriedOutResult(beginResult) };
      }
      return { outcome: asReplay(movedOnPayment), resultToRecord: this.#movedOnResult(call, movedOnPayment) };
    }
    // No earlier confirm with this input can have been carried out. If the payment has moved on, the earlier confirms
    // with unknown results, all with other inputs, are recorded as carried out.
    const earlierInputs = movedOnPayment
      ? this.#toConfirmedInputs(call, beginResult.unresolvedInputHashes, movedOnPayment)
      : [];
    const sendOutcome = await payments.confirm(request);
    if (sendOutcome.kind === 'accepted') {
      const transaction = sendOutcome.transaction;
      const confirmedInputs = [
        ...earlierInputs,
        ...this.#toConfirmedInputs(call, [claim.inputHash], transaction),
      ];
      return {
        outcome: { transaction, replayed: false },
        resultToRecord: { outcome: 'known', confirmedInputs },
      };
    }
    const error =
      sendOutcome.kind === 'refused'
        ? rejectedConfirmError(sendOutcome.httpStatus, sendOutcome.message)
        : unknownConfirmOutcomeError(request.transactionId);
    if (comparison.otherConfirmed || earlierInputs.length > 0) {
      // Another input may have caused the state of the payment, so a lookup would prove nothing about this input.
      if (sendOutcome.kind === 'unknown')
        return { outcome: error, resultToRecord: { outcome: 'unknown', confirmedInputs: earlierInputs } };
      const recordedOutcome = earlierInputs.length > 0 ? 'known' : notCarriedOutResult(beginResult).outcome;
      return { outcome: error, resultToRecord: { outcome: recordedOutcome, confirmedInputs: earlierInputs } };
    }
    return sendOutcome.kind === 'refused' ? this.#onRejected(call, error) : this.#recoverUnknownOutcome(call);
  }

  /**
   * Handles a confirm that the service rejected. The outcome is a success if a lookup shows that the payment was
   * confirmed before, perhaps not by this gateway. Exception: if earlier confirms have unknown results, all with other
   * inputs, one of them may have confirmed the payment, so the outcome is the rejection.
   */
  async #onRejected(call: ConfirmCall, rejection: ConfirmOutcome): Promise<ConfirmCompletion> {
    const { request, beginResult, comparison } = call;
    const payment = await this.#lookUpWithin(this.options.requestTimeoutMs * 0.9, request);
    if (!payment || !hasMovedOn(payment, request) || STATUSES_REACHABLE_WITHOUT_CONFIRM.has(payment.status))
      return { outcome: rejection, resultToRecord: notCarriedOutResult(beginResult) };
    const mayBeEffectOfOtherInput = comparison.otherUnresolved && !comparison.wasSent;
    return {
      outcome: mayBeEffectOfOtherInput ? rejection : asReplay(payment),
      resultToRecord: this.#movedOnResult(call, payment),
    };
  }

  /**
   * Handles an unknown outcome. If a lookup shows that the payment has moved on, this confirm counts as carried out.
   * Otherwise, its result is unknown. Makes no lookup if there are earlier confirms with unknown results, all with
   * other inputs: one of them may have moved the payment on.
   */
  async #recoverUnknownOutcome(call: ConfirmCall): Promise<ConfirmCompletion> {
    const { request, claim, comparison } = call;
    const mayBeEffectOfOtherInput = comparison.otherUnresolved && !comparison.wasSent;
    const { requestTimeoutMs, journalSession } = this.options;
    const { runtime } = journalSession;
    const deadline = runtime.monotonic() + requestTimeoutMs * 0.9;
    for (const delayMs of mayBeEffectOfOtherInput ? [] : LOOKUP_DELAYS_MS) {
      if (runtime.monotonic() + delayMs >= deadline) break;
      await runtime.sleep(delayMs);
      const payment = await this.#lookUpWithin(deadline - runtime.monotonic(), request);
      if (payment && hasMovedOn(payment, request)) {
        const confirmedInputs = this.#toConfirmedInputs(call, [claim.inputHash], payment);
        return { outcome: asReplay(payment), resultToRecord: { outcome: 'known', confirmedInputs } };
      }
    }
    const outcome = unknownConfirmOutcomeError(request.transactionId);
    return { outcome, resultToRecord: { outcome: 'unknown', confirmedInputs: [] } };
  }

  /**
   * Returns the result to record if the payment has moved on without this confirm. Earlier confirms with unknown
   * results are then recorded as carried out. Exception: if none of them had this input, and
   * `comparison.isIncomparable` is true, their results stay unknown.
   */
  #movedOnResult(call: ConfirmCall, payment: PaymentResource): EndedConfirm {
    const { beginResult, comparison } = call;
    if (!comparison.wasSent && (comparison.isIncomparable || !beginResult.isEarlierOutcomeUnknown))
      return notCarriedOutResult(beginResult);
    return {
      outcome: 'known',
      confirmedInputs: this.#toConfirmedInputs(call, beginResult.unresolvedInputHashes, payment),
    };
  }

  #toConfirmedInputs(
    { claim }: ConfirmCall,
    inputHashes: readonly string[],
    { rawStatus }: PaymentResource,
  ): ConfirmedInput[] {
    const { service, channel, transactionId } = claim;
    const paymentRef = { service, channel, transactionId };
    const confirmedAt = this.options.journalSession.clock.now();
    return inputHashes.map((inputHash) => ({ ...paymentRef, inputHash, status: rawStatus, confirmedAt }));
  }

  #lookUpWithin(limitMs: number, request: ConfirmRequest): Promise<PaymentResource | null> {
    const { payments, journalSession } = this.options;
    return withTimeout(limitMs, payments.lookUp(request), journalSession.runtime).catch(() => null);
  }

  /** Returns the payment of a replayed confirm from a lookup or, if that fails or finds none, from the journal. */
  async #lookUpOrReadFromJournal(
    request: ConfirmRequest,
    { status }: ConfirmedInput,
  ): Promise<PaymentResource> {
    const { payments } = this.options;
    const { channel, transactionId, definition } = request;
    const currentPayment = await payments.lookUp(request).catch(() => null);
    return currentPayment ?? payments.resourceFromJournal(transactionId, status, { channel, definition });
  }
}

/**
 * Whether a payment no longer awaits the confirm: it is completed, failed or mispaid, or its state is known and is not
 * the state in which its method waits for the confirm.
 */
function hasMovedOn(payment: PaymentResource, request: ConfirmRequest): boolean {
  const state = presentOrNull(payment.state);
  const isKnownState = state !== null && state !== PaymentState.UNKNOWN;
  return (
    payment.status === PaymentStatus.COMPLETED ||
    STATUSES_REACHABLE_WITHOUT_CONFIRM.has(payment.status) ||
    (isKnownState && state !== request.definition.confirmation?.waitingState)
  );
}
