import type { CallbackSender } from './callbacks';
import type { AdvancingClock } from './clock';
import type { RequestCounts, Fault, FaultInjector } from './faults';
import type { TransactionFailure } from './simulated-outcome';
import { SandboxHttpError, invalidRequest } from './http-error';
import type { Lifecycle } from './lifecycle';
import type { Store } from './store';
import type { Transaction } from './transaction';
import type { Transition } from './transition-log';

interface ControlParts {
  store: Store;
  lifecycle: Lifecycle;
  faults: FaultInjector;
  clock: AdvancingClock;
  callbacks: CallbackSender;
  /** Called after the clock was advanced. `lifecycle` and `faults` report other changes. */
  onChange(): void;
}

/**
 * The control plane for tests and demos. It ends transactions, injects faults, advances the clock and resets the
 * sandbox.
 */
export class SandboxControl {
  constructor(private readonly parts: ControlParts) {}

  /**
   * Returns up to `limit` transactions, newest first. If `beforeId` is given, returns only transactions older than the
   * one with this id, and [] if there is no transaction with this id.
   */
  transactions(limit = 50, beforeId?: string): TransactionSummary[] {
    return this.parts.store.list(limit, beforeId).map(summaryOf);
  }

  /** Returns the latest changes of status or state, newest first. */
  transitions(): Transition[] {
    return this.parts.lifecycle.transitions.list();
  }

  /**
   * Sets the final status that the amount selects, by default `completed`. Throws a 409 error if the transaction is
   * already final.
   */
  settle(id: string): TransactionSummary {
    return this.changeTransaction(id, (transaction) => this.parts.lifecycle.applyOutcome(transaction));
  }

  /**
   * Makes a transaction fail, by default with DECLINED_GENERIC. Throws a 409 error if the transaction is already final.
   */
  decline(id: string, error?: TransactionFailure): TransactionSummary {
    return this.changeTransaction(id, (transaction) => this.parts.lifecycle.decline(transaction, error));
  }

  /**
   * Makes a payment mispaid. `received`: the amount paid, by default half of the requested amount. Throws a 400 error
   * for a payout, and a 409 error if the payment is already final.
   */
  underpay(id: string, received?: string): TransactionSummary {
    return this.changeTransaction(id, (transaction) => {
      if (transaction.kind !== 'payment') throw invalidRequest({ id: 'must be a payment' });
      this.parts.lifecycle.mispay(transaction, received);
    });
  }

  /** Advances the sandbox's clock by `ms`. Returns the new time (ISO 8601) and the number of fired timers. */
  advance(ms: number): { now: string; fired: number } {
    const fired = this.parts.clock.advance(ms);
    this.parts.onChange();
    return { now: new Date(this.parts.clock.now()).toISOString(), fired };
  }

  /** Returns the ms by which the sandbox's clock is ahead of the real time. */
  aheadMs(): number {
    return this.parts.clock.aheadMs;
  }

  inject(fault: Fault): void {
    this.parts.faults.inject(fault);
  }

  faults(): Fault[] {
    return structuredClone(this.parts.faults.pending);
  }

  counts(): RequestCounts {
    return structuredClone(this.parts.faults.counts);
  }

  /** Removes transactions, transitions, faults, counts and pending callbacks, and resets the clock. */
  reset(): void {
    this.parts.callbacks.stop();
    this.parts.store.clear();
    this.parts.lifecycle.transitions.clear();
    this.parts.clock.resetOffset();
    this.parts.faults.clear();
  }

  /** Changes a transaction and returns its summary. Throws a 404 error if the id is unknown. */
  private changeTransaction(id: string, change: (transaction: Transaction) => void): TransactionSummary {
    const transaction = this.parts.store.get(id);
    if (!transaction) throw new SandboxHttpError(404, 'There is no transaction with this id');
    change(transaction);
    return summaryOf(transaction);
  }
}

/** A transaction in responses of the control plane. */
export type TransactionSummary = ReturnType<typeof summaryOf>;

function summaryOf(transaction: Transaction) {
  const { kind, id: transactionId, channel, type, amount, status, createDate } = transaction;
  const { externalId = null, error = null } = transaction;
  const { flow = null, state = null } = transaction.kind === 'payment' ? transaction : {};
  return { kind, transactionId, externalId, channel, type, flow, amount, status, state, error, createDate };
}
