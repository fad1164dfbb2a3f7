import { findPayoutMethod } from '../../schema/methods';
import type { PayoutMethodDefinition } from '../../schema/methods/method-definition';
import type { selectedPayoutMethod } from '../../schema/methods/selected-method';
import type { CreatePayoutInput } from '../../schema/mutations';
import { PayoutStatus, type PayoutResource } from '../../schema/payout';
import { toEnumValue } from '../../schema/register-enum';
import { readVerbatim, redactUnlessEnumValue, readTransactionStatus } from '../../redaction/text';
import { scalarToText, type WireObject } from '../../shared/wire-object';
import { mapAccepted, type MutationOutcome, type RequestAmount } from './mapping/responses';
import type { BulkheadSlots, LookupKey, PostOptions, ServiceClient } from './client';
import type { CreateRequest, FoundListener, LookupResult } from './payments';
import { amountFromRequest, readTransactionError } from './mapping/read-payment';

type CreatePayoutRequest = CreateRequest<CreatePayoutInput, ReturnType<typeof selectedPayoutMethod>>;

/** Details of a payout that are known without a response: from its request, lookup key or journal entry. */
export interface KnownPayout {
  channel: string;
  externalId?: string;
  definition?: PayoutMethodDefinition;
  wireType?: string | null;
  amount?: RequestAmount;
  publicDetails?: object;
  /** Whether details may be missing because the journal was not read. Default: false. */
  mayLackCreateDetails?: boolean;
  /** Whether the details come from an attempt that may not have created this payout. Default: false. */
  isFromUnprovenAttempt?: boolean;
}

/** Returns what is known about the payout with this transaction id, which a lookup has just found. */
type FindKnownDetails = (transactionId: string) => KnownPayout | Promise<KnownPayout>;

/** Creates and looks up payouts of the service (spec 4.1, 4.2). */
export class PayoutsApi {
  onFound: FoundListener<PayoutResource> = () => undefined;
  readonly bulkheadSlots: BulkheadSlots;

  constructor(private readonly client: ServiceClient) {
    this.bulkheadSlots = client.bulkheadSlots('payout/', 'payouts');
  }

  /** POST payout/ (spec 4.2). */
  async create(
    { input, method, externalId, callbackUrl }: CreatePayoutRequest,
    postOptions: PostOptions,
  ): Promise<MutationOutcome<PayoutResource>> {
    const { channel, amount, description } = input;
    const { definition, type, fields, publicDetails, secrets } = method;
    const body = JSON.stringify({
      channel,
      amount: { currency: amount.currency, value: amount.value },
      external_id: externalId,
      description: description ?? undefined,
      payout_method: { type, ...fields },
      callback_url: callbackUrl ?? undefined,
    });
    const knownDetails = { channel, amount, externalId, definition, wireType: type, publicDetails, secrets };
    const call = { channel, apiPath: 'payout/', body };
    const outcome = await this.client.postOnce('payouts', call, knownDetails, postOptions);
    return mapAccepted(outcome, (json) => readPayout(json, knownDetails));
  }

  /**
   * GET payout/ (spec 4.1). Returns null after a "not found" response. Throws a ServiceError if the lookup fails.
   * @param findKnownDetails returns what is known about the payout, for the fields that the response lacks. Default:
   * returns `lookupKey`.
   */
  async lookUp(lookupKey: LookupKey, findKnownDetails?: FindKnownDetails): Promise<PayoutResource | null> {
    return (await this.lookUpWithResponseOrigin(lookupKey, findKnownDetails)).transaction;
  }

  /** Like `lookUp`, but also returns whether the response is certainly from the service. */
  async lookUpWithResponseOrigin(
    lookupKey: LookupKey,
    findKnownDetails: FindKnownDetails = () => lookupKey,
  ): Promise<LookupResult<PayoutResource>> {
    const requestedAtMonotonic = this.client.runtime.monotonic();
    const { transaction: json, isFromService } = await this.client.lookUp('payout/', lookupKey);
    if (!json) return { transaction: null, isFromService };
    const transactionId = String(json['transaction_id']).toLowerCase();
    const known = await findKnownDetails(transactionId);
    const payout = readPayout(json, known);
    // Withhold the details from the listener if they may belong to another payout.
    const payoutForListener = known.isFromUnprovenAttempt
      ? readPayout(json, { channel: known.channel, mayLackCreateDetails: true })
      : payout;
    this.onFound(payoutForListener, requestedAtMonotonic);
    return { transaction: payout, isFromService };
  }

  /** Builds a payout from journal data, without a lookup. */
  resourceFromJournal(transactionId: string, wireStatus: string, known: KnownPayout): PayoutResource {
    return readPayout({ transaction_id: transactionId, status: wireStatus }, known);
  }
}

/** Reads a payout from a response (spec 2.6). Fields that the response lacks come from `known`. */
function readPayout(json: WireObject, known: KnownPayout): PayoutResource {
  const methodType = scalarToText(json['method']);
  const definition =
    methodType === null ? (known.definition ?? findPayoutMethod(null)) : findPayoutMethod(methodType);
  const payout = new definition.payoutClass(definition);
  const status = String(json['status']);
  return Object.assign(payout, definition === known.definition ? known.publicDetails : {}, {
    wireType: redactUnlessEnumValue(methodType) ?? known.wireType ?? null,
    transactionId: String(json['transaction_id']).toLowerCase(),
    channel: known.channel,
    externalId: readVerbatim(json['external_id']) ?? known.externalId,
    status: toEnumValue(PayoutStatus, PayoutStatus.UNKNOWN, status),
    rawStatus: readTransactionStatus(status),
    amount: amountFromRequest(known.amount),
    error: readTransactionError(json['error']),
    ...(known.mayLackCreateDetails && { mayLackCreateDetails: true }),
  });
}
