import type { CallbackSender } from './callbacks';
import type { AdvancingClock } from './clock';
import type { Fault, FaultInjector } from './faults';
import type { TransactionFailure } from './simulated-outcome';
import { SandboxHttpError, invalidRequestError } from './http-error';
import type { Lifecycle } from './lifecycle';
import type { TransactionStore } from './store';
import type { Transaction } from './transaction';

interface ControlPlaneDependencies {
  store: TransactionStore;
  lifecycle: Lifecycle;
  faultInjector: FaultInjector;
  clock: AdvancingClock;
  callbackSender: CallbackSender;
  /** Called after the clock was advanced. `lifecycle` and `faultInjector` report other changes. */
  onClockAdvanced(): void;
}

/**
 * The control plane for tests and demos. It lists, settles, declines and underpays transactions, injects faults,
 * advances the clock and resets the sandbox.
 */
export type ControlPlane = ReturnType<typeof createControlPlane>;

export function createControlPlane(dependencies: ControlPlaneDependencies) {
  const { store, lifecycle, faultInjector, clock, callbackSender, onClockAdvanced } = dependencies;
  /** Changes a transaction and returns its summary. Throws a 404 error if the id is unknown. */
  const changeTransaction = (id: string, change: (transaction: Transaction) => void): TransactionSummary => {
    const transaction = store.get(id);
    if (!transaction) throw new SandboxHttpError(404, 'There is no transaction with this id');
    change(transaction);
    return summaryOf(transaction);
  };
  return {
    /**
     * Returns up to `maxCount` transactions, newest first. If `beforeId` is given, returns only transactions older than
     * the one with this id, and [] if there is no transaction with this id.
     */
    transactions: (maxCount = 50, beforeId?: string) => store.list(maxCount, beforeId).map(summaryOf),
    /** Returns the latest changes of status or state, newest first. */
    transitions: () => lifecycle.transitionLog.list(),
    /**
     * Sets the final status that the amount selects, by default `completed`. Throws a 409 error if the transaction is
     * already final.
     */
    settle: (id: string) => changeTransaction(id, (transaction) => lifecycle.applyOutcome(transaction)),
    /** Makes a transaction fail, by default with DECLINED_GENERIC. Throws a 409 error if it is already final. */
    decline: (id: string, failure?: TransactionFailure) =>
      changeTransaction(id, (transaction) => lifecycle.decline(transaction, failure)),
    /**
     * Makes a payment mispaid. `receivedAmount`: the amount paid, by default half of the requested. Throws a 400 error
     * for a payout, and a 409 error if the payment is already final.
     */
    underpay: (id: string, receivedAmount?: string) =>
      changeTransaction(id, (transaction) => {
        if (transaction.kind !== 'payment') throw invalidRequestError({ id: 'must be a payment' });
        lifecycle.mispay(transaction, receivedAmount);
      }),
    /** Advances the sandbox's clock by `durationMs`. Returns the new time (ISO 8601) and the number of fired timers. */
    advance: (durationMs: number) => {
      const firedTimerCount = clock.advance(durationMs);
      onClockAdvanced();
      return { now: new Date(clock.now()).toISOString(), fired: firedTimerCount };
    },
    /** Returns the ms by which the sandbox's clock is ahead of the real time. */
    aheadMs: () => clock.aheadMs,
    inject: (fault: Fault) => faultInjector.inject(fault),
    faults: () => structuredClone(faultInjector.pendingFaults),
    counts: () => structuredClone(faultInjector.requestCounts),
    /** Removes transactions, transitions, faults, counts and pending callbacks, and resets the clock. */
    reset: () => {
      callbackSender.cancelDeliveries();
      store.clear();
      lifecycle.transitionLog.clear();
      clock.resetOffset();
      faultInjector.clear();
    },
  };
}

/** A transaction in responses of the control plane. */
export type TransactionSummary = ReturnType<typeof summaryOf>;

function summaryOf(transaction: Transaction) {
  const { kind, id: transactionId, channel, type, amount, status, createDate } = transaction;
  const { externalId = null, error = null } = transaction;
  const { flow = null, state = null } = transaction.kind === 'payment' ? transaction : {};
  return { kind, transactionId, externalId, channel, type, flow, amount, status, state, error, createDate };
}
