import type { Damage } from './final-states';
import type { Kind } from './transaction';

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

/** A fault of the next requests, whatever their amounts. */
export interface Fault {
  operation: Operation;
  /** Absent: payments and payouts. */
  resource?: Kind;
  fault: FaultKind;
  /** The number of requests that it still affects. */
  times: number;
  /** Of `delay`. */
  ms?: number;
  /** Of `status`. */
  status?: number;
}

/** Faults of the response, after the work; the other kinds act before it. */
export const RESPONSE_FAULTS: Partial<Record<FaultKind, Damage>> = {
  cut_after: { kind: 'cut' },
  error_after: { kind: 'status', status: 500 },
  truncated: { kind: 'truncated' },
};

export type Counts = Record<Kind, { creates: number; created: number; lookups: number; confirms: number }>;

const COUNTERS = { create: 'creates', lookup: 'lookups', confirm: 'confirms' } as const;

function zeroCounts(): Counts {
  const zero = () => ({ creates: 0, created: 0, lookups: 0, confirms: 0 });
  return { payment: zero(), payout: zero() };
}

const MAX_FAULTS = 100;

/** Counts requests and injects faults into them. */
export class FaultInjector {
  counts = zeroCounts();
  private faults: Fault[] = [];

  /** @param changed called when counts or faults have changed */
  constructor(private readonly changed: () => void) {}

  /** Counts an authenticated request. Returns its fault: the one that was injected first. */
  next(resource: Kind, operation: Operation): Fault | undefined {
    this.counts[resource][COUNTERS[operation]] += 1;
    this.changed();
    const fault = this.faults.find(
      (one) => one.operation === operation && (one.resource === undefined || one.resource === resource),
    );
    if (!fault) return undefined;
    fault.times -= 1;
    this.faults = this.faults.filter((one) => one.times > 0);
    return fault;
  }

  created(resource: Kind): void {
    this.counts[resource].created += 1;
    this.changed();
  }

  /** False if there are too many. */
  inject(fault: Fault): boolean {
    if (this.faults.length >= MAX_FAULTS) return false;
    this.faults.push({ ...fault });
    this.changed();
    return true;
  }

  pending(): Fault[] {
    return this.faults.map((fault) => ({ ...fault }));
  }

  clear(): void {
    this.faults = [];
    this.counts = zeroCounts();
    this.changed();
  }
}
