import { randomUUID } from 'node:crypto';
import type { SandboxMethods, WireObject } from '../schema/methods/sandbox-behaviour';
import { confirmAnswer, paymentAnswer, payoutAnswer, payoutCreated } from './answers';
import type { Clock } from './clock';
import { plainText, uuid } from './field-rules';
import type { Answer } from './exchange';
import type { FaultInjector } from './fault-injector';
import type { Lifecycle } from './lifecycle';
import type { LookupQuery } from './lookup-query';
import { ObjectReader, Problems } from './object-reader';
import { outcomeOf } from './final-states';
import { readPaymentRequest, type PaymentRequest } from './payment-request';
import { readPayoutRequest } from './payout-request';
import { Refusal, invalid } from './refusal';
import type { Store } from './store';
import {
  methodView,
  microsecondDate,
  type Kind,
  type Payment,
  type Payout,
  type Transaction,
} from './transaction';

export interface ServiceParts {
  methods: SandboxMethods;
  store: Store;
  lifecycle: Lifecycle;
  traffic: FaultInjector;
  clock: Clock;
  /** Known only once the server listens. */
  baseUrl(): string;
}

/** The operations of the service (spec section 4), between a checked request and its answer. */
export class Service {
  private sequence = 0;

  constructor(private readonly parts: ServiceParts) {}

  createPayment(body: WireObject): Answer {
    const request = readPaymentRequest(body, this.parts.methods.payments);
    const payment = this.newPayment(request);
    if (payment.outcome.cutBeforeCreate) return notCreated();
    this.begin(payment);
    return this.created(payment, paymentAnswer(payment, { baseUrl: this.parts.baseUrl(), lookup: false }));
  }

  createPayout(body: WireObject): Answer {
    const { fields, ...request } = readPayoutRequest(body, this.parts.methods.payouts);
    const payout: Payout = {
      kind: 'payout',
      status: 'processing',
      ...this.born(request),
      ...request,
      request: fields,
    };
    if (payout.outcome.cutBeforeCreate) return notCreated();
    this.begin(payout);
    return this.created(payout, payoutCreated(payout));
  }

  lookUp(kind: Kind, query: LookupQuery): Answer {
    const found = this.parts.store.find({ kind, ...query, now: this.parts.clock.now() });
    if (!found) throw unknownTransaction();
    const full = { baseUrl: this.parts.baseUrl(), lookup: true };
    return { status: 200, body: found.kind === 'payment' ? paymentAnswer(found, full) : payoutAnswer(found) };
  }

  /** Spec 4.5. The body names no channel: the payment's id is all there is. */
  confirm(body: WireObject): Answer {
    const problems = new Problems();
    const reader = new ObjectReader(body, problems);
    const id = reader.required('id', uuid);
    problems.throwIfAny();
    const payment = this.parts.store.get(id);
    if (payment?.kind !== 'payment' || this.isHidden(payment)) throw unknownTransaction();
    const { confirmField } = payment.method;
    if (!isWaiting(payment)) throw invalid({ id: 'must be a payment that waits for a confirmation' });
    const answer = confirmField ? reader.required(confirmField, plainText) : undefined;
    reader.finish();
    problems.throwIfAny();
    this.parts.lifecycle.confirm(payment, answer);
    return { status: 200, body: confirmAnswer(payment, this.parts.baseUrl()) };
  }

  private newPayment({ fields, adds, ...request }: PaymentRequest): Payment {
    const direct = request.flow === 'direct';
    const born = this.born(request);
    const added = adds ? request.method.adds?.(methodView({ ...born, ...request, request: fields })) : {};
    return {
      kind: 'payment',
      status: direct ? 'processing' : 'pending',
      state: direct ? request.method.direct?.state : undefined,
      type: request.method.type,
      ...born,
      ...request,
      request: fields,
      added: added ?? {},
    };
  }

  private born(request: {
    amount: { value: string };
  }): Pick<Transaction, 'id' | 'createDate' | 'outcome' | 'hiddenUntil'> {
    const now = this.parts.clock.now();
    const outcome = outcomeOf(request.amount.value);
    const hiddenUntil = outcome.hiddenForMs === undefined ? undefined : now + outcome.hiddenForMs;
    this.sequence += 1;
    return { id: randomUUID(), createDate: microsecondDate(now, this.sequence), outcome, hiddenUntil };
  }

  private begin(transaction: Transaction): void {
    this.parts.lifecycle.begin(transaction);
    this.parts.traffic.created(transaction.kind);
  }

  private created(transaction: Transaction, body: WireObject): Answer {
    return { status: 201, body, damage: transaction.outcome.createDamage };
  }

  private isHidden(transaction: Transaction): boolean {
    return transaction.hiddenUntil !== undefined && transaction.hiddenUntil > this.parts.clock.now();
  }
}

function isWaiting(payment: Payment): boolean {
  const { state, method } = payment;
  return method.confirmField !== undefined && state !== undefined && state !== 'waiting_for_provider';
}

function unknownTransaction(): Refusal {
  return new Refusal(404, 'There is no such transaction');
}

function notCreated(): Answer {
  return { status: 500, body: {}, damage: { kind: 'cut' } };
}
