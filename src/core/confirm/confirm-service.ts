import { randomUUID } from 'node:crypto';
import type {
  ConfirmBeginResult,
  ConfirmClaim,
  ConfirmResult,
  ConfirmedInput,
} from '../../datasources/journal/journal';
import type { ConfirmRequest, PaymentService } from '../../datasources/payment-service/payments';
import { PaymentState, PaymentStatus, type PaymentResource } from '../../schema/payment';
import { known } from '../../schema/lazy-field';
import { InFlightCounter } from '../../shared/in-flight-counter';
import { ConfirmClaims, notCarriedOut, type ConfirmClaimsOptions } from './confirm-claims';
import { ConfirmHistory } from './confirm-history';
import { sleep, withTimeout } from '../../shared/timeout';
import type { Fingerprints } from '../create/fingerprint';

/** How a confirm ended for its caller. */
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

/** The pauses between looks after a lost answer, in milliseconds. */
const LOOKS_MS = [0, 300, 900];

const FINISHED: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.COMPLETED,
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** One call, and what the journal said when it began. */
interface ConfirmCall {
  request: ConfirmRequest;
  claim: ConfirmClaim;
  begun: ConfirmBeginResult;
  history: ConfirmHistory;
}

/** How a call ended for its caller, and what the journal records of it. */
interface Ended {
  end: ConfirmOutcome;
  result: ConfirmResult;
}

const replay = (found: PaymentResource): ConfirmOutcome => ({ kind: 'success', found, replayed: true });

/** Statuses that a payment also reaches without a confirm: they do not show that one was carried out. */
const ENDED_WITHOUT_CONFIRM: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** Confirms one at a time per payment, and never twice what may have been done already. See docs/exactly-once.md. */
export class ConfirmService {
  readonly #options: ConfirmServiceOptions;
  readonly #claims: ConfirmClaims;
  readonly #underWay = new InFlightCounter();

  constructor(options: ConfirmServiceOptions) {
    this.#options = options;
    this.#claims = new ConfirmClaims(options);
  }

  /** Goes on to its end when the caller leaves. */
  confirm(request: ConfirmRequest): Promise<ConfirmOutcome> {
    return this.#underWay.track(this.#options.hand.withLeaseRenewal(() => this.#confirmWithLock(request)));
  }

  /** Resolves when no confirm is under way and each has been recorded, or tried to be once more. */
  async drained(): Promise<void> {
    await this.#underWay.drained();
    await this.#claims.flush();
  }

  async #confirmWithLock(request: ConfirmRequest): Promise<ConfirmOutcome> {
    const { hand, fingerprints } = this.#options;
    const claim = this.#newClaim(request);
    const { id, inputHash } = claim;
    const begun = await this.#claims.begin(claim);
    let result = begun && notCarriedOut(begun);
    let repeated: ConfirmedInput | undefined;
    try {
      const confirmed = await hand.failClosed(hand.journal.confirmedInputs(claim));
      repeated = confirmed.find((each) => each.inputHash === inputHash);
      if (!repeated) {
        if (!begun) return { kind: 'in_progress' };
        const history = new ConfirmHistory({ inputHash, begun, confirmed, fingerprints });
        const ended = await this.#confirm({ request, claim, begun, history });
        result = ended.result;
        return ended.end;
      }
    } finally {
      if (result) await this.#claims.end(id, result);
    }
    return replay(await this.#current(request, repeated));
  }

