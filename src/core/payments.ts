import type { PaymentsApi } from '../datasources/payment-service/payments';
import { selectedConfirmation, selectedPaymentMethod } from '../schema/methods/selected-method';
import type { PaymentMethodDefinition } from '../schema/methods/method-definition';
import type { PaymentResource } from '../schema/payment';
import {
  PaymentSuccess,
  type ConfirmPaymentInput,
  type ConfirmPaymentResult,
  type CreatePaymentInput,
  type CreatePaymentResult,
} from '../schema/mutations';
import { invalidInputError, UserError } from '../schema/user-errors';
import type { CallbackHandler } from './callbacks/callback-handler';
import type { ConfirmService } from './confirm/confirm-service';
import type { CreatePlan } from './create/create-plan';
import { createOnce, type CreateOptions } from './create/create-service';
import { PaymentMatcher } from './recovery/transaction-matcher';
import { validateCreate } from './validation/validate-create';
import { fieldError, validateInput } from './validation/validate-input';
import type { UrlPolicy } from '../config/types';
import { TransactionFeed, type TransactionFeedOptions } from './polling/transaction-feed';

interface PaymentOperationsOptions extends CreateOptions {
  payments: PaymentsApi;
  confirmService: ConfirmService;
  /** Time in ms for which the journal keeps attempts with a final outcome. */
  keepMs: number;
  urlPolicy: UrlPolicy;
  callbackHandler: CallbackHandler;
  pollingOptions: TransactionFeedOptions;
}

/** The payments that a caller may confirm. */
interface ConfirmRights {
  /** Id of the caller. The confirm counts towards the concurrency limit of this caller. */
  callerId: string;
  /** Whether the caller has access to every channel. */
  hasEveryChannel: boolean;
  /** The only client whose payments the caller may confirm; null if the caller may confirm those of every client. */
  createdBy: string | null;
}

const toPaymentSuccess = (payment: PaymentResource, replayed: boolean): PaymentSuccess =>
  Object.assign(new PaymentSuccess(), { payment, replayed });

export class PaymentOperations {
  readonly transactionFeed: TransactionFeed<PaymentResource>;

  constructor(private readonly options: PaymentOperationsOptions) {
    const { payments, pollingOptions: feedOptions } = options;
    this.transactionFeed = new TransactionFeed(feedOptions, 'payment', (lookupKey) =>
      payments.lookUp(lookupKey),
    );
    payments.onFound = (payment, requestedAtMonotonic) =>
      this.transactionFeed.onSnapshot(payment, requestedAtMonotonic);
  }

  /** Creates at most one payment per idempotency key. Never sends an invalid input. */
  async create(input: CreatePaymentInput, client: string): Promise<CreatePaymentResult> {
    const { payments, journalSession, keepMs, urlPolicy, callbackHandler } = this.options;
    const method = selectedPaymentMethod(input.method);
    const requestedAtMonotonic = journalSession.runtime.monotonic();
    const plan: CreatePlan<PaymentResource> = {
      client,
      idempotencyKey: input.idempotencyKey,
      methodType: method.type,
      input: {
        ...input,
        externalId: input.externalId ?? null,
        kind: 'payment',
        method: method.fingerprintFields,
      },
      inputErrors: validateCreate(input, method, urlPolicy),
      publicDetails: {},
      matcher: new PaymentMatcher(payments, journalSession, keepMs, method.secrets),
      bulkheadSlots: payments.bulkheadSlots,
      send: ({ id, externalId }, options) => {
        const callbackUrl = callbackHandler.callbackUrlFor(id, input.callbackUrl);
        return payments.create({ input, method, externalId, callbackUrl }, options);
      },
    };
    const result = await createOnce(this.options, plan);
    if (result instanceof UserError) return result;
    this.transactionFeed.onMutationResult(result, requestedAtMonotonic);
    return toPaymentSuccess(result.transaction, result.replayed);
  }

  /** Confirms a payment. If the caller may not confirm it, the error does not reveal whether the payment exists. */
  async confirm(input: ConfirmPaymentInput, rights: ConfirmRights): Promise<ConfirmPaymentResult> {
    const { definition, fields } = selectedConfirmation(input.confirmation);
    const errors = validateInput(input);
    if (errors.length === 0) errors.push(...(await this.#findConfirmErrors(input, definition, rights)));
    if (errors.length > 0) return invalidInputError(errors);

    const { channel, transactionId } = input;
    const requestedAtMonotonic = this.options.journalSession.runtime.monotonic();
    const result = await this.options.confirmService
      .confirm({ channel, transactionId, definition, bodyFields: fields, callerId: rights.callerId })
      .finally(() => this.transactionFeed.invalidateLookups(channel));
    if (result instanceof UserError) return result;
    this.transactionFeed.onMutationResult(result, requestedAtMonotonic);
    return toPaymentSuccess(result.transaction, result.replayed);
  }

  /**
   * Returns an error if the caller may not confirm the payment, or if the journal has the payment with another channel
   * or method than the input; otherwise []. The service does not check the channel (spec 4.5). The error does not
   * reveal whether another channel has the payment. Throws a ServiceError if the journal or a lookup fails.
   */
  async #findConfirmErrors(
    { channel, transactionId }: ConfirmPaymentInput,
    definition: PaymentMethodDefinition,
    { hasEveryChannel, createdBy }: ConfirmRights,
  ) {
    const { payments, journalSession } = this.options;
    const { journal, serviceName: service } = journalSession;
    const attempt = await journalSession.failClosed(
      createdBy === null
        ? journal.findByTransaction(service, 'payment', transactionId)
        : journal
            .findCreated({ service, client: createdBy, kind: 'payment' }, [{ channel, transactionId }])
            .then(([own = null]) => own),
    );
    if (attempt?.channel === channel) {
      if (attempt.method === definition.type) return [];
      const message = `must not be used, because the payment was made by ${attempt.method}.`;
      return [fieldError(['confirmation', definition.inputField], 'methodOfPayment', message)];
    }
    // A payment that the journal lacks may be confirmed only by a caller that may confirm the payments of every client,
    // and only if the caller has access to every channel or a lookup finds the payment on this channel.
    const mayConfirmUnjournaled = !attempt && createdBy === null;
    if (mayConfirmUnjournaled && (hasEveryChannel || (await payments.lookUp({ channel, transactionId }))))
      return [];
    return [fieldError(['transactionId'], 'paymentOnChannel', 'must identify a payment on this channel.')];
  }
}
