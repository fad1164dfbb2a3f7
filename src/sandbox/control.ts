import type { Callbacks } from './callbacks';
import type { AdvancingClock } from './clock';
import type { Counts, Fault, FaultInjector } from './fault-injector';
import { receivedInstead, type TransactionError } from './final-states';
import { SandboxHttpError, invalid } from './http-error';
import type { Lifecycle } from './lifecycle';
import type { Store } from './store';
import type { Kind, Transaction } from './transaction';

/** A transaction in responses of the control plane. */
export interface TransactionSummary {
  kind: Kind;
  transactionId: string;
  externalId: string | null;
  channel: string;
  type: string;
  flow: 'redirect' | 'direct' | null;
  amount: Transaction['amount'];
  status: string;
  state: string | null;
  error: TransactionError | null;
  createDate: string;
}

interface ControlParts {
  store: Store;
  lifecycle: Lifecycle;
  faults: FaultInjector;
  clock: AdvancingClock;
  callbacks: Callbacks;
  /** Called when the clock was moved; lifecycle and faults report their own changes. */
  changed(): void;
}

/** Controls the sandbox for tests and demos. */
export class SandboxControl {
  constructor(private readonly parts: ControlParts) {}

  /** Newest first, starting after the transaction `before`. */
  transactions(limit = 50, before?: string): TransactionSummary[] {
    return this.parts.store.list(limit, before).map(summary);
  }

  /** Ends a transaction with the final state of its amount; completes it if that has none. */
  settle(id: string): TransactionSummary {
    return this.change(id, (transaction) => this.parts.lifecycle.end(transaction));
  }

  decline(id: string, error?: TransactionError): TransactionSummary {
    return this.change(id, (transaction) => this.parts.lifecycle.decline(transaction, error));
  }

  /** Makes a payment MISPAID, by default with half of the amount. */
  underpay(id: string, received?: string): TransactionSummary {
    return this.change(id, (transaction) => {
      if (transaction.kind !== 'payment') throw invalid({ id: 'must be a payment' });
      const amount = received ?? receivedInstead(transaction.amount.value, 'less');
      this.parts.lifecycle.mispay(transaction, amount);
    });
  }

  /** Advances the sandbox's own clock. */
  advance(ms: number): { now: string; fired: number } {
    const fired = this.parts.clock.advance(ms);
    this.parts.changed();
    return { now: new Date(this.parts.clock.now()).toISOString(), fired };
  }

  /** How far the clock was advanced, in milliseconds. */
  ahead(): number {
    return this.parts.clock.ahead;
  }

  inject(fault: Fault): void {
    if (!this.parts.faults.inject(fault)) throw new SandboxHttpError(409, 'Too many faults are injected');
  }

  faults(): Fault[] {
    return this.parts.faults.pending();
  }

  counts(): Counts {
    return structuredClone(this.parts.faults.counts);
  }

  /** Removes transactions, faults and counts, and resets the clock. */
  reset(): void {
    this.parts.callbacks.stop();
    this.parts.store.clear();
    this.parts.faults.clear();
    this.parts.clock.unshift();
    this.parts.changed();
  }

  private change(id: string, act: (transaction: Transaction) => void): TransactionSummary {
    const transaction = this.parts.store.get(id);
    if (!transaction) throw new SandboxHttpError(404, 'There is no such transaction');
    act(transaction);
    return summary(transaction);
  }
}

function summary(transaction: Transaction): TransactionSummary {
  const { kind, id, channel, type, amount, status, createDate } = transaction;
  const { flow = null, state = null } = transaction.kind === 'payment' ? transaction : {};
  return {
    kind,
    transactionId: id,
    externalId: transaction.externalId ?? null,
    channel,
    type,
    flow,
    amount,
    status,
    state,
    error: transaction.error ?? null,
    createDate,
  };
}
