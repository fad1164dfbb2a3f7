import type { PaymentMethodDefinition } from '../../schema/methods/method-definition';
import type { PollAfter } from '../../shared/poll-after';
import type { PaymentResource } from '../../schema/payment';
import { normalizeDecimal } from '../../schema/scalars';
import type { WireObject } from '../../shared/wire-object';
import type { MutationOutcome } from './mapping/responses';
import {
  mapAccepted,
  type LookupResponse,
  type LookupKey,
  type MoneySendOptions,
  type SendQueue,
  type ServiceClient,
} from './client';
import { lazyComplete, isPartial, readPayment, type KnownPayment } from './mapping/read-payment';

/** A payment to create, in the gateway's words. */
export interface PaymentRequest {
  channel: string;
  amount: { currency: string; value: string };
  externalId: string;
  room: PaymentMethodDefinition;
  /** The fields of payment_method beside type, in wire spelling. */
  fields: WireObject;
  returnUrl?: string | null;
  callbackUrl?: string | null;
  /** Values of the request that must not come back in a message. */
  secrets: readonly string[];
  description?: string | null;
}

/** A payment to confirm. */
export interface ConfirmRequest {
  channel: string;
  transactionId: string;
  room: PaymentMethodDefinition;
  /** The fields of the body beside id, in wire spelling. */
  fields: WireObject;
}

/** What the gateway remembers of a payment that the service does not show now. */
export interface RememberedPayment extends KnownPayment {
  transactionId: string;
  status: string;
}

/** Result of a lookup. */
export interface Search<T> {
  found: T | null;
  /** Whether it is the service itself that has, or has not, the transaction; something in front of it proves nothing. */
  isOwn: boolean;
}

/** The payments of the service (spec 4.3 to 4.5). */
export class PaymentService {
  #seen: (found: PaymentResource, askedAt: number) => void = () => undefined;

  /** Where creates wait for their slot, before they are recorded. */
  readonly queue: SendQueue;

  /** @param pollAfter for the next actions of the payments */
  constructor(
    private readonly client: ServiceClient,
    private readonly pollAfter: PollAfter,
  ) {
    this.queue = client.queue('payment/', 'payments');
  }

  /** Who hears of every payment that a lookup finds, and when it was asked for, by the clock of `performance`. */
  onSeen(seen: (found: PaymentResource, askedAt: number) => void): void {
    this.#seen = seen;
  }

  /** POST payment/ (spec 4.4). */
  async create(
    request: PaymentRequest,
    options?: MoneySendOptions,
  ): Promise<MutationOutcome<PaymentResource>> {
    const body = JSON.stringify({
      channel: request.channel,
      amount: { currency: request.amount.currency, value: request.amount.value },
      external_id: request.externalId,
      payment_method: { type: request.room.type, ...request.fields },
      return_url: request.returnUrl ?? undefined,
      callback_url: request.callbackUrl ?? undefined,
      description: request.description ?? undefined,
    });
    const outcome = await this.client.postOnce(
      { channel: request.channel, path: 'payment/', lane: 'payments', body, options },
      request,
    );
    return mapAccepted(outcome, (answer) => this.#read(answer, request));
  }

  /** POST payment/confirm/ (spec 4.5). The body has no channel. */
  async confirm({
    channel,
    transactionId,
    room,
    fields,
  }: ConfirmRequest): Promise<MutationOutcome<PaymentResource>> {
    const body = JSON.stringify({ id: transactionId, ...fields });
    const outcome = await this.client.postOnce(
      { channel, path: 'payment/confirm/', lane: 'payments', body },
      { channel, transactionId },
    );
    return mapAccepted(outcome, (answer) => this.#read(answer, { channel, room }));
  }

  /** GET payment/ (spec 4.3); null when the service has no such payment. */
  async lookUp(key: LookupKey): Promise<PaymentResource | null> {
    const askedAt = performance.now();
    return this.#found(key, await this.client.lookUp('payment/', key), askedAt);
  }

  /** The same, for those to whom it matters who says that there is no such payment. */
  async search(key: LookupKey): Promise<Search<PaymentResource>> {
    const askedAt = performance.now();
    const answered = await this.client.lookUp('payment/', key);
    return { found: this.#found(key, answered, askedAt), isOwn: answered.isOwn };
  }

  #found(key: LookupKey, { answer, serviceTime }: LookupResponse, askedAt: number): PaymentResource | null {
    if (!answer) return null;
    const payment = Object.assign(readPayment(answer, key, this.pollAfter), { serviceTime });
    // That the external id in the question is this payment's own is not in the answer: others must not be told so.
    const { externalId, ...bare } = key;
    this.#seen(externalId === undefined ? payment : readPayment(answer, bare, this.pollAfter), askedAt);
    return payment;
  }

  /** A payment of which no more than this is known; the rest arrives by one lookup, when it is selected. */
  remembered({ transactionId, status, ...known }: RememberedPayment): PaymentResource {
    return this.#read({ transaction_id: transactionId, status }, known);
  }

  #read(answer: WireObject, known: KnownPayment): PaymentResource {
    const payment = readPayment(answer, known, this.pollAfter);
    if (isPartial(answer)) {
      const { channel, transactionId } = payment;
      lazyComplete(payment, async () => {
        const { secrets = [] } = known;
        const whole = await this.lookUp({ channel, transactionId, secrets });
        return whole && contradicts(whole, known) ? null : whole;
      });
    }
    return payment;
  }
}

/** Whether a payment that was looked up is not the one that was asked for. */
function contradicts({ amount }: PaymentResource, { amount: asked }: KnownPayment): boolean {
  if (!asked || !amount || amount instanceof Promise) return false;
  return amount.currency !== asked.currency || normalizeDecimal(amount.value) !== asked.value;
}
