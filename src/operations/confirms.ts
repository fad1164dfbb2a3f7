import { randomUUID } from 'node:crypto';
import type { MoneyOutcome } from '../datasources/service/answers';
import type { ConfirmRequest, PaymentService } from '../datasources/service/payments';
import { PaymentState, PaymentStatus, type PaymentResource } from '../schema/payment';
import { known } from '../schema/service-field';
import { UnderWay } from '../under-way';
import { pause, within } from './deadline';
import type { JournalHand } from './journal-hand';

/** How a confirm ended for its caller. */
export type ConfirmEnd =
  | { kind: 'success'; found: PaymentResource; replayed: boolean }
  | { kind: 'refused'; httpStatus: number; message: string }
  | { kind: 'in_progress' }
  | { kind: 'unknown' };

interface ConfirmsOptions {
  hand: JournalHand;
  payments: PaymentService;
  timeoutMs: number;
}

/** The pauses between looks after a lost answer, in milliseconds. */
const LOOKS_MS = [0, 300, 900];

const FINISHED: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.COMPLETED,
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** Confirms one at a time per payment, and never twice what may have been done already. */
export class Confirms {
  readonly #options: ConfirmsOptions;
  readonly #underWay = new UnderWay();

  constructor(options: ConfirmsOptions) {
    this.#options = options;
  }

  /** Goes on to its end when the caller leaves. */
  confirm(request: ConfirmRequest): Promise<ConfirmEnd> {
    return this.#underWay.follow(this.#options.hand.alive(() => this.#claimed(request)));
  }

  /** Resolves when no confirm is under way. */
  idle(): Promise<void> {
    return this.#underWay.idle();
  }

  async #claimed(request: ConfirmRequest): Promise<ConfirmEnd> {
    const { hand } = this.#options;
    const id = randomUUID();
    const { channel, transactionId } = request;
    const claim = { id, channel, transactionId, ...hand.claim(0), leaseUntil: hand.leaseUntil() };
    const begun = hand.journal.beginConfirm(claim);
    const right = await hand.required(begun).catch((error: unknown) => {
      // It may have been written all the same.
      void begun.then(
        () => hand.journal.endConfirm(id, true),
        () => undefined,
      );
      throw error;
    });
    if (!right) return { kind: 'in_progress' };
    let resultKnown = false;
    try {
      const end = await this.#confirm(request, right.suspect);
      resultKnown = end.kind !== 'unknown';
      return end;
    } catch (error) {
      // Nothing was sent now; what an earlier confirm did is as unknown as before.
      resultKnown = !right.suspect;
      throw error;
    } finally {
      const ended = hand.journal.endConfirm(id, resultKnown).catch(() => undefined);
      await within(250, ended).catch(() => undefined);
    }
  }

  /** @param suspect whether an earlier confirm may have reached the service: then its effect is looked for first */
  async #confirm(request: ConfirmRequest, suspect: boolean): Promise<ConfirmEnd> {
    const { payments } = this.#options;
    if (suspect) {
      const before = await payments.lookUp(request);
      if (before && hasMovedOn(before, request)) return { kind: 'success', found: before, replayed: true };
    }
    const outcome: MoneyOutcome<PaymentResource> = await payments.confirm(request);
    if (outcome.kind === 'accepted') return { kind: 'success', found: outcome.answer, replayed: false };
    return outcome.kind === 'refused' ? outcome : this.#search(request);
  }

  /** The answer was lost: reads the payment and tells its state if it has moved on. */
  async #search(request: ConfirmRequest): Promise<ConfirmEnd> {
    const { payments, timeoutMs } = this.#options;
    const deadline = performance.now() + timeoutMs * 0.9;
    for (const delay of LOOKS_MS) {
      if (performance.now() + delay >= deadline) break;
      await pause(delay);
      const found = await within(deadline - performance.now(), payments.lookUp(request)).catch(() => null);
      if (found && hasMovedOn(found, request)) return { kind: 'success', found, replayed: true };
    }
    return { kind: 'unknown' };
  }
}

/** Whether a payment no longer waits for what the confirm hands in. A word that is not known proves nothing. */
function hasMovedOn(payment: PaymentResource, { room }: ConfirmRequest): boolean {
  const state = known(payment.state);
  const stateIsPlain = state !== null && state !== PaymentState.UNKNOWN;
  return FINISHED.has(payment.status) || (stateIsPlain && state !== room.confirmation?.answers);
}
