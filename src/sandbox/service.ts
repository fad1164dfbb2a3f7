import { randomUUID } from 'node:crypto';
import { getSandboxMethods } from '../schema/methods';
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
import { awaitsConfirm, isHidden, toMethodFunctionArgument, microsecondDate } from './transaction';
import type { Payment, Payout, Transaction, TransactionKind } from './transaction';

interface SandboxServiceDependencies {
  store: TransactionStore;
  lifecycle: Lifecycle;
  faultInjector: FaultInjector;
  clock: Clock;
  /** Returns the sandbox's base URL, with a slash at the end; empty until the server listens. */
  baseUrl(): string;
}

/** Executes creates, lookups and confirms (spec section 4), without HTTP and authentication. */
export class SandboxService {
  private readonly methods = getSandboxMethods();
  private createCount = 0;

  constructor(private readonly dependencies: SandboxServiceDependencies) {}

  createPayment(bodyFields: WireObject): SandboxResponse {
    const { responseHasAddedFields, ...request } = readPaymentRequest(
      bodyFields,
      this.methods.paymentMethodByType,
    );
    const { method, flow, amount } = request;
    const commonFields = this.createCommonFields(amount.value);
    const payment: Payment = {
      kind: 'payment',
      status: flow === 'direct' ? 'processing' : 'pending',
      state: flow === 'direct' ? method.directFlow?.state : undefined,
      redirectUrl: `${this.dependencies.baseUrl()}pay/${commonFields.id}`,
      addedFields: {},
      ...commonFields,
      ...request,
    };
    if (responseHasAddedFields)
      payment.addedFields = method.addedFields?.(toMethodFunctionArgument(payment)) ?? {};
    return this.startAndRespond(payment, paymentBody(payment));
  }

  createPayout(bodyFields: WireObject): SandboxResponse {
    const request = readPayoutRequest(bodyFields, this.methods.payoutMethodByType);
    const commonFields = this.createCommonFields(request.amount.value);
    const payout: Payout = { kind: 'payout', status: 'processing', ...commonFields, ...request };
    return this.startAndRespond(payout, payoutCreatedBody(payout));
  }

  lookUp(kind: TransactionKind, queryFields: WireObject): SandboxResponse {
    const transaction = this.dependencies.store.find({
      kind,
      ...readLookupRequest(queryFields),
      nowMs: this.dependencies.clock.now(),
    });
    if (!transaction) throw unknownTransactionError();
    if (transaction.kind === 'payout') return { httpStatus: 200, body: payoutLookupBody(transaction) };
    const lookupOnlyFields = transaction.method.lookupOnlyFields?.(toMethodFunctionArgument(transaction));
    return { httpStatus: 200, body: paymentBody(transaction, lookupOnlyFields) };
  }

  /** Confirms a payment (spec 4.5). Unlike the parameters of a lookup, `bodyFields` has no channel. */
  confirm(bodyFields: WireObject): SandboxResponse {
    const { payment, confirmCode } = readObject(bodyFields, (reader) => {
      const paymentId = reader.requiredString('id', uuidRule);
      reader.throwIfInvalid();
      const payment = this.findPaymentToConfirm(paymentId);
      const { confirmField } = payment.method;
      return { payment, confirmCode: confirmField ? reader.requiredString(confirmField) : undefined };
    });
    this.dependencies.lifecycle.confirm(payment, confirmCode);
    return { httpStatus: 200, body: confirmResponseBody(payment) };
  }

  private findPaymentToConfirm(paymentId: string): Payment {
    const payment = this.dependencies.store.get(paymentId);
    if (payment?.kind !== 'payment' || isHidden(payment, this.dependencies.clock.now()))
      throw unknownTransactionError();
    if (payment.method.confirmField === undefined || !awaitsConfirm(payment))
      throw invalidRequestError({ id: 'must be the id of a payment that waits for a confirm' });
    return payment;
  }

  private createCommonFields(amountValue: string) {
    const nowMs = this.dependencies.clock.now();
    const simulatedOutcome = outcomeForAmount(amountValue);
    const { hiddenForMs } = simulatedOutcome;
    const hiddenUntilMs = hiddenForMs === undefined ? undefined : nowMs + hiddenForMs;
    this.createCount += 1;
    const createDate = microsecondDate(nowMs, this.createCount);
    return { id: randomUUID(), createDate, simulatedOutcome, hiddenUntilMs };
  }

  private startAndRespond(transaction: Transaction, responseBody: WireObject): SandboxResponse {
    const { createFault } = transaction.simulatedOutcome;
    if (createFault === 'cut_before') return { httpStatus: 500, body: {}, createFault };
    this.dependencies.lifecycle.start(transaction);
    this.dependencies.faultInjector.countCreated(transaction.kind);
    return { httpStatus: 201, body: responseBody, createFault };
  }
}

const unknownTransactionError = (): SandboxHttpError =>
  new SandboxHttpError(404, 'There is no such transaction');
