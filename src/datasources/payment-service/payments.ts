import type { PaymentMethodDefinition } from '../../schema/methods/method-definition';
import type { SelectedMethod } from '../../schema/methods/selected-method';
import type { CreatePaymentInput } from '../../schema/mutations';
import { MIN_POLL_AFTER_MS, type PollAfterMsByPhase, type PaymentResource } from '../../schema/payment';
import type { WireObject } from '../../shared/wire-object';
import { mapAccepted, type MutationOutcome } from './mapping/responses';
import type { BulkheadSlots, LookupKey, PostOptions, ServiceClient } from './client';
import { addLazyFields, isPartialResponse, readPayment, type KnownPayment } from './mapping/read-payment';

/** A create to send: the input of the mutation, and what the gateway has derived from it. */
export interface CreateRequest<Input, Method> {
  input: Input;
  /** The method that the input selects. Its `secrets` are redacted in responses. */
  method: Method;
  /** The external id of the input, or the one that the gateway generated. */
  externalId: string;
  /** The callback URL of the input, or that of the gateway; null or undefined if there is none. */
  callbackUrl: string | null | undefined;
}

type CreatePaymentRequest = CreateRequest<CreatePaymentInput, SelectedMethod<PaymentMethodDefinition>>;

export interface ConfirmRequest {
  channel: string;
  transactionId: string;
  definition: PaymentMethodDefinition;
  /** Fields of the request body except `id`. Named as in the API of the service. */
  bodyFields: WireObject;
  /** Id of the caller. The confirm counts towards the concurrency limit of this caller. */
  callerId: string;
}

export interface LookupResult<T> {
  /** The transaction; null if the response is "not found". */
  transaction: T | null;
  /**
   * Whether the response is certainly from the service. If not, the transaction may exist although `transaction` is
   * null.
   */
  isFromService: boolean;
}

/**
 * Called with every transaction that a lookup finds.
 * @param requestedAtMonotonic start of the lookup, in ms by the monotonic clock
 */
export type FoundListener<T> = (transaction: T, requestedAtMonotonic: number) => void;

/** Creates, confirms and looks up payments of the service (spec 4.3 to 4.5). */
export class PaymentsApi {
  onFound: FoundListener<PaymentResource> = () => undefined;
  readonly bulkheadSlots: BulkheadSlots;

  /** @param pollAfterMsByPhase poll intervals that each payment recommends to callers */
  constructor(
    private readonly client: ServiceClient,
    private readonly pollAfterMsByPhase: PollAfterMsByPhase = {
      payer: MIN_POLL_AFTER_MS,
      provider: MIN_POLL_AFTER_MS,
    },
  ) {
    this.bulkheadSlots = client.bulkheadSlots('payment/', 'payments');
  }

  /** POST payment/ (spec 4.4). */
  async create(
    { input, method, externalId, callbackUrl }: CreatePaymentRequest,
    postOptions: PostOptions,
  ): Promise<MutationOutcome<PaymentResource>> {
    const { channel, amount } = input;
    const { definition, fields, secrets } = method;
    const body = JSON.stringify({
      channel,
      amount: { currency: amount.currency, value: amount.value },
      external_id: externalId,
      payment_method: { type: definition.type, ...fields },
      return_url: input.returnUrl ?? undefined,
      callback_url: callbackUrl ?? undefined,
      description: input.description ?? undefined,
    });
    const knownDetails = { channel, amount, externalId, definition, methodFields: fields, secrets };
    const call = { channel, apiPath: 'payment/', body };
    const outcome = await this.client.postOnce('payments', call, knownDetails, postOptions);
    return mapAccepted(outcome, (json) => this.#toResource(json, knownDetails));
  }

  /** POST payment/confirm/ (spec 4.5). The body has no channel. */
  async confirm(request: ConfirmRequest): Promise<MutationOutcome<PaymentResource>> {
    const { channel, transactionId, definition, bodyFields, callerId } = request;
    const body = JSON.stringify({ id: transactionId, ...bodyFields });
    const call = { channel, apiPath: 'payment/confirm/', body };
    const outcome = await this.client.postOnce('payments', call, { channel, transactionId }, { callerId });
    return mapAccepted(outcome, (json) => this.#toResource(json, { channel, definition }));
  }

  /** GET payment/ (spec 4.3). Returns null after a "not found" response. Throws a ServiceError if the lookup fails. */
  async lookUp(lookupKey: LookupKey): Promise<PaymentResource | null> {
    return (await this.lookUpWithResponseOrigin(lookupKey)).transaction;
  }

  /** Like `lookUp`, but also returns whether the response is certainly from the service. */
  async lookUpWithResponseOrigin(lookupKey: LookupKey): Promise<LookupResult<PaymentResource>> {
    const requestedAtMonotonic = this.client.runtime.monotonic();
    const lookupResponse = await this.client.lookUp('payment/', lookupKey);
    const { transaction: json, dateHeaderMs, isFromService } = lookupResponse;
    if (!json) return { transaction: null, isFromService };
    const payment = Object.assign(readPayment(json, lookupKey, this.pollAfterMsByPhase), { dateHeaderMs });
    // If the response has no external id, the listener gets none, because the response does not prove that the external
    // id in `lookupKey` is that of the payment.
    const { externalId, ...keyWithoutExternalId } = lookupKey;
    const paymentForListener =
      externalId === undefined ? payment : readPayment(json, keyWithoutExternalId, this.pollAfterMsByPhase);
    this.onFound(paymentForListener, requestedAtMonotonic);
    return { transaction: payment, isFromService };
  }

  /** Builds a payment from journal data. The first access to a field that is not in the journal starts a lookup. */
  resourceFromJournal(transactionId: string, wireStatus: string, known: KnownPayment): PaymentResource {
    return this.#toResource({ transaction_id: transactionId, status: wireStatus }, known);
  }

  /**
   * Builds a payment from a response. If the response is partial (see isPartialResponse), the first access to a missing
   * field starts a lookup.
   */
  #toResource(json: WireObject, known: KnownPayment): PaymentResource {
    const payment = readPayment(json, known, this.pollAfterMsByPhase);
    if (isPartialResponse(json)) {
      const { channel, transactionId } = payment;
      const { secrets, amount } = known;
      addLazyFields(payment, () => this.lookUp({ channel, transactionId, secrets, amount }));
    }
    return payment;
  }
}
