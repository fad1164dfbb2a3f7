import type { Clock } from '../shared/clock';
import { LATEST_SETTLEMENT_MS, receivedInstead, type TransactionError } from './final-states';
import { SandboxHttpError, invalid } from './http-error';
import type { Store } from './store';
import { isSettled, methodView, type Payment, type Transaction } from './transaction';

/** UTRs and codes with a special effect; all others are accepted. */
const REJECTED_CODE = '000000';
const SLOW_CODE = '111111';

const DECLINED: TransactionError = { code: 'DECLINED_GENERIC', message: 'The payment was declined' };

interface LifecycleParts {
  clock: Clock;
  store: Store;
  settleAfterMs: number;
  /** Called after every change of a status or a state. */
  changed(transaction: Transaction): void;
}

/** Changes status and state of transactions; nothing else does. */
export class Lifecycle {
  constructor(private readonly parts: LifecycleParts) {}

  /** Stores a new transaction and schedules its end, unless it waits for the payer. */
  begin(transaction: Transaction): void {
    this.parts.store.add(transaction);
    const { ending } = transaction.outcome;
    if (ending.kind === 'never') return;
    const forced = ending.kind !== 'complete';
    const delay = Math.min(this.parts.settleAfterMs, LATEST_SETTLEMENT_MS);
    if (forced || !needsThePayer(transaction)) this.endLater(transaction, delay);
  }

  /** The payer opened the hosted page. */
  open(payment: Payment): void {
    if (payment.status !== 'pending') return;
    payment.status = 'processing';
    this.parts.changed(payment);
  }

  /** Completes the payment or lets it wait for the provider (spec 3.4). */
  confirm(payment: Payment, code: string | undefined): void {
    const field = payment.method.confirmField;
    if (field && code === REJECTED_CODE) throw invalid({ [field]: 'was rejected' });
    const slow = code === SLOW_CODE;
    const succeeds = payment.outcome.ending.kind === 'complete';
    // A confirmation without a code has to be approved by the provider.
    if (succeeds && field && !slow) return this.complete(payment);
    payment.state = 'waiting_for_provider';
    this.parts.changed(payment);
    if (succeeds) this.endLater(payment, this.parts.settleAfterMs * (slow ? 2 : 1));
  }

  /** The payer pressed Pay: the payment gets the final state of its amount, if that has one. */
  pay(payment: Payment): void {
    if (payment.outcome.ending.kind !== 'never') return this.end(payment);
    if (payment.status === 'processing' && isWaitingForProvider(payment)) return;
    payment.status = 'processing';
    if (payment.state) payment.state = 'waiting_for_provider';
    this.parts.changed(payment);
  }

  /** Ends a transaction with the final state of its amount; completes it if that has none. */
  end(transaction: Transaction): void {
    this.requireOpen(transaction);
    const { ending } = transaction.outcome;
    if (ending.kind === 'fail') this.decline(transaction, ending.error);
    else if (ending.kind === 'mispay' && transaction.kind === 'payment')
      this.mispay(transaction, receivedInstead(transaction.amount.value, ending.received));
    else this.complete(transaction);
  }

  decline(transaction: Transaction, error: TransactionError = DECLINED): void {
    this.requireOpen(transaction);
    transaction.status = 'failed';
    transaction.error = error;
    this.settled(transaction);
  }

  mispay(payment: Payment, received: string): void {
    this.requireOpen(payment);
    payment.status = 'mispaid';
    payment.amount = { ...payment.amount, received };
    this.settled(payment);
  }

  private complete(transaction: Transaction): void {
    transaction.status = 'completed';
    this.settled(transaction);
  }

  private settled(transaction: Transaction): void {
    transaction.timer?.cancel();
    if (transaction.kind === 'payment') {
      transaction.state = undefined;
      const added =
        transaction.flow === 'redirect' && transaction.method.paidOnPage?.(methodView(transaction));
      if (added) transaction.added = { ...transaction.added, ...added };
    }
    this.parts.store.markSettled(transaction);
    this.parts.changed(transaction);
  }

  private endLater(transaction: Transaction, ms: number): void {
    transaction.timer?.cancel();
    transaction.timer = this.parts.clock.after(ms, () => this.end(transaction));
  }

  private requireOpen(transaction: Transaction): void {
    if (isSettled(transaction)) throw new SandboxHttpError(409, 'The transaction is already settled');
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
