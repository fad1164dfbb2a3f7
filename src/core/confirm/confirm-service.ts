import type {
  ConfirmBeginResult,
  ConfirmClaim,
  ConfirmResult,
  ConfirmedInput,
} from '../../datasources/journal/journal';
import type { ConfirmRequest, PaymentService } from '../../datasources/payment-service/payments';
import { notTriedError } from '../../datasources/payment-service/service-error';
import { PaymentState, PaymentStatus, type PaymentResource } from '../../schema/payment';
import { presentOrNull } from '../../schema/lazy-field';
import type { ConfirmPaymentResult, PaymentSuccess } from '../../schema/mutations';
import {
  confirmInProgressError,
  confirmOutcomeUnknownError,
  confirmRejectedError,
} from '../../schema/user-errors';
import { ConfirmClaims, notCarriedOutResult } from './confirm-claims';
import { compareHistory } from './confirm-history';
import { withTimeout } from '../../shared/timeout';
import type { KeyedHashes } from '../create/keyed-hashes';
import type { JournalSession } from '../journal-session';

type ConfirmOutcome =
  { found: PaymentResource; replayed: boolean } | Exclude<ConfirmPaymentResult, PaymentSuccess>;

interface ConfirmServiceOptions {
  session: JournalSession;
  payments: PaymentService;
  hashes: KeyedHashes;
  timeoutMs: number;
}

const NOT_FOUND_MESSAGE =
  'The payment may have been confirmed before, but the payment service did not find it; this call sent nothing. Repeat it unchanged.';

/** Delays in ms before the lookups after a confirm of unknown outcome, each from the end of the previous lookup. */
const LOOKUP_DELAYS_MS = [0, 300, 900];

/** Statuses that a payment can reach without a confirm. They do not prove that a confirm was carried out. */
const REACHABLE_WITHOUT_CONFIRM: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** A confirm that has claimed its payment in the journal. */
interface ConfirmCall {
  request: ConfirmRequest;
  claim: ConfirmClaim;
  beginResult: ConfirmBeginResult;
  history: ReturnType<typeof compareHistory> & {
    /** Whether the fence is up (see JournalFence): the journal may have lost a confirm with this or another input. */
    confirmMayBeLost: boolean;
  };
}

/** The result of a confirm: `outcome` for the caller, `result` for the journal. */
interface ConfirmCompletion {
  outcome: ConfirmOutcome;
  result: ConfirmResult;
}

const asReplay = (found: PaymentResource): ConfirmOutcome => ({ found, replayed: true });

/** Sends confirms, one at a time per payment. If necessary, first looks the payment up (docs/exactly-once.md). */
export class ConfirmService {
  readonly #claims: ConfirmClaims;

  constructor(private readonly options: ConfirmServiceOptions) {
    this.#claims = new ConfirmClaims(options.session);
  }

  /** Confirms a payment, or replays an earlier confirm with the same input. Continues if the caller disconnects. */
  confirm(request: ConfirmRequest): Promise<ConfirmOutcome> {
    return this.options.session.withLeaseRenewal(() => this.#claimAndConfirm(request));
  }

  /** Tries once more to record each unrecorded result. Never rejects. */
  flushUnrecorded(): Promise<void> {
    return this.#claims.flushUnrecorded();
  }

  async #claimAndConfirm(request: ConfirmRequest): Promise<ConfirmOutcome> {
    const { session, hashes } = this.options;
    // With an unsynchronized clock, this instance could take over a confirm that another instance has in flight.
    await session.ensureClockSync();
    await session.ensureFenceRead();
    session.requirePropagatedFence();
    const claim = this.#newClaim(request);
    const { id, inputHash } = claim;
    const beginResult = await this.#claims.begin(claim);
    let result = beginResult && notCarriedOutResult(beginResult);
    let repeated: ConfirmedInput | undefined;
    try {
      const confirmed = await session.failClosed(session.journal.confirmedInputs(claim));
      repeated = confirmed.find((each) => each.inputHash === inputHash);
      if (!repeated) {
        if (!beginResult) return confirmInProgressError();
        const isComparable = (hash: string): boolean => hashes.isComparable(hash);
        // A failover of the journal may have raised the fence (docs/exactly-once.md) since this instance last read it.
        await session.refreshFence();
        const comparison = compareHistory(inputHash, beginResult, confirmed, isComparable);
        const confirmMayBeLost = session.fence.active !== null;
        const isIncomparable = comparison.isIncomparable || confirmMayBeLost;
        const history = { ...comparison, isIncomparable, confirmMayBeLost };
        const completion = await this.#confirm({ request, claim, beginResult, history });
        result = completion.result;
        return completion.outcome;
      }
    } finally {
      if (result) await this.#claims.end(id, result);
    }
    return asReplay(await this.#lookUpOrReadFromJournal(request, repeated));
  }

  #newClaim(request: ConfirmRequest): ConfirmClaim {
    const { channel, transactionId, definition, fields } = request;
    const { session, hashes } = this.options;
    const { service } = session;
    return {
      id: session.runtime.randomUUID(),
      service,
      channel,
      transactionId,
      owner: session.owner,
      now: session.clock.now(),
      leaseUntil: session.leaseUntil(),
      inputHash: hashes.ofConfirm({ service, channel, transactionId, method: definition.type, fields }),
    };
  }

