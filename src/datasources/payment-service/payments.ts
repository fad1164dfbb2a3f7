import type { PaymentMethodDefinition } from '../../schema/methods/method-definition';
import type { PollAfter } from '../../shared/poll-after';
import type { PaymentResource } from '../../schema/payment';
import { normalizeDecimal } from '../../schema/scalars';
import type { WireObject } from '../../shared/wire-object';
import type { MutationOutcome } from './mapping/responses';
import {
  mapAccepted,
  type LookupKey,
  type MoneySendOptions,
  type SendQueue,
  type ServiceClient,
} from './client';
import { lazyComplete, isPartial, readPayment, type KnownPayment } from './mapping/read-payment';

/** Fields of a create that payments and payouts share. */
export interface CreateRequest {
  channel: string;
  amount: { currency: string; value: string };
  externalId: string;
  /** Fields of the method beside its type, in wire spelling. */
  fields: WireObject;
  description?: string | null;
  callbackUrl?: string | null;
  /** Values that responses must not expose. */
  secrets: readonly string[];
}

export interface PaymentRequest extends CreateRequest {
  definition: PaymentMethodDefinition;
  returnUrl?: string | null;
}

export interface ConfirmRequest {
  channel: string;
  transactionId: string;
  definition: PaymentMethodDefinition;
  /** Fields of the body beside id, in wire spelling. */
  fields: WireObject;
}

/** A payment as the gateway remembers it. */
export interface RememberedPayment extends KnownPayment {
  transactionId: string;
  status: string;
}

/** Result of a lookup. */
export interface Search<T> {
  found: T | null;
  /** Whether the response is the service's own. That of a proxy proves nothing. */
  isOwn: boolean;
}

/** Called for every transaction that a lookup finds. @param requestedAt start of the lookup by `performance.now()` */
export type OnSeen<T> = (found: T, requestedAt: number) => void;

/** The payments of the service (spec 4.3 to 4.5). */
export class PaymentService {
  #onSeen: OnSeen<PaymentResource> = () => undefined;
  readonly queue: SendQueue;

  /** @param pollAfter for the next actions of the payments */
  constructor(
    private readonly client: ServiceClient,
    private readonly pollAfter: PollAfter,
  ) {
    this.queue = client.queue('payment/', 'payments');
  }

  onSeen(onSeen: OnSeen<PaymentResource>): void {
    this.#onSeen = onSeen;
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
      payment_method: { type: request.definition.type, ...request.fields },
      return_url: request.returnUrl ?? undefined,
      callback_url: request.callbackUrl ?? undefined,
      description: request.description ?? undefined,
    });
    const outcome = await this.client.postOnce(
      { channel: request.channel, path: 'payment/', lane: 'payments', body, options },
      request,
    );
    return mapAccepted(outcome, (json) => this.#read(json, request));
  }

  /** POST payment/confirm/ (spec 4.5). The body has no channel. */
  async confirm(request: ConfirmRequest): Promise<MutationOutcome<PaymentResource>> {
    const { channel, transactionId, definition, fields } = request;
    const body = JSON.stringify({ id: transactionId, ...fields });
    const outcome = await this.client.postOnce(
      { channel, path: 'payment/confirm/', lane: 'payments', body },
      { channel, transactionId },
    );
    return mapAccepted(outcome, (json) => this.#read(json, { channel, definition }));
  }

  /** GET payment/ (spec 4.3); null when there is no such payment. */
  async lookUp(key: LookupKey): Promise<PaymentResource | null> {
    return (await this.search(key)).found;
  }

  /** As `lookUp`, and whether the service itself responded. */
  async search(key: LookupKey): Promise<Search<PaymentResource>> {
    const requestedAt = performance.now();
    const { transaction: json, serviceTime, isOwn } = await this.client.lookUp('payment/', key);
    if (!json) return { found: null, isOwn };
    const found = Object.assign(readPayment(json, key, this.pollAfter), { serviceTime });
    // The response does not contain the external id of the lookup: other subscribers must not see it.
    const { externalId, ...bare } = key;
    this.#onSeen(externalId === undefined ? found : readPayment(json, bare, this.pollAfter), requestedAt);
    return { found, isOwn };
  }

  /** A payment from what is known; its other fields are looked up when they are selected. */
  remembered({ transactionId, status, ...known }: RememberedPayment): PaymentResource {
    return this.#read({ transaction_id: transactionId, status }, known);
  }

  #read(json: WireObject, known: KnownPayment): PaymentResource {
    const payment = readPayment(json, known, this.pollAfter);
    if (isPartial(json)) {
      const { channel, transactionId } = payment;
      lazyComplete(payment, async () => {
        const { secrets = [] } = known;
        const found = await this.lookUp({ channel, transactionId, secrets });
        return found && isOtherAmount(found, known) ? null : found;
      });
    }
    return payment;
  }
}

function isOtherAmount({ amount }: PaymentResource, { amount: expected }: KnownPayment): boolean {
  if (!expected || !amount || amount instanceof Promise) return false;
  return amount.currency !== expected.currency || normalizeDecimal(amount.value) !== expected.value;
}
