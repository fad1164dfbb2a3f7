import { randomUUID } from 'node:crypto';
import { sandboxMethods } from '../schema/methods';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import { confirmBody, paymentBody, payoutBody, payoutCreatedBody } from './response-bodies';
import type { FaultInjector, SandboxResponse } from './faults';
import { uuid } from './field-rules';
import { outcomeForAmount } from './simulated-outcome';
import { SandboxHttpError, invalidRequest } from './http-error';
import type { Lifecycle } from './lifecycle';
import { readObject } from './object-reader';
import { readLookup, readPaymentRequest, readPayoutRequest } from './requests';
import type { Store } from './store';
import { awaitsConfirm, isHidden, toSandboxTransaction, microsecondDate } from './transaction';
import type { Payment, Payout, Transaction, TransactionKind } from './transaction';

interface SandboxServiceParts {
  store: Store;
  lifecycle: Lifecycle;
  faults: FaultInjector;
  clock: Clock;
  /** Returns the sandbox's base URL, with a slash at the end; empty until the server listens. */
  baseUrl(): string;
}

/** Executes creates, lookups and confirms (spec section 4), without HTTP and authentication. */
export class SandboxService {
  private readonly methods = sandboxMethods();
  private createCount = 0;

  constructor(private readonly parts: SandboxServiceParts) {}

  createPayment(body: WireObject): SandboxResponse {
    const { hasDirectFlowFields, ...request } = readPaymentRequest(body, this.methods.payments);
    const { method, flow, amount } = request;
    const commonFields = this.createCommonFields(amount.value);
    const payment: Payment = {
      kind: 'payment',
      status: flow === 'direct' ? 'processing' : 'pending',
      state: flow === 'direct' ? method.direct?.state : undefined,
      redirectUrl: `${this.parts.baseUrl()}pay/${commonFields.id}`,
      added: {},
      ...commonFields,
      ...request,
    };
    if (hasDirectFlowFields) payment.added = method.addedFields?.(toSandboxTransaction(payment)) ?? {};
    return this.respondToCreate(payment, paymentBody(payment));
  }

  createPayout(body: WireObject): SandboxResponse {
    const request = readPayoutRequest(body, this.methods.payouts);
    const commonFields = this.createCommonFields(request.amount.value);
    const payout: Payout = { kind: 'payout', status: 'processing', ...commonFields, ...request };
    return this.respondToCreate(payout, payoutCreatedBody(payout));
  }

  lookUp(kind: TransactionKind, query: WireObject): SandboxResponse {
    const transaction = this.parts.store.find({ kind, ...readLookup(query), now: this.parts.clock.now() });
    if (!transaction) throw unknownTransaction();
    if (transaction.kind === 'payout') return { status: 200, body: payoutBody(transaction) };
    const addedByLookup = transaction.method.lookupFields?.(toSandboxTransaction(transaction));
    return { status: 200, body: paymentBody(transaction, addedByLookup) };
  }

  /** Confirms a payment (spec 4.5). Unlike the parameters of a lookup, `body` does not name the channel. */
  confirm(body: WireObject): SandboxResponse {
    const { payment, code } = readObject(body, (reader) => {
      const id = reader.required('id', uuid);
      reader.throwIfInvalid();
      const payment = this.findPaymentToConfirm(id);
      const { confirmField } = payment.method;
      return { payment, code: confirmField ? reader.required(confirmField) : undefined };
    });
    this.parts.lifecycle.confirm(payment, code);
    return { status: 200, body: confirmBody(payment) };
  }

  private findPaymentToConfirm(id: string): Payment {
    const payment = this.parts.store.get(id);
    if (payment?.kind !== 'payment' || isHidden(payment, this.parts.clock.now())) throw unknownTransaction();
    if (payment.method.confirmField === undefined || !awaitsConfirm(payment))
      throw invalidRequest({ id: 'must be a payment that waits for a confirm' });
    return payment;
  }

  private createCommonFields(value: string) {
    const now = this.parts.clock.now();
    const outcome = outcomeForAmount(value);
    const hiddenUntil = outcome.hiddenForMs === undefined ? undefined : now + outcome.hiddenForMs;
    this.createCount += 1;
    return { id: randomUUID(), createDate: microsecondDate(now, this.createCount), outcome, hiddenUntil };
  }

  private respondToCreate(transaction: Transaction, body: WireObject): SandboxResponse {
    const { fault } = transaction.outcome;
    if (fault === 'cut_before') return { status: 500, body: {}, fault };
    this.parts.lifecycle.start(transaction);
    this.parts.faults.countCreated(transaction.kind);
    return { status: 201, body, fault };
  }
}

const unknownTransaction = (): SandboxHttpError => new SandboxHttpError(404, 'There is no such transaction');
