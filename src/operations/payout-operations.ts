import type { LookupKey } from '../datasources/service/client';
import type { KnownPayout, PayoutService } from '../datasources/service/payouts';
import { ServiceError } from '../datasources/service/service-error';
import { chosenPayoutMethod } from '../schema/methods/chosen';
import type { PayoutResource } from '../schema/payout';
import { PayoutSuccess, type CreatePayoutInput, type CreatePayoutResult } from '../schema/payout-mutations';
import { invalidInput } from '../schema/user-errors';
import type { Callbacks } from './callbacks';
import { createFailure } from './create-failure';
import type { CreatePlan, Creates } from './creates';
import type { Finder } from './finder';
import { inputFaults, methodFaults } from './input-faults';
import type { JournalHand } from './journal-hand';
import { within } from './deadline';
import { knownFromJournal } from './payout-finder';
import { keptSecretFaults } from './kept-secret-faults';
import { urlFaults, type UrlPolicy } from './url-faults';
import { Sights } from './watching/sights';
import type { WatchesOptions } from './watching/watches';

interface PayoutParts {
  payouts: PayoutService;
  finder: Finder<PayoutResource>;
  creates: Creates;
  hand: JournalHand;
  /** Whether an external id is looked up before the first sending. */
  preflight: boolean;
  urls: UrlPolicy;
  callbacks: Callbacks;
  watching: WatchesOptions;
}

/** How long a lookup waits for the journal; without it the payout is shown with what the service says. */
const DETAILS_PATIENCE_MS = 450;

const UNREACHABLE = 'The payment service cannot be reached; this call sent no payout. Repeat it unchanged.';

const PREFLIGHT_REFUSED =
  'This call sent no payout: the payment service refused the lookup of its external id before.';

/** What the gateway does with payouts. */
export class PayoutOperations {
  /** Looking payouts up, and watching them. */
  readonly sights: Sights<PayoutResource>;

  constructor(private readonly parts: PayoutParts) {
    this.sights = new Sights({
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
    const attempt = await within(DETAILS_PATIENCE_MS, asked).catch(() => undefined);
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
    const faults = [...inputFaults(input), ...methodFaults(method, input.amount), ...urlFaults(input, urls)];
    faults.push(...keptSecretFaults(input, method, faults));

    const { room, type, fields, shown, secrets } = method;
    const { channel, idempotencyKey } = input;
    const isFree = (externalId: string): Promise<boolean> => this.#hasNone({ channel, externalId });
    const askedAt = performance.now();
    const plan: CreatePlan<PayoutResource> = {
      client,
      key: idempotencyKey,
      method: type,
      input: { ...input, kind: 'payout', method: method.canonical },
      shown,
      finder: finder.knowing(secrets),
      ...(preflight && { isFree }),
      queue: payouts.queue,
      send: ({ id, externalId }, options) => {
        const called = callbacks.of(id, input.callbackUrl, secrets);
        return payouts.create({ ...input, externalId, room, type, fields, shown, ...called }, options);
      },
    };
    const end = faults.length > 0 ? await creates.replay(plan, faults) : await creates.create(plan);
    if (!end) return invalidInput(faults);
    if (end.kind !== 'success') return createFailure(end, { idempotencyKey, kind: 'payout' });
    this.sights.shownBy(end, askedAt);
    const { found, replayed } = end;
    return Object.assign(new PayoutSuccess(), { payout: found, replayed });
  }
}