  /** Sends the confirm, unless a lookup finds no payment, or one that a confirm with this input may have moved on. */
  async #confirm(call: ConfirmCall): Promise<ConfirmCompletion> {
    const { request, beginResult, history } = call;
    const { payments } = this.options;
    const mayBeRepeat = history.wasSent || history.isIncomparable;
    const mustLookUp = mayBeRepeat || history.otherUnresolved;
    const before = mustLookUp ? await payments.lookUp(request) : null;
    // Sends nothing: the 404 may be from a proxy, so it does not prove that the payment still waits for the confirm.
    if (mustLookUp && !before) throw notTriedError(NOT_FOUND_MESSAGE);
    const movedOnPayment = before && hasMovedOn(before, request) ? before : null;
    if (movedOnPayment && mayBeRepeat) {
      // The payment may have moved on because of another input, so the outcome of this input stays unknown.
      const mayBeEffectOfOther = !history.wasSent && (history.otherUnresolved || history.confirmMayBeLost);
      if (history.otherConfirmed || mayBeEffectOfOther) {
        const outcome = confirmOutcomeUnknownError(request.transactionId);
        return { outcome, result: notCarriedOutResult(beginResult) };
      }
      return { outcome: asReplay(movedOnPayment), result: this.#resultOfMovedOn(call, movedOnPayment) };
    }
    // If the payment has moved on here, the unresolved earlier confirms had other inputs. Record them as carried out.
    const earlierInputs = movedOnPayment
      ? this.#toConfirmedInputs(call, beginResult.unresolvedInputHashes, movedOnPayment)
      : [];
    const outcome = await payments.confirm(request);
    if (outcome.kind === 'accepted') {
      const found = outcome.response;
      const inputs = [...earlierInputs, ...this.#toConfirmedInputs(call, [call.claim.inputHash], found)];
      return { outcome: { found, replayed: false }, result: { outcome: 'known', confirmedInputs: inputs } };
    }
    const failure =
      outcome.kind === 'refused'
        ? confirmRejectedError(outcome.httpStatus, outcome.message)
        : confirmOutcomeUnknownError(request.transactionId);
    if (history.otherConfirmed || earlierInputs.length > 0) {
      // Another input may have caused the state of the payment, so a lookup would prove nothing about this input.
      if (outcome.kind === 'unknown')
        return { outcome: failure, result: { outcome: 'unknown', confirmedInputs: earlierInputs } };
      const recordedOutcome = earlierInputs.length > 0 ? 'known' : notCarriedOutResult(beginResult).outcome;
      return { outcome: failure, result: { outcome: recordedOutcome, confirmedInputs: earlierInputs } };
    }
    return outcome.kind === 'refused' ? this.#onRejected(call, failure) : this.#recoverUnknownOutcome(call);
  }

  /**
   * Handles a confirm that the service rejected. If a lookup shows that the payment was confirmed before, perhaps not
   * by this gateway, the outcome is a success. Otherwise, it is the rejection. It is also the rejection if earlier
   * confirms with other inputs, but none with this input, have unknown results: one may have been carried out.
   */
  async #onRejected(call: ConfirmCall, rejection: ConfirmOutcome): Promise<ConfirmCompletion> {
    const { request, beginResult, history } = call;
    const found = await this.#lookUpWithin(this.options.timeoutMs * 0.9, request);
    if (!found || !hasMovedOn(found, request) || REACHABLE_WITHOUT_CONFIRM.has(found.status))
      return { outcome: rejection, result: notCarriedOutResult(beginResult) };
    const mayBeEffectOfOtherInput = history.otherUnresolved && !history.wasSent;
    return {
      outcome: mayBeEffectOfOtherInput ? rejection : asReplay(found),
      result: this.#resultOfMovedOn(call, found),
    };
  }

