import type { Attempt } from '../datasources/journal/journal';
import type { PaymentService } from '../datasources/service/payments';
import { chosenConfirmation, chosenPaymentMethod, type Chosen } from '../schema/methods/chosen';
import type { PaymentRoom } from '../schema/methods/room';
import type { PaymentResource } from '../schema/payment';
import {
  PaymentSuccess,
  type ConfirmPaymentInput,
  type ConfirmPaymentResult,
  type CreatePaymentInput,
  type CreatePaymentResult,
} from '../schema/payment-mutations';
import { confirmInProgress, confirmRejected, confirmUnknown, invalidInput } from '../schema/user-errors';
import type { Callbacks } from './callbacks';
import type { Confirms } from './confirms';
import { createFailure } from './create-failure';
import type { CreatePlan, Creates } from './creates';
import type { Finder } from './finder';
import { fieldFault, inputFaults, methodFaults } from './input-faults';
import type { JournalHand } from './journal-hand';
import { keptSecretFaults } from './kept-secret-faults';
import { urlFaults, type UrlPolicy } from './url-faults';
import { Sights } from './watching/sights';
import type { WatchesOptions } from './watching/watches';

interface PaymentParts {
  payments: PaymentService;
  finder: Finder<PaymentResource>;
  creates: Creates;
  confirms: Confirms;
  hand: JournalHand;
  urls: UrlPolicy;
  callbacks: Callbacks;
  watching: WatchesOptions;
}

/** Which payments a caller may confirm. */
export interface ConfirmRights {
  /** Whether it may act on every channel. */
  anyChannel: boolean;
  /** The client whose payments are the only ones it may confirm; null: it may confirm every payment of its channels. */
  createdBy: string | null;
}

const success = (payment: PaymentResource, replayed: boolean): PaymentSuccess =>
  Object.assign(new PaymentSuccess(), { payment, replayed });

/** What the gateway does with payments. */
export class PaymentOperations {
  /** Looking payments up, and watching them. */
  readonly sights: Sights<PaymentResource>;

  constructor(private readonly parts: PaymentParts) {
    this.sights = new Sights({
      ...parts.watching,
      kind: 'payment',
      source: parts.payments,
      ask: (key) => parts.payments.lookUp(key),
    });
  }

  /** Creates a payment, once per key of the client. Mistakes in the input are found before anything is sent. */
  async create(input: CreatePaymentInput, client: string): Promise<CreatePaymentResult> {
    const { payments, creates, finder, urls, callbacks } = this.parts;
    const method = chosenPaymentMethod(input.method);
    const faults = [...inputFaults(input), ...methodFaults(method, input.amount), ...urlFaults(input, urls)];
    faults.push(...keptSecretFaults(input, method, faults));

    const { room, fields, secrets } = method;
    const askedAt = performance.now();
    const plan: CreatePlan<PaymentResource> = {
      client,
      key: input.idempotencyKey,
      method: method.type,
      input: { ...input, externalId: input.externalId ?? null, kind: 'payment', method: method.canonical },
      shown: {},
      finder: finder.knowing(secrets),
      queue: payments.queue,
      send: ({ id, externalId }, options) => {
        const called = callbacks.of(id, input.callbackUrl, secrets);
        return payments.create({ ...input, externalId, room, fields, ...called }, options);
      },
    };
    const end = faults.length > 0 ? await creates.replay(plan, faults) : await creates.create(plan);
    if (!end) return invalidInput(faults);
    if (end.kind !== 'success')
      return createFailure(end, { idempotencyKey: input.idempotencyKey, kind: 'payment' });
    this.sights.shownBy(end, askedAt);
    return success(end.found, end.replayed);
  }

  /**
   * Hands in what the payer gave for a payment that waits for it; one at a time per payment.
   * A payment that the caller may not confirm is answered like one that does not exist, and the service is not asked.
   */
  async confirm(input: ConfirmPaymentInput, rights: ConfirmRights): Promise<ConfirmPaymentResult> {
    const method = chosenConfirmation(input.confirmation);
    const faults = inputFaults(input);
    if (faults.length === 0) faults.push(...(await this.#contradictions(input, method, rights)));
    if (faults.length > 0) return invalidInput(faults);

    const { channel, transactionId } = input;
    const { room, fields } = method;
    const askedAt = performance.now();
    const end = await this.parts.confirms
      .confirm({ channel, transactionId, room, fields })
      .finally(() => this.sights.forget(channel));
    switch (end.kind) {
      case 'success':
        this.sights.shownBy(end, askedAt);
        return success(end.found, end.replayed);
      case 'refused':
        return confirmRejected(end.httpStatus, end.message);
      case 'in_progress':
        return confirmInProgress();
      case 'unknown':
        return confirmUnknown(transactionId);
    }
  }

  /**
   * Whether the payment was made by another method than the one it is confirmed by, or on another channel. The service
   * confirms by the payment's id alone (spec 4.5): whether it is on the caller's channel is ours to find out, and where it
   * is not, the answer is the same whether it exists or not.
   */
  async #contradictions(
    { channel, transactionId }: ConfirmPaymentInput,
    { room, arm }: Chosen<PaymentRoom>,
    { anyChannel, createdBy }: ConfirmRights,
  ) {
    const { payments } = this.parts;
    const attempt = await this.#attemptOf({ channel, transactionId }, createdBy);
    if (attempt?.channel === channel) {
      const says = `must not be used: the payment was made by ${attempt.method}.`;
      return attempt.method === room.type ? [] : [fieldFault(['confirmation', arm], 'methodOfPayment', says)];
    }
    // A caller of all channels gains nothing by naming a wrong one: it is spared the lookup.
    if (!attempt && createdBy === null && (anyChannel || (await payments.lookUp({ channel, transactionId }))))
      return [];
    return [fieldFault(['transactionId'], 'paymentOnChannel', 'must be a payment on this channel.')];
  }

  /** The attempt that created a payment, of one client where only its own payments exist for the caller. */
  async #attemptOf(
    { channel, transactionId }: Pick<ConfirmPaymentInput, 'channel' | 'transactionId'>,
    createdBy: string | null,
  ): Promise<Attempt | null> {
    const { hand } = this.parts;
    const { journal, service } = hand;
    if (createdBy === null)
      return hand.required(journal.findByTransaction(service, 'payment', transactionId));
    const creator = { service, client: createdBy, kind: 'payment' } as const;
    const [own = null] = await hand.required(journal.findCreated(creator, [{ channel, transactionId }]));
    return own;
  }
}
