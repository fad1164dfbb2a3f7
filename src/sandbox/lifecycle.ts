import type { Clock } from '../shared/clock';
import { mispaidAmount, type TransactionFailure } from './final-states';
import { SandboxHttpError, invalidRequest } from './http-error';
import type { Store } from './store';
import { awaitsConfirm, isSettled, toMethodTransaction, type Payment, type Transaction } from './transaction';
import type { TransitionLog } from './transitions';

/** A confirm with this value, for example as UTR, is rejected. */
const REJECTED_CODE = '000000';
/** A payment confirmed with this value completes only after twice `settleAfterMs`. */
const SLOW_CODE = '111111';

const GENERIC_DECLINE: TransactionFailure = { code: 'DECLINED_GENERIC', message: 'The payment was declined' };

interface LifecycleParts {
  clock: Clock;
  store: Store;
  transitions: TransitionLog;
  /** Delay in ms before a transaction that does not wait for its payer gets its final status. */
  settleAfterMs: number;
  /** Called after each change of the status or state of a transaction; not for a new transaction. */
  onChange(transaction: Transaction): void;
}

/** Changes the status and state of transactions. No other class changes them. */
export class Lifecycle {
  constructor(private readonly parts: LifecycleParts) {}

  /** Stores a new transaction. Schedules its end, unless its amount keeps it open or its payer has to complete it. */
  begin(transaction: Transaction): void {
    this.parts.store.add(transaction);
    this.parts.transitions.record(transaction, this.parts.clock.now());
    if (transaction.outcome.neverEnds || (canComplete(transaction) && needsPayer(transaction))) return;
    this.scheduleEnd(transaction, this.parts.settleAfterMs);
  }

  /** Makes a pending payment `processing`, because the payer has opened the hosted page. */
  markPageOpened(payment: Payment): void {
    if (payment.status !== 'pending') return;
    payment.status = 'processing';
    this.reportChange(payment);
  }

  /** Completes a payment, or makes it wait for the provider (spec 3.4). Throws a 400 error for REJECTED_CODE. */
  confirm(payment: Payment, code: string | undefined): void {
    const field = payment.method.confirmField;
    if (field && code === REJECTED_CODE) throw invalidRequest({ [field]: 'was rejected' });
    const isSlow = code === SLOW_CODE;
    // Without a code (`field` is null) or with SLOW_CODE, the payment completes later.
    if (canComplete(payment) && field && !isSlow) return this.complete(payment);
    payment.state = 'waiting_for_provider';
    this.reportChange(payment);
    if (canComplete(payment)) this.scheduleEnd(payment, this.parts.settleAfterMs * (isSlow ? 2 : 1));
  }

  /** Ends a payment after the payer pressed Pay. If its amount keeps it open, makes it `processing` instead. */
  pay(payment: Payment): void {
    if (!payment.outcome.neverEnds) return this.end(payment);
    if (payment.status === 'processing' && !awaitsConfirm(payment)) return;
    payment.status = 'processing';
    if (payment.state) payment.state = 'waiting_for_provider';
    this.reportChange(payment);
  }

  /** Ends a transaction with the status that its amount selects, or `completed`. Throws a 409 error if it is final. */
  end(transaction: Transaction): void {
    throwIfSettled(transaction);
    const { error, mispaid } = transaction.outcome;
    if (error) this.decline(transaction, error);
    else if (mispaid && transaction.kind === 'payment')
      this.mispay(transaction, mispaidAmount(transaction.amount.value, mispaid));
    else this.complete(transaction);
  }

  /** Makes a transaction fail. Throws a 409 error if it is final. */
  decline(transaction: Transaction, error: TransactionFailure = GENERIC_DECLINE): void {
    throwIfSettled(transaction);
    transaction.status = 'failed';
    transaction.error = error;
    this.finish(transaction);
  }

  /** Makes a payment mispaid. `received`: the received amount, by default half. Throws a 409 error if it is final. */
  mispay(payment: Payment, received = mispaidAmount(payment.amount.value, 'less')): void {
    throwIfSettled(payment);
    payment.status = 'mispaid';
    payment.amount = { ...payment.amount, received };
    this.finish(payment);
  }

  private complete(transaction: Transaction): void {
    transaction.status = 'completed';
    this.finish(transaction);
  }

  private finish(transaction: Transaction): void {
    transaction.timer?.cancel();
    if (transaction.kind === 'payment') {
      transaction.state = undefined;
      const added =
        transaction.flow === 'redirect' &&
        transaction.method.fieldsAfterPayment?.(toMethodTransaction(transaction));
      if (added) transaction.added = { ...transaction.added, ...added };
    }
    this.parts.store.markSettled(transaction);
    this.reportChange(transaction);
  }

  private reportChange(transaction: Transaction): void {
    this.parts.transitions.record(transaction, this.parts.clock.now());
    this.parts.onChange(transaction);
  }

  private scheduleEnd(transaction: Transaction, ms: number): void {
    transaction.timer?.cancel();
    transaction.timer = this.parts.clock.after(ms, () => this.end(transaction));
  }
}

function throwIfSettled(transaction: Transaction): void {
  if (isSettled(transaction)) throw new SandboxHttpError(409, 'The transaction already has a final status');
}

/** Whether the amount of a payment lets the payment complete. (A payout completes even if `mispaid` is set.) */
const canComplete = ({ outcome }: Transaction): boolean =>
  !outcome.error && !outcome.mispaid && !outcome.neverEnds;

/** Whether a transaction waits for its payer: for a choice on the hosted page, or for a confirm. */
function needsPayer(transaction: Transaction): boolean {
  if (transaction.kind === 'payout') return false;
  return transaction.flow === 'redirect' || awaitsConfirm(transaction);
}
