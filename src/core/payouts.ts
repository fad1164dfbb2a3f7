import type { LookupKey } from '../datasources/payment-service/client';
import type { KnownPayout, PayoutsApi } from '../datasources/payment-service/payouts';
import { ServiceError } from '../datasources/payment-service/service-error';
import { selectedPayoutMethod } from '../schema/methods/selected-method';
import type { PayoutResource } from '../schema/payout';
import { PayoutSuccess, type CreatePayoutInput, type CreatePayoutResult } from '../schema/mutations';
import { UserError } from '../schema/user-errors';
import type { CallbackHandler } from './callbacks/callback-handler';
import type { CreatePlan } from './create/create-plan';
import { createOnce, type CreateOptions } from './create/create-service';
import { knownPayoutFromJournal, PayoutMatcher } from './recovery/transaction-matcher';
import { validateCreate } from './validation/validate-create';
import { withTimeout } from '../shared/timeout';
import type { UrlPolicy } from '../config/types';
import { TransactionFeed, type TransactionFeedOptions } from './polling/transaction-feed';

interface PayoutOperationsOptions extends CreateOptions {
  payouts: PayoutsApi;
  /** Whether a create is sent only after a lookup has shown that no payout has its external id. */
  hasPreflight: boolean;
  urlPolicy: UrlPolicy;
  callbackHandler: CallbackHandler;
  pollingOptions: TransactionFeedOptions;
}

/** Time limit in ms for reading the details of a payout from the journal. After a timeout, the payout lacks them. */
const KNOWN_PAYOUT_TIMEOUT_MS = 450;

const SERVICE_UNREACHABLE_MESSAGE =
  'The payment service cannot be reached; this call sent no payout. Repeat it unchanged.';

const PREFLIGHT_REJECTED_MESSAGE =
  'This call sent no payout: the payment service rejected the lookup of its external id.';

export class PayoutOperations {
  readonly transactionFeed: TransactionFeed<PayoutResource>;

  constructor(private readonly options: PayoutOperationsOptions) {
    const { payouts, pollingOptions: feedOptions } = options;
    this.transactionFeed = new TransactionFeed(feedOptions, 'payout', (lookupKey) =>
      payouts.lookUp(lookupKey, (transactionId) => this.#findKnownDetails(lookupKey, transactionId)),
    );
    payouts.onFound = (payout, requestedAtMonotonic) =>
      this.transactionFeed.onSnapshot(payout, requestedAtMonotonic);
  }

  /**
   * Returns the details of a payout, most of which the service never returns. They come from the journal. If the
   * journal has no such payout on the channel, they come from `lookupKey`. If the journal cannot be read in time,
   * returns `lookupKey` with `mayLackCreateDetails: true`.
   */
  async #findKnownDetails(lookupKey: LookupKey, transactionId: string): Promise<KnownPayout> {
    const { journal, serviceName, runtime } = this.options.journalSession;
    const readPromise = journal.findByTransaction(serviceName, 'payout', transactionId);
    const attempt = await withTimeout(KNOWN_PAYOUT_TIMEOUT_MS, readPromise, runtime).catch(() => undefined);
    if (attempt === undefined) return { ...lookupKey, mayLackCreateDetails: true };
    return attempt?.channel === lookupKey.channel ? knownPayoutFromJournal(attempt) : lookupKey;
  }

  /**
   * Preflight of a create: whether a lookup of `lookupKey` finds no payout. Throws a ServiceError if the lookup fails,
   * or if its 404 may come from a proxy.
   */
  async #hasNoPayout(lookupKey: LookupKey): Promise<boolean> {
    const { transaction: found, isFromService } = await this.options.payouts
      .lookUpWithResponseOrigin(lookupKey, (transactionId) =>
        this.#findKnownDetails(lookupKey, transactionId),
      )
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.kind !== 'LOOKUP_REFUSED') throw error;
        throw new ServiceError('LOOKUP_REFUSED', `${PREFLIGHT_REJECTED_MESSAGE} ${error.message}`);
      });
    if (!found && !isFromService) throw new ServiceError('UNAVAILABLE', SERVICE_UNREACHABLE_MESSAGE, 1000);
    return found === null;
  }

  /** Creates at most one payout per idempotency key. Never sends an invalid input. */
  async create(input: CreatePayoutInput, client: string): Promise<CreatePayoutResult> {
    const { payouts, journalSession, hasPreflight, urlPolicy, callbackHandler } = this.options;
    const method = selectedPayoutMethod(input.method);
    const { channel } = input;
    const requestedAtMonotonic = journalSession.runtime.monotonic();
    const plan: CreatePlan<PayoutResource> = {
      client,
      idempotencyKey: input.idempotencyKey,
      methodType: method.type,
      input: { ...input, kind: 'payout', method: method.fingerprintFields },
      inputErrors: validateCreate(input, method, urlPolicy),
      publicDetails: method.publicDetails,
      matcher: new PayoutMatcher(payouts, journalSession, method.secrets),
      checkExternalIdFree: hasPreflight
        ? (externalId) => this.#hasNoPayout({ channel, externalId })
        : undefined,
      bulkheadSlots: payouts.bulkheadSlots,
      send: ({ id, externalId }, options) => {
        const callbackUrl = callbackHandler.callbackUrlFor(id, input.callbackUrl);
        return payouts.create({ input, method, externalId, callbackUrl }, options);
      },
    };
    const result = await createOnce(this.options, plan);
    if (result instanceof UserError) return result;
    this.transactionFeed.onMutationResult(result, requestedAtMonotonic);
    return Object.assign(new PayoutSuccess(), { payout: result.transaction, replayed: result.replayed });
  }
}