  /**
   * Handles an unknown outcome. If a lookup shows that the payment has moved on, this confirm counts as carried out.
   * Otherwise, its result is unknown. Makes no lookup if there are earlier confirms with unknown results, all with other
   * inputs: one of them may have moved the payment on.
   */
  async #recoverUnknownOutcome(call: ConfirmCall): Promise<ConfirmCompletion> {
    const { request, claim, history } = call;
    const mayBeEffectOfOther = history.otherUnresolved && !history.wasSent;
    const { timeoutMs, session } = this.options;
    const { runtime } = session;
    const deadline = runtime.monotonic() + timeoutMs * 0.9;
    for (const delay of mayBeEffectOfOther ? [] : LOOKUP_DELAYS_MS) {
      if (runtime.monotonic() + delay >= deadline) break;
      await runtime.sleep(delay);
      const found = await this.#lookUpWithin(deadline - runtime.monotonic(), request);
      if (found && hasMovedOn(found, request)) {
        const confirmedInputs = this.#toConfirmedInputs(call, [claim.inputHash], found);
        return { outcome: asReplay(found), result: { outcome: 'known', confirmedInputs } };
      }
    }
    const outcome = confirmOutcomeUnknownError(request.transactionId);
    return { outcome, result: { outcome: 'unknown', confirmedInputs: [] } };
  }

  /**
   * Returns the result to record if the payment has moved on without this confirm. Earlier confirms with unknown
   * results are then recorded as carried out. Exception: if none of them had this input, and `history.isIncomparable`
   * is true, their results stay unknown.
   */
  #resultOfMovedOn(call: ConfirmCall, found: PaymentResource): ConfirmResult {
    const { beginResult, history } = call;
    if (!history.wasSent && (history.isIncomparable || !beginResult.isPreviousOutcomeUnknown))
      return notCarriedOutResult(beginResult);
    return {
      outcome: 'known',
      confirmedInputs: this.#toConfirmedInputs(call, beginResult.unresolvedInputHashes, found),
    };
  }

  #toConfirmedInputs(
    { claim }: ConfirmCall,
    inputHashes: readonly string[],
    { rawStatus }: PaymentResource,
  ): ConfirmedInput[] {
    const { service, channel, transactionId } = claim;
    const payment = { service, channel, transactionId };
    const confirmedAt = this.options.session.clock.now();
    return inputHashes.map((inputHash) => ({ ...payment, inputHash, status: rawStatus, confirmedAt }));
  }

  #lookUpWithin(ms: number, request: ConfirmRequest): Promise<PaymentResource | null> {
    const { payments, session } = this.options;
    return withTimeout(ms, payments.lookUp(request), session.runtime).catch(() => null);
  }

  /** Returns the payment of a replayed confirm from a lookup or, if that fails or finds none, from the journal. */
  async #lookUpOrReadFromJournal(
    request: ConfirmRequest,
    { status }: ConfirmedInput,
  ): Promise<PaymentResource> {
    const { payments } = this.options;
    const { channel, transactionId, definition } = request;
    const current = await payments.lookUp(request).catch(() => null);
    return current ?? payments.resourceFromJournal(transactionId, status, { channel, definition });
  }
}

function hasMovedOn(payment: PaymentResource, request: ConfirmRequest): boolean {
  const state = presentOrNull(payment.state);
  const isKnownState = state !== null && state !== PaymentState.UNKNOWN;
  return (
    payment.status === PaymentStatus.COMPLETED ||
    REACHABLE_WITHOUT_CONFIRM.has(payment.status) ||
    (isKnownState && state !== request.definition.confirmation?.awaitsConfirmationIn)
  );
}
