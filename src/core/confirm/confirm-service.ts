import { randomUUID } from 'node:crypto';
import type {
  ConfirmBeginResult,
  ConfirmClaim,
  ConfirmResult,
  ConfirmedInput,
} from '../../datasources/journal/journal';
import type { ConfirmRequest, PaymentService } from '../../datasources/payment-service/payments';
import { PaymentState, PaymentStatus, type PaymentResource } from '../../schema/payment';
import { valueOrNull } from '../../schema/lazy-field';
import { InFlightCounter } from '../../shared/in-flight-counter';
import { ConfirmClaims, notCarriedOut, type ConfirmClaimsOptions } from './confirm-claims';
import { sleep, withTimeout } from '../../shared/timeout';
import type { Fingerprints } from '../create/fingerprint';

/** The result of a confirm for its caller. */
export type ConfirmOutcome =
  | { kind: 'success'; found: PaymentResource; replayed: boolean }
  | { kind: 'refused'; httpStatus: number; message: string }
  | { kind: 'in_progress' }
  | { kind: 'unknown' };

interface ConfirmServiceOptions extends ConfirmClaimsOptions {
  payments: PaymentService;
  fingerprints: Fingerprints;
  timeoutMs: number;
}

/** Delays before the lookups after a lost response, in milliseconds. */
const LOOKUP_DELAYS_MS = [0, 300, 900];

const FINISHED: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.COMPLETED,
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** A confirm that holds its claim in the journal. */
interface ConfirmCall {
  request: ConfirmRequest;
  claim: ConfirmClaim;
  begun: ConfirmBeginResult;
  history: ReturnType<typeof compareHistory>;
}

/** The result for the caller, and the one for the journal. */
interface ConfirmCompletion {
  outcome: ConfirmOutcome;
  result: ConfirmResult;
}

const replay = (found: PaymentResource): ConfirmOutcome => ({ kind: 'success', found, replayed: true });

/** Statuses that a payment also reaches without a confirm, so they do not prove one. */
const ENDED_WITHOUT_CONFIRM: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** Sends one confirm at a time per payment, and none that may already have been carried out. See docs/exactly-once.md. */
export class ConfirmService {
  readonly #options: ConfirmServiceOptions;
  readonly #claims: ConfirmClaims;
  readonly #inFlight = new InFlightCounter();

  constructor(options: ConfirmServiceOptions) {
    this.#options = options;
    this.#claims = new ConfirmClaims(options);
  }

  /** Continues when the caller disconnects. */
  confirm(request: ConfirmRequest): Promise<ConfirmOutcome> {
    return this.#inFlight.track(this.#options.session.withLeaseRenewal(() => this.#confirmWithLock(request)));
  }

  /** Resolves when no confirm is in flight, after one more try to record their results. */
  async drained(): Promise<void> {
    await this.#inFlight.drained();
    await this.#claims.flush();
  }

  async #confirmWithLock(request: ConfirmRequest): Promise<ConfirmOutcome> {
    const { session, fingerprints } = this.#options;
    const claim = this.#newClaim(request);
    const { id, inputHash } = claim;
    const begun = await this.#claims.begin(claim);
    let result = begun && notCarriedOut(begun);
    let repeated: ConfirmedInput | undefined;
    try {
      const confirmed = await session.failClosed(session.journal.confirmedInputs(claim));
      repeated = confirmed.find((each) => each.inputHash === inputHash);
      if (!repeated) {
        if (!begun) return { kind: 'in_progress' };
        const isComparable = (hash: string): boolean => fingerprints.isComparable(hash);
        const history = compareHistory(inputHash, begun, confirmed, isComparable);
        const completion = await this.#confirm({ request, claim, begun, history });
        result = completion.result;
        return completion.outcome;
      }
    } finally {
      if (result) await this.#claims.end(id, result);
    }
    return replay(await this.#current(request, repeated));
  }

