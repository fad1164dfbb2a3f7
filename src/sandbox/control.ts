import type { AdvancingClock } from './clock';
import type { Callbacks } from './callbacks';
import type { Counts, Fault, FaultInjector } from './fault-injector';
import type { Lifecycle } from './lifecycle';
import { receivedInstead, type TransactionError } from './final-states';
import { Refusal, invalid } from './refusal';
import type { Store } from './store';
import type { Kind, Transaction } from './transaction';

/** A transaction as the control plane shows it. */
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

export interface ControlParts {
  store: Store;
  lifecycle: Lifecycle;
  traffic: FaultInjector;
  clock: AdvancingClock;
  callbacks: Callbacks;
  /** Told when the clock was moved; of the rest its own parts tell. */
  changed(): void;
}

/** What a test or a demo may do to the sandbox behind the service's back. */
export class SandboxControl {
  constructor(private readonly parts: ControlParts) {}

  /** Newest first, beginning behind the transaction `before`. */
  transactions(limit = 50, before?: string): TransactionSummary[] {
    return this.parts.store.list(limit, before).map(summary);
  }

  /** Ends it as its amount says, at once. What its amount keeps from ending completes. */
  settle(id: string): TransactionSummary {
    return this.change(id, (transaction) => this.parts.lifecycle.end(transaction));
  }

  decline(id: string, error?: TransactionError): TransactionSummary {
    return this.change(id, (transaction) => this.parts.lifecycle.decline(transaction, error));
  }

  /** Only payments can be mispaid. Without `received` half of the amount arrives. */
  underpay(id: string, received?: string): TransactionSummary {
    return this.change(id, (transaction) => {
      if (transaction.kind !== 'payment') throw invalid({ id: 'must be a payment' });
      const got = received ?? receivedInstead(transaction.amount.value, 'less');
      this.parts.lifecycle.mispay(transaction, got);
    });
  }

  /** Moves the sandbox's own clock; what then falls due happens at once. */
  advance(ms: number): { now: string; fired: number } {
    const fired = this.parts.clock.advance(ms);
    this.parts.changed();
    return { now: new Date(this.parts.clock.now()).toISOString(), fired };
  }

  /** How far the clock was moved, in milliseconds. */
  ahead(): number {
    return this.parts.clock.ahead;
  }

  inject(fault: Fault): void {
    if (!this.parts.traffic.inject(fault)) throw new Refusal(409, 'Too many faults are waiting');
  }

  faults(): Fault[] {
    return this.parts.traffic.waiting();
  }

  counts(): Counts {
    return structuredClone(this.parts.traffic.counts);
  }

  /** As after a start: no transactions, faults or counts, and the clock at the real time. */
  reset(): void {
    this.parts.callbacks.stop();
    this.parts.store.clear();
    this.parts.traffic.clear();
    this.parts.clock.unshift();
    this.parts.changed();
  }

  private change(id: string, act: (transaction: Transaction) => void): TransactionSummary {
    const transaction = this.parts.store.get(id);
    if (!transaction) throw new Refusal(404, 'There is no such transaction');
    act(transaction);
    return summary(transaction);
  }
}

function summary(transaction: Transaction): TransactionSummary {
  const { kind, id, channel, type, amount, status, createDate } = transaction;
  const payment = transaction.kind === 'payment' ? transaction : undefined;
  return {
    kind,
    transactionId: id,
    externalId: transaction.externalId ?? null,
    channel,
    type,
    flow: payment?.flow ?? null,
    amount,
    status,
    state: payment?.state ?? null,
    error: transaction.error ?? null,
    createDate,
  };
}
