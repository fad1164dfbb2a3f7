import type { Transaction, TransactionKind } from './transaction';

const MAX_KEPT_TRANSITIONS = 50;

/** A change of the status or state of a transaction. */
export interface Transition {
  /** Time in ms since 1970, by the sandbox's clock. */
  atMs: number;
  transactionKind: TransactionKind;
  transactionId: string;
  /** Status and state before the change; null for a new transaction. */
  statusBefore: string | null;
  /** Status and state after the change, for example `processing, waiting_for_utr`. */
  statusAfter: string;
}

/** Keeps the latest 50 transitions of all transactions in memory. */
export class TransitionLog {
  private readonly latestTransitions: Transition[] = [];
  private readonly statusByTransaction = new WeakMap<Transaction, string>();

  /** Records a transaction's status and state if they differ from the last record. `atMs`: time in ms since 1970. */
  record(transaction: Transaction, atMs: number): void {
    const { kind, id: transactionId, status } = transaction;
    const state = transaction.kind === 'payment' ? transaction.state : undefined;
    const statusAfter = state ? `${status}, ${state}` : status;
    const statusBefore = this.statusByTransaction.get(transaction) ?? null;
    if (statusBefore === statusAfter) return;
    this.statusByTransaction.set(transaction, statusAfter);
    this.latestTransitions.push({ atMs, transactionKind: kind, transactionId, statusBefore, statusAfter });
    if (this.latestTransitions.length > MAX_KEPT_TRANSITIONS) this.latestTransitions.shift();
  }

  /** Returns the latest transitions, newest first. */
  list(): Transition[] {
    return this.latestTransitions.toReversed();
  }

  clear(): void {
    this.latestTransitions.length = 0;
  }
}
