import type { Attempt } from '../datasources/journal/journal';
import type { PaymentService } from '../datasources/payment-service/payments';
import {
  selectedConfirmation,
  selectedPaymentMethod,
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
} from '../schema/mutations';
import {
  confirmAlreadyInProgress,
  confirmOutcomeUnknown,
  confirmRejected,
  invalidInput,
} from '../schema/user-errors';
import type { CallbackHandler } from './callbacks/callback-handler';
import type { ConfirmService } from './confirm/confirm-service';
import { toUserError } from './create/create-error';
import type { CreatePlan } from './create/create-plan';
import type { CreateService } from './create/create-service';
import type { TransactionMatcher } from './recovery/transaction-matcher';
import { validateCreate } from './validation/validate-create';
import { fieldError, validateInput } from './validation/validate-input';
import type { JournalSession } from './journal-session';
import type { UrlPolicy } from '../config/types';
import { TransactionFeed, type PollingOptions } from './polling/transaction-feed';

interface PaymentOperationsOptions {
  payments: PaymentService;
  matcher: TransactionMatcher<PaymentResource>;
  createService: CreateService;
  confirmService: ConfirmService;
  session: JournalSession;
  urls: UrlPolicy;
  callbacks: CallbackHandler;
  polling: PollingOptions;
}

/** Which payments a caller may confirm. */
export interface ConfirmRights {
  /** Whether the caller may act on every channel. */
  anyChannel: boolean;
  /** The only client whose payments the caller may confirm; null if the caller may confirm those of every client. */
  createdBy: string | null;
}

const success = (payment: PaymentResource, replayed: boolean): PaymentSuccess =>
  Object.assign(new PaymentSuccess(), { payment, replayed });

export class PaymentOperations {
  /** Lookups of payments and subscriptions to them. */
  readonly feed: TransactionFeed<PaymentResource>;

  constructor(private readonly options: PaymentOperationsOptions) {
    const { payments, polling } = options;
    this.feed = new TransactionFeed(polling, {
      kind: 'payment',
      lookUp: (key) => payments.lookUp(key),
      onSeen: (listener) => payments.onSeen(listener),
    });
  }

  /** Creates at most one payment per idempotency key. Never sends an invalid input. */
  async create(input: CreatePaymentInput, client: string): Promise<CreatePaymentResult> {
    const { payments, createService, matcher, urls, callbacks } = this.options;
    const method = selectedPaymentMethod(input.method);
    const errors = validateCreate(input, method, urls);
    const { secrets } = method;
    const requestedAt = performance.now();
    const plan: CreatePlan<PaymentResource> = {
      client,
      key: input.idempotencyKey,
      method: method.type,
      input: {
        ...input,
        externalId: input.externalId ?? null,
        kind: 'payment',
        method: method.fingerprintFields,
      },
      publicDetails: {},
      matcher: matcher.withRedaction(secrets),
      queue: payments.queue,
      send: ({ id, externalId }, options) =>
        payments.create(
          {
            channel: input.channel,
            amount: input.amount,
            description: input.description,
            returnUrl: input.returnUrl,
            externalId,
            definition: method.definition,
            fields: method.fields,
            callbackUrl: callbacks.callbackUrlFor(id, input.callbackUrl),
            secrets,
          },
          options,
        ),
    };
    const result =
      errors.length > 0 ? await createService.replay(plan, errors) : await createService.create(plan);
    if (!result) return invalidInput(errors);
    if (result.kind !== 'success')
      return toUserError(result, { idempotencyKey: input.idempotencyKey, kind: 'payment' });
    this.feed.onMutationResult(result, requestedAt);
    return success(result.found, result.replayed);
  }

  /**
   * Confirms a payment with the payer's input; one confirm at a time per payment. If the caller may not confirm the
   * payment, sends no confirm and returns the same result as for a payment that does not exist.
   */
  async confirm(input: ConfirmPaymentInput, rights: ConfirmRights): Promise<ConfirmPaymentResult> {
    const method = selectedConfirmation(input.confirmation);
    const errors = validateInput(input);
    if (errors.length === 0) errors.push(...(await this.#confirmErrors(input, method, rights)));
    if (errors.length > 0) return invalidInput(errors);

    const { channel, transactionId } = input;
    const requestedAt = performance.now();
    const result = await this.options.confirmService
      .confirm({ channel, transactionId, definition: method.definition, fields: method.fields })
      .finally(() => this.feed.invalidate(channel));
    switch (result.kind) {
      case 'success':
        this.feed.onMutationResult(result, requestedAt);
        return success(result.found, result.replayed);
      case 'refused':
        return confirmRejected(result.httpStatus, result.message);
      case 'in_progress':
        return confirmAlreadyInProgress();
      case 'unknown':
        return confirmOutcomeUnknown(transactionId);
    }
  }

  /**
   * Returns errors if the payment is not on this channel, or if the journal records that it was created with another
   * method. The service identifies a payment to confirm by its id alone (spec 4.5), so the gateway checks the channel. The
   * errors do not reveal whether a payment exists on another channel.
   */
  async #confirmErrors(
    { channel, transactionId }: ConfirmPaymentInput,
    method: SelectedMethod<PaymentMethodDefinition>,
    { anyChannel, createdBy }: ConfirmRights,
  ) {
    const { payments } = this.options;
    const attempt = await this.#attemptOf({ channel, transactionId }, createdBy);
    if (attempt?.channel === channel) {
      if (attempt.method === method.definition.type) return [];
      const message = `must not be used, because the payment was made by ${attempt.method}.`;
      return [fieldError(['confirmation', method.inputField], 'methodOfPayment', message)];
    }
    // A caller that may use every channel gains nothing from a wrong channel, so the lookup is skipped.
    if (!attempt && createdBy === null && (anyChannel || (await payments.lookUp({ channel, transactionId }))))
      return [];
    return [fieldError(['transactionId'], 'paymentOnChannel', 'must identify a payment on this channel.')];
  }

  /** Returns the attempt that created a payment, or null. Searches only attempts of `createdBy` unless it is null. */
  async #attemptOf(
    { channel, transactionId }: Pick<ConfirmPaymentInput, 'channel' | 'transactionId'>,
    createdBy: string | null,
  ): Promise<Attempt | null> {
    const { session } = this.options;
    const { journal, service } = session;
    if (createdBy === null)
      return session.failClosed(journal.findByTransaction(service, 'payment', transactionId));
    const creator = { service, client: createdBy, kind: 'payment' } as const;
    const [own = null] = await session.failClosed(journal.findCreated(creator, [{ channel, transactionId }]));
    return own;
  }
}
