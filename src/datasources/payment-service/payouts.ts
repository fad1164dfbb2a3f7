import { payoutMethodByType } from '../../schema/methods';
import type { PayoutMethodDefinition } from '../../schema/methods/method-definition';
import { readWord } from '../../schema/payment';
import { PayoutStatus, type PayoutResource } from '../../schema/payout';
import { passThrough, parseEnumWord, readStatus } from '../../redaction/text';
import { wireText, type WireObject } from '../../shared/wire-object';
import type { MutationOutcome } from './mapping/responses';
import {
  mapAccepted,
  type LookupKey,
  type MoneySendOptions,
  type SendQueue,
  type ServiceClient,
} from './client';
import type { CreateRequest, OnSeen, Search } from './payments';
import { amountOf, readError } from './mapping/read-payment';

export interface PayoutRequest extends CreateRequest {
  definition: PayoutMethodDefinition;
  /** payout_method.type: that of the method, or the caller's. */
  type: string;
  /** Method details that may be shown: the service never returns them. */
  publicDetails: object;
}

/** Facts about a payout that come from its request or lookup key. */
export interface KnownPayout {
  channel: string;
  externalId?: string;
  definition?: PayoutMethodDefinition;
  type?: string | null;
  amount?: { currency: string; value: string };
  publicDetails?: object;
  /** Whether more is known but could not be read now. */
  isPartial?: boolean;
}

type KnownOf = (transactionId: string) => KnownPayout | Promise<KnownPayout>;

/** The payouts of the service (spec 4.1, 4.2). */
export class PayoutService {
  #onSeen: OnSeen<PayoutResource> = () => undefined;
  readonly queue: SendQueue;

  constructor(private readonly client: ServiceClient) {
    this.queue = client.queue('payout/', 'payouts');
  }

  onSeen(onSeen: OnSeen<PayoutResource>): void {
    this.#onSeen = onSeen;
  }

  /** POST payout/ (spec 4.2). */
  async create(request: PayoutRequest, options?: MoneySendOptions): Promise<MutationOutcome<PayoutResource>> {
    const body = JSON.stringify({
      channel: request.channel,
      amount: { currency: request.amount.currency, value: request.amount.value },
      external_id: request.externalId,
      description: request.description ?? undefined,
      payout_method: { type: request.type, ...request.fields },
      callback_url: request.callbackUrl ?? undefined,
    });
    const outcome = await this.client.postOnce(
      { channel: request.channel, path: 'payout/', lane: 'payouts', body, options },
      request,
    );
    return mapAccepted(outcome, (json) => readPayout(json, request));
  }

  /**
   * GET payout/ (spec 4.1); null when there is no such payout.
   * @param knownOf what is known about a payout by its transaction id
   */
  async lookUp(key: LookupKey, knownOf?: KnownOf): Promise<PayoutResource | null> {
    return (await this.search(key, knownOf)).found;
  }

  /** As `lookUp`, and whether the service itself responded. */
  async search(key: LookupKey, knownOf: KnownOf = () => key): Promise<Search<PayoutResource>> {
    const requestedAt = performance.now();
    const { transaction: json, isOwn } = await this.client.lookUp('payout/', key);
    if (!json) return { found: null, isOwn };
    const transactionId = String(json['transaction_id']).toLowerCase();
    const found = readPayout(json, await knownOf(transactionId));
    this.#onSeen(found, requestedAt);
    return { found, isOwn };
  }

  /** A payout from what is known. */
  remembered(transactionId: string, status: string, known: KnownPayout): PayoutResource {
    return readPayout({ transaction_id: transactionId, status }, known);
  }
}

/** Reads a payout (spec 2.6); fields that the response lacks come from `known`. */
function readPayout(json: WireObject, known: KnownPayout): PayoutResource {
  const type = wireText(json['method']);
  const definition =
    type === null ? (known.definition ?? payoutMethodByType(null)) : payoutMethodByType(type);
  const payout = new definition.payout(definition);
  const status = String(json['status']);
  return Object.assign(payout, definition === known.definition ? known.publicDetails : {}, {
    wireType: parseEnumWord(type) ?? known.type ?? null,
    transactionId: String(json['transaction_id']).toLowerCase(),
    channel: known.channel,
    externalId: passThrough(json['external_id']) ?? known.externalId,
    status: readWord(PayoutStatus, PayoutStatus.UNKNOWN, status),
    rawStatus: readStatus(status),
    amount: amountOf(known.amount),
    error: readError(json['error']),
    ...(known.isPartial && { isPartial: true }),
  });
}
