import type { Clock } from '../shared/clock';
import { mispaidAmount, type TransactionFailure } from './simulated-outcome';
import { SandboxHttpError, invalidRequestError } from './http-error';
import type { TransactionStore } from './store';
import {
  awaitsConfirm,
  hasFinalStatus,
  toMethodFunctionArgument,
  type Payment,
  type Transaction,
} from './transaction';
import { TransitionLog } from './transition-log';

/** The sandbox rejects a confirm whose UTR or code is this value. */
const REJECTED_CONFIRM_CODE = '000000';
/** UTR or code that delays success: if the amount selects success, the payment completes after 2 × `settleAfterMs`. */
const SLOW_CONFIRM_CODE = '111111';

export const GENERIC_DECLINE = { code: 'DECLINED_GENERIC', message: 'The payment was declined' };

interface LifecycleDependencies {
  clock: Clock;
  store: TransactionStore;
  /**
   * Delay in ms from start() or confirm() to the final status that it schedules. After a confirm with
   * SLOW_CONFIRM_CODE, the delay is twice as long.
   */
  settleAfterMs: number;
  /** Called after each change of a transaction's status or state, but not for a new transaction. */
  onChange(transaction: Transaction): void;
}

/** State machine of transactions: the only class that changes their status and state. */
export class Lifecycle {
  readonly transitionLog = new TransitionLog();

  constructor(private readonly dependencies: LifecycleDependencies) {}

  /**
   * Stores a new transaction. Schedules its final status in two cases:
   * - The amount selects failure or mispayment (simulated-outcome.ts).
   * - The amount selects success, and the transaction does not wait for its payer.
   */
  start(transaction: Transaction): void {
    this.dependencies.store.add(transaction);
    this.transitionLog.record(transaction, this.dependencies.clock.now());
    if (transaction.simulatedOutcome.neverEnds || (simulatesSuccess(transaction) && needsPayer(transaction)))
      return;
    this.scheduleOutcome(transaction, this.dependencies.settleAfterMs);
  }

  /** Makes a pending payment `processing` after the payer opened the hosted page. */
  markPageOpened(payment: Payment): void {
    if (payment.status !== 'pending') return;
    payment.status = 'processing';
    this.reportChange(payment);
  }

  /**
   * Confirms a payment. `confirmCode`: the UTR or code in the confirm; undefined if the method has none (card-to-card).
   * - REJECTED_CONFIRM_CODE: throws a 400 error.
   * - Any other code except SLOW_CONFIRM_CODE: if the amount selects success, the payment completes immediately.
   * - In all other cases the payment waits for the provider (spec 3.4). Its final status follows later, or never if the
   *   amount selects `neverEnds`.
   */
  confirm(payment: Payment, confirmCode: string | undefined): void {
    const { confirmField } = payment.method;
    if (confirmField && confirmCode === REJECTED_CONFIRM_CODE)
      throw invalidRequestError({ [confirmField]: 'was rejected' });
    const isSlowCode = confirmCode === SLOW_CONFIRM_CODE;
    if (simulatesSuccess(payment) && confirmField && !isSlowCode) return this.complete(payment);
    payment.state = 'waiting_for_provider';
    this.reportChange(payment);
    if (simulatesSuccess(payment))
      this.scheduleOutcome(payment, this.dependencies.settleAfterMs * (isSlowCode ? 2 : 1));
  }

  /**
   * Gives a payment its final status after the payer pressed Pay. If the amount selects `neverEnds`, the payment only
   * becomes `processing`.
   */
  pay(payment: Payment): void {
    if (!payment.simulatedOutcome.neverEnds) return this.applyOutcome(payment);
    if (payment.status === 'processing' && !awaitsConfirm(payment)) return;
    payment.status = 'processing';
    if (payment.state) payment.state = 'waiting_for_provider';
    this.reportChange(payment);
  }

  /**
   * Sets the final status that the amount selects, by default `completed`. Throws a 409 error if the transaction is
   * already final.
   */
  applyOutcome(transaction: Transaction): void {
    throwIfFinal(transaction);
    const { failure, mispayment } = transaction.simulatedOutcome;
    if (failure) this.decline(transaction, failure);
    else if (mispayment && transaction.kind === 'payment')
      this.mispay(transaction, mispaidAmount(transaction.amount.value, mispayment));
    else this.complete(transaction);
  }

  /** Makes a transaction fail, by default with DECLINED_GENERIC. Throws a 409 error if it is already final. */
  decline(transaction: Transaction, failure: TransactionFailure = GENERIC_DECLINE): void {
    throwIfFinal(transaction);
    transaction.status = 'failed';
    transaction.error = failure;
    this.finalize(transaction);
  }

  /**
   * Makes a payment mispaid. `receivedAmount`: the amount paid, by default half of the requested. Throws a 409 error
   * if the payment is already final.
   */
  mispay(payment: Payment, receivedAmount = mispaidAmount(payment.amount.value, 'less')): void {
    throwIfFinal(payment);
    payment.status = 'mispaid';
    payment.amount = { ...payment.amount, received: receivedAmount };
    this.finalize(payment);
  }

  private complete(transaction: Transaction): void {
    transaction.status = 'completed';
    this.finalize(transaction);
  }

  private finalize(transaction: Transaction): void {
    transaction.outcomeTimer?.cancel();
    if (transaction.kind === 'payment') {
      transaction.state = undefined;
      const fieldsWhenFinal =
        transaction.flow === 'redirect' &&
        transaction.method.fieldsWhenFinal?.(toMethodFunctionArgument(transaction));
      if (fieldsWhenFinal) transaction.addedFields = { ...transaction.addedFields, ...fieldsWhenFinal };
    }
    this.dependencies.store.markFinal(transaction);
    this.reportChange(transaction);
  }

  private reportChange(transaction: Transaction): void {
    this.transitionLog.record(transaction, this.dependencies.clock.now());
    this.dependencies.onChange(transaction);
  }

  private scheduleOutcome(transaction: Transaction, delayMs: number): void {
    transaction.outcomeTimer?.cancel();
    transaction.outcomeTimer = this.dependencies.clock.after(delayMs, () => this.applyOutcome(transaction));
  }
}

function throwIfFinal(transaction: Transaction): void {
  if (hasFinalStatus(transaction))
    throw new SandboxHttpError(409, 'The transaction already has a final status');
}

const simulatesSuccess = ({ simulatedOutcome: outcome }: Transaction): boolean =>
  !outcome.failure && !outcome.mispayment && !outcome.neverEnds;

/** Whether a transaction waits for its payer: on the hosted page, or for a confirm. */
function needsPayer(transaction: Transaction): boolean {
  if (transaction.kind === 'payout') return false;
  return transaction.flow === 'redirect' || awaitsConfirm(transaction);
}
