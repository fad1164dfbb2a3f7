import type { Damage } from './final-states';
import type { Kind } from './transaction';

export type Operation = 'create' | 'lookup' | 'confirm';

/** What can be made to go wrong with the next requests, whatever their amount. */
export const FAULT_KINDS = [
  'cut_before',
  'cut_after',
  'error_after',
  'truncated',
  'delay',
  'status',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  operation: Operation;
  /** Absent: payments and payouts alike. */
  resource?: Kind;
  fault: FaultKind;
  /** How many requests it still strikes. */
  times: number;
  /** delay */
  ms?: number;
  /** status */
  status?: number;
}

/** Damage done to the answer after the work, by kind; the other kinds strike before it. */
export const RESPONSE_FAULTS: Partial<Record<FaultKind, Damage>> = {
  cut_after: { kind: 'cut' },
  error_after: { kind: 'status', status: 500 },
  truncated: { kind: 'truncated' },
};

export type Counts = Record<Kind, { creates: number; created: number; lookups: number; confirms: number }>;

const COUNTED = { create: 'creates', lookup: 'lookups', confirm: 'confirms' } as const;

function noCounts(): Counts {
  const none = () => ({ creates: 0, created: 0, lookups: 0, confirms: 0 });
  return { payment: none(), payout: none() };
}

const MAX_FAULTS = 100;

/** Counts what arrives and keeps the faults that wait for it. */
export class FaultInjector {
  counts = noCounts();
  private faults: Fault[] = [];

  /** `changed` is told of every change of the counts or the faults. */
  constructor(private readonly changed: () => void) {}

  /** An authenticated request has arrived: which fault strikes it? The one injected first. */
  next(resource: Kind, operation: Operation): Fault | undefined {
    this.counts[resource][COUNTED[operation]] += 1;
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

  /** False where too many wait already. */
  inject(fault: Fault): boolean {
    if (this.faults.length >= MAX_FAULTS) return false;
    this.faults.push({ ...fault });
    this.changed();
    return true;
  }

  waiting(): Fault[] {
    return this.faults.map((fault) => ({ ...fault }));
  }

  clear(): void {
    this.faults = [];
    this.counts = noCounts();
    this.changed();
  }
}
