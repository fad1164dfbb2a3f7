import type { ResponseFault } from './final-states';
import type { TransactionKind } from './transaction';

export type Operation = 'create' | 'lookup' | 'confirm';

export const FAULT_KINDS = [
  'cut_before',
  'cut_after',
  'error_after',
  'truncated',
  'delay',
  'status',
] as const;
type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault that is injected into the next matching requests, whatever their amounts. */
export interface Fault {
  operation: Operation;
  /** The resource of these requests; payments and payouts if absent. */
  resource?: TransactionKind;
  fault: FaultKind;
  /** Number of requests into which the fault is still to be injected. */
  times: number;
  /** Delay in ms of the fault `delay`. */
  ms?: number;
  /** HTTP status of the response to the fault `status`. */
  status?: number;
}

/** Fault kinds that change only the response to a request. The other kinds take effect before it is carried out. */
export const RESPONSE_FAULTS: Partial<Record<FaultKind, ResponseFault>> = {
  cut_after: { kind: 'cut' },
  error_after: { kind: 'status', status: 500 },
  truncated: { kind: 'truncated' },
};

/** `creates` counts create requests, `created` the transactions that they created. */
export type RequestCounts = Record<
  TransactionKind,
  { creates: number; created: number; lookups: number; confirms: number }
>;

const COUNTER_NAMES = { create: 'creates', lookup: 'lookups', confirm: 'confirms' } as const;

function zeroCounts(): RequestCounts {
  const zero = () => ({ creates: 0, created: 0, lookups: 0, confirms: 0 });
  return { payment: zero(), payout: zero() };
}

const MAX_FAULTS = 100;

/** Counts requests and injects faults into them. */
export class FaultInjector {
  counts = zeroCounts();
  private faults: Fault[] = [];

  /** @param onChange called when counts or faults have changed */
  constructor(private readonly onChange: () => void) {}

  /** Counts an authenticated request. Returns the first injected fault that matches the request, and uses it once. */
  countAndTakeFault(resource: TransactionKind, operation: Operation): Fault | undefined {
    this.counts[resource][COUNTER_NAMES[operation]] += 1;
    this.onChange();
    const fault = this.faults.find(
      (one) => one.operation === operation && (one.resource === undefined || one.resource === resource),
    );
    if (!fault) return undefined;
    fault.times -= 1;
    this.faults = this.faults.filter((one) => one.times > 0);
    return fault;
  }

  countCreated(resource: TransactionKind): void {
    this.counts[resource].created += 1;
    this.onChange();
  }

  /** Adds a fault. Returns false if too many faults are pending. */
  inject(fault: Fault): boolean {
    if (this.faults.length >= MAX_FAULTS) return false;
    this.faults.push({ ...fault });
    this.onChange();
    return true;
  }

  pendingFaults(): Fault[] {
    return this.faults.map((fault) => ({ ...fault }));
  }

  clear(): void {
    this.faults = [];
    this.counts = zeroCounts();
    this.onChange();
  }
}
