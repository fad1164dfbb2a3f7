import type { Attempt } from '../datasources/journal/journal';
import type { PaymentService } from '../datasources/payment-service/payments';
import {
  chosenConfirmation,
  chosenPaymentMethod,
  type SelectedMethod,
} from '../schema/methods/selected-method';
import type { PaymentMethodDefinition } from '../schema/methods/method-definition';
import type { PaymentResource } from '../schema/payment';
import {
  PaymentSuccess,
  type ConfirmPaymentInput,
  type ConfirmPaymentResult,
  type CreatePaymentInput,
  type CreatePaymentResult,
} from '../schema/payment-mutations';
import { confirmInProgress, confirmRejected, confirmUnknown, invalidInput } from '../schema/user-errors';
import type { CallbackHandler } from './callbacks/callback-handler';
import type { ConfirmService } from './confirm/confirm-service';
import { toUserError } from './create/create-error';
import type { CreatePlan, CreateService } from './create/create-service';
import type { TransactionMatcher } from './recovery/transaction-matcher';
import { fieldError, validateInput, validateMethod } from './validation/validate-input';
import type { JournalSession } from './journal-session';
import { findKeptSecrets } from './validation/reject-secrets';
import type { UrlPolicy } from '../config/types';
import { urlFaults } from './validation/validate-url';
import { TransactionFeed } from './polling/transaction-feed';
import type { PollerRegistryOptions } from './polling/poller-registry';

interface PaymentParts {
  payments: PaymentService;
  finder: TransactionMatcher<PaymentResource>;
  creates: CreateService;
  confirms: ConfirmService;
  hand: JournalSession;
  urls: UrlPolicy;
  callbacks: CallbackHandler;
  watching: PollerRegistryOptions;
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
  readonly sights: TransactionFeed<PaymentResource>;

  constructor(private readonly parts: PaymentParts) {
    this.sights = new TransactionFeed({
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
    const faults = [
      ...validateInput(input),
      ...validateMethod(method, input.amount),
      ...urlFaults(input, urls),
    ];
    faults.push(...findKeptSecrets(input, method, faults));

    const { room, fields, secrets } = method;
    const askedAt = performance.now();
    const plan: CreatePlan<PaymentResource> = {
      client,
      key: input.idempotencyKey,
      method: method.type,
      input: { ...input, externalId: input.externalId ?? null, kind: 'payment', method: method.canonical },
      publicDetails: {},
      matcher: finder.withRedaction(secrets),
      queue: payments.queue,
      send: ({ id, externalId }, options) => {
        const called = callbacks.callbackUrlFor(id, input.callbackUrl, secrets);
        return payments.create({ ...input, externalId, room, fields, ...called }, options);
      },
    };
    const end = faults.length > 0 ? await creates.replay(plan, faults) : await creates.create(plan);
    if (!end) return invalidInput(faults);
    if (end.kind !== 'success')
      return toUserError(end, { idempotencyKey: input.idempotencyKey, kind: 'payment' });
    this.sights.onMutationResult(end, askedAt);
    return success(end.found, end.replayed);
  }

  /**
   * Hands in what the payer gave for a payment that waits for it; one at a time per payment.
   * A payment that the caller may not confirm is answered like one that does not exist, and the service is not asked.
   */
  async confirm(input: ConfirmPaymentInput, rights: ConfirmRights): Promise<ConfirmPaymentResult> {
    const method = chosenConfirmation(input.confirmation);
    const faults = validateInput(input);
    if (faults.length === 0) faults.push(...(await this.#contradictions(input, method, rights)));
    if (faults.length > 0) return invalidInput(faults);

    const { channel, transactionId } = input;
    const { room, fields } = method;
    const askedAt = performance.now();
    const end = await this.parts.confirms
      .confirm({ channel, transactionId, room, fields })
      .finally(() => this.sights.invalidate(channel));
    switch (end.kind) {
      case 'success':
        this.sights.onMutationResult(end, askedAt);
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
    { room, arm }: SelectedMethod<PaymentMethodDefinition>,
    { anyChannel, createdBy }: ConfirmRights,
  ) {
    const { payments } = this.parts;
    const attempt = await this.#attemptOf({ channel, transactionId }, createdBy);
    if (attempt?.channel === channel) {
      const says = `must not be used: the payment was made by ${attempt.method}.`;
      return attempt.method === room.type ? [] : [fieldError(['confirmation', arm], 'methodOfPayment', says)];
    }
    // A caller of all channels gains nothing by naming a wrong one: it is spared the lookup.
    if (!attempt && createdBy === null && (anyChannel || (await payments.lookUp({ channel, transactionId }))))
      return [];
    return [fieldError(['transactionId'], 'paymentOnChannel', 'must be a payment on this channel.')];
  }

  /** The attempt that created a payment, of one client where only its own payments exist for the caller. */
  async #attemptOf(
    { channel, transactionId }: Pick<ConfirmPaymentInput, 'channel' | 'transactionId'>,
    createdBy: string | null,
  ): Promise<Attempt | null> {
    const { hand } = this.parts;
    const { journal, service } = hand;
    if (createdBy === null)
      return hand.failClosed(journal.findByTransaction(service, 'payment', transactionId));
    const creator = { service, client: createdBy, kind: 'payment' } as const;
    const [own = null] = await hand.failClosed(journal.findCreated(creator, [{ channel, transactionId }]));
    return own;
  }
}
