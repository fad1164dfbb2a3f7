import { Amount } from '../../schema/amount';
import { payoutRoomOf } from '../../schema/methods';
import type { PayoutMethodDefinition } from '../../schema/methods/method-definition';
import { readWord } from '../../schema/payment';
import { PayoutStatus, type PayoutResource } from '../../schema/payout';
import { passThrough, parseEnumWord, readStatus } from '../../redaction/text';
import { wireText, type WireObject } from '../../shared/wire-object';
import type { MutationOutcome } from './mapping/responses';
import {
  mapAccepted,
  type LookupResponse,
  type LookupKey,
  type MoneySendOptions,
  type SendQueue,
  type ServiceClient,
} from './client';
import type { Search } from './payments';
import { readError } from './mapping/read-common';

/** A payout to create, in the gateway's words. */
export interface PayoutRequest {
  channel: string;
  amount: { currency: string; value: string };
  externalId: string;
  description?: string | null;
  room: PayoutMethodDefinition;
  /** payout_method.type: the room's, or the caller's own word. */
  type: string;
  /** The fields of payout_method beside type, in wire spelling. */
  fields: WireObject;
  /** What the payout may show of these: the service never sends them back. */
  shown: object;
  callbackUrl?: string | null;
  /** Values of the request that must not come back in a message. */
  secrets: readonly string[];
}

/** What the gateway knows of a payout beside the answer. */
export interface KnownPayout {
  channel: string;
  externalId?: string;
  room?: PayoutMethodDefinition;
  type?: string | null;
  amount?: { currency: string; value: string };
  shown?: object;
  /** Whether more is known, but could not be asked for now. */
  isPartial?: boolean;
}

type KnownOf = (transactionId: string) => KnownPayout | Promise<KnownPayout>;

/** The payouts of the service (spec 4.1, 4.2). */
export class PayoutService {
  #seen: (found: PayoutResource, askedAt: number) => void = () => undefined;

  /** Where creates wait for their slot, before they are recorded. */
  readonly queue: SendQueue;

  constructor(private readonly client: ServiceClient) {
    this.queue = client.queue('payout/', 'payouts');
  }

  /** Who hears of every payout that a lookup finds, and when it was asked for, by the clock of `performance`. */
  onSeen(seen: (found: PayoutResource, askedAt: number) => void): void {
    this.#seen = seen;
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
    return mapAccepted(outcome, (answer) => readPayout(answer, request));
  }

  /**
   * GET payout/ (spec 4.1); null when the service has no such payout.
   * @param knownOf what is known, by its transaction id, of a payout beside the answer, which says little
   */
  async lookUp(key: LookupKey, knownOf: KnownOf = () => key): Promise<PayoutResource | null> {
    const askedAt = performance.now();
    return this.#found(await this.client.lookUp('payout/', key), knownOf, askedAt);
  }

  /** The same, for those to whom it matters who says that there is no such payout. */
  async search(key: LookupKey, knownOf: KnownOf = () => key): Promise<Search<PayoutResource>> {
    const askedAt = performance.now();
    const answered = await this.client.lookUp('payout/', key);
    return { found: await this.#found(answered, knownOf, askedAt), isOwn: answered.isOwn };
  }

  async #found(
    { answer }: LookupResponse,
    knownOf: KnownOf,
    askedAt: number,
  ): Promise<PayoutResource | null> {
    if (!answer) return null;
    const transactionId = String(answer['transaction_id']).toLowerCase();
    const payout = readPayout(answer, await knownOf(transactionId));
    this.#seen(payout, askedAt);
    return payout;
  }

  /** A payout of which no more than this is known. */
  remembered(transactionId: string, status: string, known: KnownPayout): PayoutResource {
    return readPayout({ transaction_id: transactionId, status }, known);
  }
}

/** A payout from the service's answer (spec 2.6); what the answer lacks comes from what is known. */
function readPayout(answer: WireObject, known: KnownPayout): PayoutResource {
  const said = wireText(answer['method']);
  const room = said === null ? (known.room ?? payoutRoomOf(null)) : payoutRoomOf(said);
  const payout = new room.payout(room);
  const status = String(answer['status']);
  const { amount } = known;
  return Object.assign(payout, room === known.room ? known.shown : {}, {
    wireType: parseEnumWord(said) ?? known.type ?? null,
    transactionId: String(answer['transaction_id']).toLowerCase(),
    channel: known.channel,
    externalId: passThrough(answer['external_id']) ?? known.externalId,
    status: readWord(PayoutStatus, PayoutStatus.UNKNOWN, status),
    rawStatus: readStatus(status),
    amount:
      amount &&
      Object.assign(new Amount(), { currency: amount.currency, value: amount.value, received: null }),
    error: readError(answer['error']),
    ...(known.isPartial && { isPartial: true }),
  });
}