  #newClaim({ channel, transactionId, room, fields }: ConfirmRequest): ConfirmClaim {
    const { hand, fingerprints } = this.#options;
    const { service } = hand;
    const inputHash = fingerprints.ofConfirm({ service, channel, transactionId, method: room.type, fields });
    const lease = { ...hand.claim(0), leaseUntil: hand.leaseUntil() };
    return { id: randomUUID(), channel, transactionId, inputHash, ...lease };
  }

  /** Sends the confirm, unless the payment shows that this input was carried out before. */
  async #confirm(call: ConfirmCall): Promise<Ended> {
    const { request, begun, history } = call;
    const { payments } = this.#options;
    const before = history.needsLookup ? await payments.lookUp(request) : null;
    const movedBefore = before && hasMovedOn(before, request) ? before : null;
    if (movedBefore && history.mayBeRepeat) {
      // The other input explains why the payment has moved on: what became of this one remains unknown.
      if (history.otherConfirmed) return { end: { kind: 'unknown' }, result: notCarriedOut(begun) };
      return { end: replay(movedBefore), result: this.#resolved(call, movedBefore) };
    }
    // Another input moved the payment on: it counts as carried out, and this one is another confirm.
    const earlier = movedBefore ? this.#confirmedBy(call, begun.unresolvedHashes, movedBefore) : [];
    const outcome = await payments.confirm(request);
    if (outcome.kind === 'accepted') {
      const { answer } = outcome;
      const confirmed = [...earlier, ...this.#confirmedBy(call, [call.claim.inputHash], answer)];
      return {
        end: { kind: 'success', found: answer, replayed: false },
        result: { outcome: 'known', confirmed },
      };
    }
    const { otherConfirmed } = history;
    if (otherConfirmed || earlier.length > 0) {
      // That the payment has moved on says nothing about this input.
      const isRefused = outcome.kind === 'refused';
      const refusedOutcome = earlier.length > 0 ? 'known' : notCarriedOut(begun).outcome;
      return {
        end: outcome,
        result: { outcome: isRefused ? refusedOutcome : 'unknown', confirmed: earlier },
      };
    }
    return outcome.kind === 'refused' ? this.#refused(call, outcome) : this.#recoverLostResponse(call);
  }

  /** The service refused: an earlier confirm, perhaps around the gateway, may have been carried out. */
  async #refused(call: ConfirmCall, refusal: ConfirmOutcome): Promise<Ended> {
    const { request, begun, history } = call;
    const { payments, timeoutMs } = this.#options;
    const found = await withTimeout(timeoutMs * 0.9, payments.lookUp(request)).catch(() => null);
    if (!found || !hasMovedOn(found, request) || ENDED_WITHOUT_CONFIRM.has(found.status))
      return { end: refusal, result: notCarriedOut(begun) };
    const isOthersEffect = history.otherSuspect && !history.wasSent;
    return { end: isOthersEffect ? refusal : replay(found), result: this.#resolved(call, found) };
  }

  /** The response was lost: reads the payment and tells its state if it has moved on. */
  async #recoverLostResponse(call: ConfirmCall): Promise<Ended> {
    const { request, claim } = call;
    const { payments, timeoutMs } = this.#options;
    const deadline = performance.now() + timeoutMs * 0.9;
    for (const delay of LOOKS_MS) {
      if (performance.now() + delay >= deadline) break;
      await sleep(delay);
      const found = await withTimeout(deadline - performance.now(), payments.lookUp(request)).catch(
        () => null,
      );
      if (found && hasMovedOn(found, request)) {
        const confirmed = this.#confirmedBy(call, [claim.inputHash], found);
        return { end: replay(found), result: { outcome: 'known', confirmed } };
      }
    }
    return { end: { kind: 'unknown' }, result: { outcome: 'unknown', confirmed: [] } };
  }

  /** The payment has moved on: what was suspect counts as carried out, unless an input among it is not known. */
  #resolved(call: ConfirmCall, found: PaymentResource): ConfirmResult {
    const { begun, history } = call;
    if (!history.wasSent && (history.cannotTell || !begun.previousOutcomeUnknown))
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
    const confirmedAt = this.#options.hand.clock.now();
    return inputHashes.map((inputHash) => ({ ...payment, inputHash, status: rawStatus, confirmedAt }));
  }

  /** A payment that was confirmed: its current state, or the last known one if the lookup fails. */
  async #current(request: ConfirmRequest, { status }: ConfirmedInput): Promise<PaymentResource> {
    const { payments } = this.#options;
    const { channel, transactionId, room } = request;
    const now = await payments.lookUp(request).catch(() => null);
    return now ?? payments.remembered({ channel, transactionId, room, status });
  }
}

/** Whether a payment no longer waits for what the confirm hands in. A word that is not known proves nothing. */
function hasMovedOn(payment: PaymentResource, { room }: ConfirmRequest): boolean {
  const state = known(payment.state);
  const stateIsPlain = state !== null && state !== PaymentState.UNKNOWN;
  return FINISHED.has(payment.status) || (stateIsPlain && state !== room.confirmation?.answers);
}
