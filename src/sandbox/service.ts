import { randomUUID } from 'node:crypto';
import { sandboxMethods } from '../schema/methods';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import { confirmResponseBody, paymentBody, payoutLookupBody, payoutCreatedBody } from './response-bodies';
import type { FaultInjector, SandboxResponse } from './faults';
import { uuidRule } from './field-rules';
import { outcomeForAmount } from './simulated-outcome';
import { SandboxHttpError, invalidRequestError } from './http-error';
import type { Lifecycle } from './lifecycle';
import { readObject } from './object-reader';
import { readLookupRequest, readPaymentRequest, readPayoutRequest } from './requests';
import type { TransactionStore } from './store';
import { awaitsConfirm, isHidden, toSandboxTransaction, microsecondDate } from './transaction';
import type { Payment, Payout, Transaction, TransactionKind } from './transaction';

interface SandboxServiceDependencies {
  store: TransactionStore;
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

  constructor(private readonly dependencies: SandboxServiceDependencies) {}

  createPayment(body: WireObject): SandboxResponse {
    const { responseHasAddedFields, ...request } = readPaymentRequest(body, this.methods.payments);
    const { method, flow, amount } = request;
    const commonFields = this.createCommonFields(amount.value);
    const payment: Payment = {
      kind: 'payment',
      status: flow === 'direct' ? 'processing' : 'pending',
      state: flow === 'direct' ? method.direct?.state : undefined,
      redirectUrl: `${this.dependencies.baseUrl()}pay/${commonFields.id}`,
      addedFields: {},
      ...commonFields,
      ...request,
    };
    if (responseHasAddedFields)
      payment.addedFields = method.addedFields?.(toSandboxTransaction(payment)) ?? {};
    return this.startAndRespond(payment, paymentBody(payment));
  }

  createPayout(body: WireObject): SandboxResponse {
    const request = readPayoutRequest(body, this.methods.payouts);
    const commonFields = this.createCommonFields(request.amount.value);
    const payout: Payout = { kind: 'payout', status: 'processing', ...commonFields, ...request };
    return this.startAndRespond(payout, payoutCreatedBody(payout));
  }

  lookUp(kind: TransactionKind, query: WireObject): SandboxResponse {
    const transaction = this.dependencies.store.find({
      kind,
      ...readLookupRequest(query),
      now: this.dependencies.clock.now(),
    });
    if (!transaction) throw unknownTransactionError();
    if (transaction.kind === 'payout') return { status: 200, body: payoutLookupBody(transaction) };
    const lookupOnlyFields = transaction.method.lookupOnlyFields?.(toSandboxTransaction(transaction));
    return { status: 200, body: paymentBody(transaction, lookupOnlyFields) };
  }

  /** Confirms a payment (spec 4.5). Unlike the parameters of a lookup, `body` does not name the channel. */
  confirm(body: WireObject): SandboxResponse {
    const { payment, code } = readObject(body, (reader) => {
      const id = reader.requiredString('id', uuidRule);
      reader.throwIfInvalid();
      const payment = this.findPaymentToConfirm(id);
      const { confirmField } = payment.method;
      return { payment, code: confirmField ? reader.requiredString(confirmField) : undefined };
    });
    this.dependencies.lifecycle.confirm(payment, code);
    return { status: 200, body: confirmResponseBody(payment) };
  }

  private findPaymentToConfirm(id: string): Payment {
    const payment = this.dependencies.store.get(id);
    if (payment?.kind !== 'payment' || isHidden(payment, this.dependencies.clock.now()))
      throw unknownTransactionError();
    if (payment.method.confirmField === undefined || !awaitsConfirm(payment))
      throw invalidRequestError({ id: 'must be a payment that waits for a confirm' });
    return payment;
  }

  private createCommonFields(amountValue: string) {
    const now = this.dependencies.clock.now();
    const outcome = outcomeForAmount(amountValue);
    const hiddenUntil = outcome.hiddenForMs === undefined ? undefined : now + outcome.hiddenForMs;
    this.createCount += 1;
    return { id: randomUUID(), createDate: microsecondDate(now, this.createCount), outcome, hiddenUntil };
  }

  private startAndRespond(transaction: Transaction, body: WireObject): SandboxResponse {
    const { fault } = transaction.outcome;
    if (fault === 'cut_before') return { status: 500, body: {}, fault };
    this.dependencies.lifecycle.start(transaction);
    this.dependencies.faults.countCreated(transaction.kind);
    return { status: 201, body, fault };
  }
}

const unknownTransactionError = (): SandboxHttpError =>
  new SandboxHttpError(404, 'There is no such transaction');
