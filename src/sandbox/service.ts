import { randomUUID } from 'node:crypto';
import type { SandboxMethods } from '../schema/methods/sandbox-behaviour';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import { confirmBody, paymentBody, payoutBody, payoutCreatedBody } from './bodies';
import type { SandboxResponse } from './exchange';
import type { FaultInjector } from './fault-injector';
import { plainText, uuid } from './field-rules';
import { outcomeOf } from './final-states';
import { SandboxHttpError, invalidRequest } from './http-error';
import type { Lifecycle } from './lifecycle';
import type { LookupQuery } from './lookup-query';
import { ObjectReader, Problems } from './object-reader';
import { readPaymentRequest, readPayoutRequest } from './create-request';
import type { Store } from './store';
import {
  methodView,
  microsecondDate,
  type Amount,
  type TransactionKind,
  type Payment,
  type Transaction,
} from './transaction';

interface PaymentServiceParts {
  methods: SandboxMethods;
  store: Store;
  lifecycle: Lifecycle;
  faults: FaultInjector;
  clock: Clock;
  /** Returns the base URL. Call it only after the server has started to listen. */
  baseUrl(): string;
}

/** Carries out the requests that the payment service accepts (spec section 4), without HTTP and authentication. */
export class PaymentService {
  private createCount = 0;

  constructor(private readonly parts: PaymentServiceParts) {}

  createPayment(body: WireObject): SandboxResponse {
    const { fields, hasDirectFlowFields, ...request } = readPaymentRequest(body, this.parts.methods.payments);
    const { method, flow } = request;
    const base = this.newTransactionFields(request.amount);
    const view = methodView({ ...base, amount: request.amount, request: fields });
    const added = hasDirectFlowFields ? method.adds?.(view) : {};
    const payment: Payment = {
      kind: 'payment',
      status: flow === 'direct' ? 'processing' : 'pending',
      state: flow === 'direct' ? method.direct?.state : undefined,
      type: method.type,
      ...base,
      ...request,
      request: fields,
      added: added ?? {},
    };
    return this.create(payment, () =>
      paymentBody(payment, { baseUrl: this.parts.baseUrl(), isLookup: false }),
    );
  }

  createPayout(body: WireObject): SandboxResponse {
    const { fields, ...request } = readPayoutRequest(body, this.parts.methods.payouts);
    const base = this.newTransactionFields(request.amount);
    const payout = { kind: 'payout', status: 'processing', ...base, ...request, request: fields } as const;
    return this.create(payout, () => payoutCreatedBody(payout));
  }

  lookUp(kind: TransactionKind, query: LookupQuery): SandboxResponse {
    const found = this.parts.store.find({ kind, ...query, now: this.parts.clock.now() });
    if (!found) throw unknownTransaction();
    const options = { baseUrl: this.parts.baseUrl(), isLookup: true };
    return { status: 200, body: found.kind === 'payment' ? paymentBody(found, options) : payoutBody(found) };
  }

  /** Confirms a payment (spec 4.5). Unlike a lookup, a confirm does not name the channel. */
  confirm(body: WireObject): SandboxResponse {
    const problems = new Problems();
    const reader = new ObjectReader(body, problems);
    const id = reader.required('id', uuid);
    problems.throwIfAny();
    const payment = this.parts.store.get(id);
    if (payment?.kind !== 'payment' || this.isHidden(payment)) throw unknownTransaction();
    const { confirmField } = payment.method;
    if (!awaitsConfirm(payment)) throw invalidRequest({ id: 'must be a payment that waits for a confirm' });
    const code = confirmField ? reader.required(confirmField, plainText) : undefined;
    reader.finish();
    problems.throwIfAny();
    this.parts.lifecycle.confirm(payment, code);
    return { status: 200, body: confirmBody(payment, this.parts.baseUrl()) };
  }

  private newTransactionFields({
    value,
  }: Amount): Pick<Transaction, 'id' | 'createDate' | 'outcome' | 'hiddenUntil'> {
    const now = this.parts.clock.now();
    const outcome = outcomeOf(value);
    const hiddenUntil = outcome.hiddenForMs === undefined ? undefined : now + outcome.hiddenForMs;
    this.createCount += 1;
    return { id: randomUUID(), createDate: microsecondDate(now, this.createCount), outcome, hiddenUntil };
  }

  private create(transaction: Transaction, body: () => WireObject): SandboxResponse {
    const { cutBeforeCreate, createFault } = transaction.outcome;
    if (cutBeforeCreate) return { status: 500, body: {}, responseFault: { kind: 'cut' } };
    this.parts.lifecycle.begin(transaction);
    this.parts.faults.countCreated(transaction.kind);
    return { status: 201, body: body(), responseFault: createFault };
  }

  private isHidden({ hiddenUntil }: Transaction): boolean {
    return hiddenUntil !== undefined && hiddenUntil > this.parts.clock.now();
  }
}

const awaitsConfirm = ({ state, method }: Payment): boolean =>
  method.confirmField !== undefined && state !== undefined && state !== 'waiting_for_provider';

const unknownTransaction = (): SandboxHttpError => new SandboxHttpError(404, 'There is no such transaction');