  #newClaim(request: ConfirmRequest): ConfirmClaim {
    const { channel, transactionId, fields } = request;
    const { session, fingerprints } = this.#options;
    const { service } = session;
    const method = request.definition.type;
    const inputHash = fingerprints.ofConfirm({ service, channel, transactionId, method, fields });
    return {
      id: randomUUID(),
      service,
      channel,
      transactionId,
      owner: session.owner,
      now: session.clock.now(),
      leaseUntil: session.leaseUntil(),
      inputHash,
    };
  }

  /** Sends the confirm, unless the payment shows that this input was carried out before. */
  async #confirm(call: ConfirmCall): Promise<ConfirmCompletion> {
    const { request, begun, history } = call;
    const { payments } = this.#options;
    const mayBeRepeat = history.wasSent || history.isIncomparable;
    const before = mayBeRepeat || history.otherUnresolved ? await payments.lookUp(request) : null;
    const movedBefore = before && hasMovedOn(before, request) ? before : null;
    if (movedBefore && mayBeRepeat) {
      // The other input explains why the payment has moved on; the outcome of this one stays unknown.
      if (history.otherConfirmed) return { outcome: { kind: 'unknown' }, result: notCarriedOut(begun) };
      return { outcome: replay(movedBefore), result: this.#resolved(call, movedBefore) };
    }
    // The other input counts as carried out; this confirm is a further one.
    const earlier = movedBefore ? this.#confirmedBy(call, begun.unresolvedHashes, movedBefore) : [];
    const outcome = await payments.confirm(request);
    if (outcome.kind === 'accepted') {
      const found = outcome.response;
      const confirmed = [...earlier, ...this.#confirmedBy(call, [call.claim.inputHash], found)];
      return {
        outcome: { kind: 'success', found, replayed: false },
        result: { outcome: 'known', confirmed },
      };
    }
    const { otherConfirmed } = history;
    if (otherConfirmed || earlier.length > 0) {
      // The state of the payment proves nothing about this input.
      if (outcome.kind === 'unknown') return { outcome, result: { outcome: 'unknown', confirmed: earlier } };
      const recorded = earlier.length > 0 ? 'known' : notCarriedOut(begun).outcome;
      return { outcome, result: { outcome: recorded, confirmed: earlier } };
    }
    return outcome.kind === 'refused' ? this.#onRejected(call, outcome) : this.#recoverLostResponse(call);
  }

  /** The service rejected the confirm, perhaps because an earlier one was carried out (also one that bypassed the gateway). */
  async #onRejected(call: ConfirmCall, rejection: ConfirmOutcome): Promise<ConfirmCompletion> {
    const { request, begun, history } = call;
    const { payments, timeoutMs } = this.#options;
    const found = await withTimeout(timeoutMs * 0.9, payments.lookUp(request)).catch(() => null);
    if (!found || !hasMovedOn(found, request) || ENDED_WITHOUT_CONFIRM.has(found.status))
      return { outcome: rejection, result: notCarriedOut(begun) };
    const isOthersEffect = history.otherUnresolved && !history.wasSent;
    return { outcome: isOthersEffect ? rejection : replay(found), result: this.#resolved(call, found) };
  }

  /** The response was lost: looks the payment up, and returns its state if it has moved on. */
  async #recoverLostResponse(call: ConfirmCall): Promise<ConfirmCompletion> {
    const { request, claim } = call;
    const { payments, timeoutMs } = this.#options;
    const deadline = performance.now() + timeoutMs * 0.9;
    for (const delay of LOOKUP_DELAYS_MS) {
      if (performance.now() + delay >= deadline) break;
      await sleep(delay);
      const found = await withTimeout(deadline - performance.now(), payments.lookUp(request)).catch(
        () => null,
      );
      if (found && hasMovedOn(found, request)) {
        const confirmed = this.#confirmedBy(call, [claim.inputHash], found);
        return { outcome: replay(found), result: { outcome: 'known', confirmed } };
      }
    }
    return { outcome: { kind: 'unknown' }, result: { outcome: 'unknown', confirmed: [] } };
  }

  /** The payment has moved on: unresolved confirms count as carried out, unless an input among them is not known. */
  #resolved(call: ConfirmCall, found: PaymentResource): ConfirmResult {
    const { begun, history } = call;
    if (!history.wasSent && (history.isIncomparable || !begun.previousOutcomeUnknown))
      return notCarriedOut(begun);
    return { outcome: 'known', confirmed: this.#confirmedBy(call, begun.unresolvedHashes, found) };
  }

  #confirmedBy(
    { claim }: ConfirmCall,
    inputHashes: readonly string[],
    { rawStatus }: PaymentResource,
  ): ConfirmedInput[] {
    const { service, channel, transactionId } = claim;
    const payment = { service, channel, transactionId };
    const confirmedAt = this.#options.session.clock.now();
    return inputHashes.map((inputHash) => ({ ...payment, inputHash, status: rawStatus, confirmedAt }));
  }

  /** The current state of a confirmed payment, or the recorded one if the lookup fails. */
  async #current(request: ConfirmRequest, { status }: ConfirmedInput): Promise<PaymentResource> {
    const { payments } = this.#options;
    const { channel, transactionId } = request;
    const current = await payments.lookUp(request).catch(() => null);
    return current ?? payments.remembered({ channel, transactionId, definition: request.definition, status });
  }
}

/** Compares earlier confirms of a payment with the input of the current one. */
function compareHistory(
  inputHash: string,
  { unresolvedHashes, previousOutcomeUnknown }: ConfirmBeginResult,
  confirmed: readonly ConfirmedInput[],
  isComparable: (hash: string) => boolean,
) {
  const hashes = [...unresolvedHashes, ...confirmed.map((each) => each.inputHash)];
  const isOther = (hash: string): boolean => hash !== inputHash && isComparable(hash);
  // Without a hash the input of an earlier confirm was not recorded.
  const isUnrecorded = previousOutcomeUnknown && unresolvedHashes.length === 0;
  return {
    /** The same input was sent before and may have been carried out. */
    wasSent: unresolvedHashes.includes(inputHash),
    /** An earlier input cannot be compared: it was not recorded, or hashed with another key. */
    isIncomparable: isUnrecorded || !hashes.every(isComparable),
    /** The payment was confirmed with another input. */
    otherConfirmed: confirmed.some((each) => isOther(each.inputHash)),
    /** Another input was sent before and may have been carried out. */
    otherUnresolved: unresolvedHashes.some(isOther),
  };
}

/** Whether a payment no longer waits for this confirm. An unknown state word proves nothing. */
function hasMovedOn(payment: PaymentResource, request: ConfirmRequest): boolean {
  const state = valueOrNull(payment.state);
  const isKnownState = state !== null && state !== PaymentState.UNKNOWN;
  return (
    FINISHED.has(payment.status) || (isKnownState && state !== request.definition.confirmation?.confirmsState)
  );
}
