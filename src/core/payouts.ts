import type { LookupKey } from '../datasources/payment-service/client';
import type { KnownPayout, PayoutService } from '../datasources/payment-service/payouts';
import { ServiceError } from '../datasources/payment-service/service-error';
import { chosenPayoutMethod } from '../schema/methods/selected-method';
import type { PayoutResource } from '../schema/payout';
import { PayoutSuccess, type CreatePayoutInput, type CreatePayoutResult } from '../schema/payout-mutations';
import { invalidInput } from '../schema/user-errors';
import type { CallbackHandler } from './callbacks/callback-handler';
import { toUserError } from './create/create-error';
import type { CreatePlan, CreateService } from './create/create-service';
import type { TransactionMatcher } from './recovery/transaction-matcher';
import { validateInput, validateMethod } from './validation/validate-input';
import type { JournalSession } from './journal-session';
import { withTimeout } from '../shared/timeout';
import { knownFromJournal } from './recovery/payout-matcher';
import { findKeptSecrets } from './validation/reject-secrets';
import type { UrlPolicy } from '../config/types';
import { urlFaults } from './validation/validate-url';
import { TransactionFeed } from './polling/transaction-feed';
import type { PollerRegistryOptions } from './polling/poller-registry';

interface PayoutParts {
  payouts: PayoutService;
  finder: TransactionMatcher<PayoutResource>;
  creates: CreateService;
  hand: JournalSession;
  /** Whether an external id is looked up before the first sending. */
  preflight: boolean;
  urls: UrlPolicy;
  callbacks: CallbackHandler;
  watching: PollerRegistryOptions;
}

/** How long a lookup waits for the journal; without it the payout is shown with what the service says. */
const DETAILS_TIMEOUT_MS = 450;

const UNREACHABLE = 'The payment service cannot be reached; this call sent no payout. Repeat it unchanged.';

const PREFLIGHT_REFUSED =
  'This call sent no payout: the payment service refused the lookup of its external id before.';

/** What the gateway does with payouts. */
export class PayoutOperations {
  /** Looking payouts up, and watching them. */
  readonly sights: TransactionFeed<PayoutResource>;

  constructor(private readonly parts: PayoutParts) {
    this.sights = new TransactionFeed({
      ...parts.watching,
      kind: 'payout',
      source: parts.payouts,
      ask: (key) => this.#ask(key),
    });
  }

  /** A payout as the service has it, with what the journal knows of its method; null when the service has none. */
  #ask(key: LookupKey): Promise<PayoutResource | null> {
    return this.parts.payouts.lookUp(key, (transactionId) => this.#knownOf(key, transactionId));
  }

  async #knownOf(key: LookupKey, transactionId: string): Promise<KnownPayout> {
    const { hand } = this.parts;
    const asked = hand.journal.findByTransaction(hand.service, 'payout', transactionId);
    const attempt = await withTimeout(DETAILS_TIMEOUT_MS, asked).catch(() => undefined);
    if (attempt === undefined) return { ...key, isPartial: true };
    return attempt?.channel === key.channel ? knownFromJournal(attempt) : key;
  }

  /** Whether the service has no payout. Throws where it is something in front of the service that says so. */
  async #hasNone(key: LookupKey): Promise<boolean> {
    const { found, isOwn } = await this.parts.payouts
      .search(key, (id) => this.#knownOf(key, id))
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.kind !== 'LOOKUP_REFUSED') throw error;
        throw new ServiceError('LOOKUP_REFUSED', `${PREFLIGHT_REFUSED} ${error.message}`);
      });
    if (!found && !isOwn) throw new ServiceError('UNAVAILABLE', UNREACHABLE, 1000);
    return found === null;
  }

  /** Creates a payout, once per key of the client. Mistakes in the input are found before anything is sent. */
  async create(input: CreatePayoutInput, client: string): Promise<CreatePayoutResult> {
    const { payouts, creates, finder, preflight, urls, callbacks } = this.parts;
    const method = chosenPayoutMethod(input.method);
    const faults = [
      ...validateInput(input),
      ...validateMethod(method, input.amount),
      ...urlFaults(input, urls),
    ];
    faults.push(...findKeptSecrets(input, method, faults));

    const { room, type, fields, shown, secrets } = method;
    const { channel, idempotencyKey } = input;
    const isFree = (externalId: string): Promise<boolean> => this.#hasNone({ channel, externalId });
    const askedAt = performance.now();
    const plan: CreatePlan<PayoutResource> = {
      client,
      key: idempotencyKey,
      method: type,
      input: { ...input, kind: 'payout', method: method.canonical },
      publicDetails: shown,
      matcher: finder.withRedaction(secrets),
      ...(preflight && { isFree }),
      queue: payouts.queue,
      send: ({ id, externalId }, options) => {
        const called = callbacks.callbackUrlFor(id, input.callbackUrl, secrets);
        return payouts.create({ ...input, externalId, room, type, fields, shown, ...called }, options);
      },
    };
    const end = faults.length > 0 ? await creates.replay(plan, faults) : await creates.create(plan);
    if (!end) return invalidInput(faults);
    if (end.kind !== 'success') return toUserError(end, { idempotencyKey, kind: 'payout' });
    this.sights.onMutationResult(end, askedAt);
    const { found, replayed } = end;
    return Object.assign(new PayoutSuccess(), { payout: found, replayed });
  }
}
