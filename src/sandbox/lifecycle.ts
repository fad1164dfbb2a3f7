import { Refusal, invalid } from './refusal';
import type { Clock } from './clock';
import {
  LATEST_SETTLEMENT_MS,
  receivedInstead,
  type FinalState,
  type TransactionError,
} from './final-states';
import type { Store } from './store';
import { isSettled, methodView, type Payment, type Transaction } from './transaction';

/** Confirm answers with a meaning of their own; any other is right. */
const REFUSED_ANSWER = '000000';
const SLOW_ANSWER = '111111';

const DECLINED: TransactionError = { code: 'DECLINED_GENERIC', message: 'The payment was declined' };

export interface LifecycleParts {
  clock: Clock;
  store: Store;
  settleAfterMs: number;
  /** Told of every change of a status or a state. */
  changed(transaction: Transaction): void;
}

/** The only place where a status or a state changes. */
export class Lifecycle {
  constructor(private readonly parts: LifecycleParts) {}

  /** Takes in a new transaction and sets what becomes of it by itself. */
  begin(transaction: Transaction): void {
    this.parts.store.add(transaction);
    const { ending } = transaction.outcome;
    if (ending.kind === 'never') return;
    const forced = ending.kind !== 'complete';
    const delay = Math.min(this.parts.settleAfterMs, LATEST_SETTLEMENT_MS);
    if (forced || !needsThePayer(transaction)) this.endLater(transaction, delay);
  }

  /** The payer has opened the hosted page. */
  open(payment: Payment): void {
    if (payment.status !== 'pending') return;
    payment.status = 'processing';
    this.parts.changed(payment);
  }

  /** Spec 3.4: a confirm completes the payment or leaves it waiting for the provider. */
  confirm(payment: Payment, answer: string | undefined): void {
    const field = payment.method.confirmField;
    if (field && answer === REFUSED_ANSWER) throw invalid({ [field]: 'was refused' });
    const slow = answer === SLOW_ANSWER;
    const succeeds = payment.outcome.ending.kind === 'complete';
    // Where the payer has proved nothing (the body held only the id), the provider has to look first.
    if (succeeds && field && !slow) return this.complete(payment);
    payment.state = 'waiting_for_provider';
    this.parts.changed(payment);
    if (succeeds) this.endLater(payment, this.parts.settleAfterMs * (slow ? 2 : 1));
  }

  /** The payer pressed Pay: it ends as its amount says, which may be never. */
  pay(payment: Payment): void {
    if (payment.outcome.ending.kind !== 'never') return this.end(payment);
    if (payment.status === 'processing' && isWaitingForProvider(payment)) return;
    payment.status = 'processing';
    if (payment.state) payment.state = 'waiting_for_provider';
    this.parts.changed(payment);
  }

  /** Ends it as its amount says, at once; what would never end completes. */
  end(transaction: Transaction): void {
    this.requireOpen(transaction);
    const { ending } = transaction.outcome;
    this.endings[ending.kind](transaction, ending);
  }

  decline(transaction: Transaction, error: TransactionError = DECLINED): void {
    this.requireOpen(transaction);
    transaction.status = 'failed';
    transaction.error = error;
    this.settled(transaction);
  }

  /** Ends a payment with another amount than was asked for. */
  mispay(payment: Payment, received: string): void {
    this.requireOpen(payment);
    payment.status = 'mispaid';
    payment.amount = { ...payment.amount, received };
    this.settled(payment);
  }

  private readonly endings: Record<
    FinalState['kind'],
    (transaction: Transaction, ending: FinalState) => void
  > = {
    complete: (transaction) => this.complete(transaction),
    never: (transaction) => this.complete(transaction),
    fail: (transaction, ending) =>
      this.decline(transaction, ending.kind === 'fail' ? ending.error : DECLINED),
    mispay: (transaction, ending) => {
      if (transaction.kind === 'payout' || ending.kind !== 'mispay') return this.complete(transaction);
      this.mispay(transaction, receivedInstead(transaction.amount.value, ending.received));
    },
  };

  private complete(transaction: Transaction): void {
    transaction.status = 'completed';
    this.settled(transaction);
  }

  private settled(transaction: Transaction): void {
    transaction.timer?.cancel();
    if (transaction.kind === 'payment') {
      transaction.state = undefined;
      const seen =
        transaction.flow === 'redirect' && transaction.method.paidOnPage?.(methodView(transaction));
      if (seen) transaction.added = { ...transaction.added, ...seen };
    }
    this.parts.store.markSettled(transaction);
    this.parts.changed(transaction);
  }

  private endLater(transaction: Transaction, ms: number): void {
    transaction.timer?.cancel();
    transaction.timer = this.parts.clock.after(ms, () => this.end(transaction));
  }

  private requireOpen(transaction: Transaction): void {
    if (isSettled(transaction)) throw new Refusal(409, 'The transaction is settled already');
  }
}

function needsThePayer(transaction: Transaction): boolean {
  if (transaction.kind === 'payout') return false;
  if (transaction.flow === 'redirect') return true;
  return transaction.state !== undefined && !isWaitingForProvider(transaction);
}

function isWaitingForProvider(payment: Payment): boolean {
  return payment.state === undefined || payment.state === 'waiting_for_provider';
}
