import type { FastifyReply } from 'fastify';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import type { SimulatedOutcome } from './simulated-outcome';
import { SandboxHttpError } from './http-error';
import type { TransactionKind } from './transaction';

export const FAULTS = ['cut_before', 'cut_after', 'error_after', 'truncated', 'delay', 'status'] as const;

const COUNTER_BY_OPERATION = { create: 'creates', lookup: 'lookups', confirm: 'confirms' } as const;

export type ServiceOperation = keyof typeof COUNTER_BY_OPERATION;

/** A fault, such as a cut connection, to inject into the next requests. docs/sandbox.md lists the faults. */
export interface Fault {
  operation: ServiceOperation;
  /** Kind of the transactions whose requests get the fault; absent for both kinds. */
  resource?: TransactionKind;
  fault: (typeof FAULTS)[number];
  /** Number of further requests that get the fault. */
  times: number;
  /** Delay in ms for the fault `delay`. Default: 0, but the HTTP interface of the control plane sets 1000. */
  ms?: number;
  /** HTTP status of the response to a request with the fault `status`; default 503. */
  status?: number;
}

function zeroCounts() {
  const zeroRequestCounts = () => ({ creates: 0, created: 0, lookups: 0, confirms: 0 });
  return { payment: zeroRequestCounts(), payout: zeroRequestCounts() };
}

/**
 * For payments and for payouts: the number of requests of each operation, and the number of transactions that the
 * creates have created (`created`).
 */
export type RequestCounts = ReturnType<typeof zeroCounts>;

const MAX_PENDING_FAULTS = 100;

/** Counts requests and created transactions, and selects the faults to inject into requests. */
export class FaultInjector {
  requestCounts = zeroCounts();
  /** Faults to inject into future requests. */
  pendingFaults: Fault[] = [];

  /** @param onChange called when the counts change, and when faults are added or all faults are removed */
  constructor(private readonly onChange: () => void) {}

  /** Counts an authenticated request. Returns the first matching fault, if any, and decrements its `times`. */
  countAndTakeFault(kind: TransactionKind, operation: ServiceOperation): Fault | undefined {
    this.requestCounts[kind][COUNTER_BY_OPERATION[operation]] += 1;
    this.onChange();
    const fault = this.pendingFaults.find(
      (pendingFault) => pendingFault.operation === operation && (pendingFault.resource ?? kind) === kind,
    );
    if (!fault) return undefined;
    fault.times -= 1;
    this.pendingFaults = this.pendingFaults.filter(({ times }) => times > 0);
    return fault;
  }

  countCreated(kind: TransactionKind): void {
    this.requestCounts[kind].created += 1;
    this.onChange();
  }

  inject(fault: Fault): void {
    if (this.pendingFaults.length >= MAX_PENDING_FAULTS)
      throw new SandboxHttpError(
        409,
        'Too many injected faults are pending; a reset of the sandbox removes them and all transactions',
      );
    this.pendingFaults.push({ ...fault });
    this.onChange();
  }

  clear(): void {
    this.pendingFaults = [];
    this.requestCounts = zeroCounts();
    this.onChange();
  }
}

/** Response of the sandbox's API. `createFault`: a fault that the amount of a create selects (docs/sandbox.md). */
export interface SandboxResponse {
  httpStatus: number;
  body: WireObject;
  createFault?: SimulatedOutcome['createFault'];
}

/**
 * Calls `handleRequest` and sends its response. An injected fault acts before, after or instead of the call. If the
 * response has a `createFault`, that fault replaces an injected fault that would act after the call.
 */
export async function respondWithFaults(
  reply: FastifyReply,
  { injectedFault, clock }: { injectedFault: Fault | undefined; clock: Clock },
  handleRequest: () => SandboxResponse,
): Promise<void> {
  if (injectedFault?.fault === 'delay') {
    await new Promise<void>((resolve) => clock.after(injectedFault.ms ?? 0, resolve));
  }
  if (injectedFault?.fault === 'cut_before') return cutConnection(reply);
  if (injectedFault?.fault === 'status') return sendFault(reply, injectedFault.status ?? 503);
  const { httpStatus, body, createFault: fault = injectedFault?.fault } = handleRequest();
  if (fault === 'cut_before' || fault === 'cut_after') return cutConnection(reply);
  if (fault === 'error_after') return sendFault(reply, 500);
  reply.code(httpStatus);
  if (fault !== 'truncated') return void reply.send(body);
  const bodyText = JSON.stringify(body);
  reply.type('application/json; charset=utf-8').send(bodyText.slice(0, Math.floor(bodyText.length / 2)));
}

function sendFault(reply: FastifyReply, httpStatus: number): void {
  reply.code(httpStatus).send({ message: 'This response is a simulated fault' });
}

function cutConnection(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.destroy();
}
