import { Field, InterfaceType } from 'type-graphql';
import { Amount } from './amount';
import { TransactionError } from './decline';
import { AwaitProviderAction, NextAction, RedirectAction, type ConfirmableAction } from './next-action';
import { Node } from './node';
import type { WireObject } from '../shared/wire-object';
import { ServiceField, type Lazy } from './lazy-field';
import { NullableField } from './nullable-field';
import { registerEnum, toEnumValue, type ValueOf } from './register-enum';
import { HttpUrl, Timestamp, UUID } from './scalars';

export const PaymentStatus = registerEnum('PaymentStatus', 'The status of a payment (spec 3.1).', {
  PENDING: 'Created; nothing has been paid yet.',
  PROCESSING: 'In progress: see nextAction.',
  COMPLETED: 'Paid. Final.',
  FAILED: 'Declined: see error. Final.',
  MISPAID: 'More or less than the amount was paid: see amount.received.',
  UNKNOWN: 'A status unknown to this gateway: see rawStatus.',
});
export type PaymentStatus = ValueOf<typeof PaymentStatus>;

export const PaymentState = registerEnum(
  'PaymentState',
  'The step for which a server-to-server payment waits (spec 3.3).',
  {
    WAITING_FOR_UTR: 'The payer has to pay and provide the UTR: confirm with it.',
    WAITING_FOR_CODE: 'The payer has to provide a code: confirm with it.',
    WAITING_FOR_CONFIRM: 'The payer has to transfer the money: then confirm.',
    WAITING_FOR_PROVIDER: 'The provider has to approve.',
    UNKNOWN: 'A state unknown to this gateway.',
  },
);
export type PaymentState = ValueOf<typeof PaymentState>;

/** Declares the field `state` in the class of a payment method that has states such as WAITING_FOR_CODE (spec 3.3). */
export const StateField = (): PropertyDecorator =>
  ServiceField(
    'What the payment waits for; null in the redirect flow and when it no longer waits (spec 3.3).',
    {
      type: () => PaymentState,
      parse: (raw) => (typeof raw === 'string' ? toEnumValue(PaymentState, PaymentState.UNKNOWN, raw) : null),
    },
  );

/**
 * Minimum value of PollAfterMsByPhase in ms. It may exceed the gateway's own polling interval, because each poll of a
 * caller causes a lookup, whereas subscribers share lookups.
 */
export const MIN_POLL_AFTER_MS = 2000;

/**
 * Intervals in ms at which callers without a subscription should poll a payment: one while the payment waits for the
 * payer, one while it waits for the provider.
 */
export type PollAfterMsByPhase = Readonly<Record<'payer' | 'provider', number>>;

const STATUSES_WITHOUT_NEXT_ACTION: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.COMPLETED,
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** How payments by one method are confirmed (spec 4.5). */
export interface ConfirmationDefinition {
  /** An input class, or an enum if the confirmation has no data (card-to-card transfers). */
  inputType: object;
  description: string;
  /** Converts the confirmation to the fields of the request except `id`. */
  toWire(confirmation: object): WireObject;
  /** The state in which the payment waits for the confirmation (spec 3.3). */
  waitingState: PaymentState;
  /** Returns the next action of a payment that waits for the confirmation. PaymentResource adds `confirmWith` to it. */
  nextAction(payment: PaymentResource): ConfirmableAction;
}

/** The part of a PaymentMethodDefinition that PaymentResource uses. */
export interface PaymentMethodBehavior {
  /** The value in the enum PaymentMethod. */
  name: string;
  /** Name of the method's field in PaymentMethodInput and ConfirmationInput. */
  inputField: string;
  /** Confirmation of the method's payments. Absent if they cannot be confirmed. */
  confirmation?: ConfirmationDefinition;
  /**
   * Returns a next action that only this method has, such as a QR code. Returns null if the default action applies: a
   * RedirectAction or an AwaitProviderAction.
   */
  nextAction?(payment: PaymentResource): NextAction | null;
}

@InterfaceType({
  implements: Node,
  description:
    'The fields of all payments (spec 2.3). One selection covers every method: ... on PaymentResource { status }',
})
export abstract class PaymentResource extends Node {
  readonly kind = 'payment';

  /** `payment_method.type` from the service, redacted. If absent: the `type` of the method's definition. */
  wireType!: string;

  /**
   * Looks up the complete payment. All calls share one lookup. Resolves to null if the lookup fails. Absent if the
   * response was already complete.
   */
  loadCompletePayment?: () => Promise<PaymentResource | null>;

  /**
   * Date header of the lookup's response in ms since 1970. Undefined if the header is missing, or if the payment does
   * not come from a lookup.
   */
  dateHeaderMs?: number;

  /** Polling intervals for callers, returned as `pollAfterMs` of the next action. */
  pollAfterMsByPhase!: PollAfterMsByPhase;

  /** The step for which the payment waits (spec 3.3). Only some methods have this field. */
  declare state?: Lazy<PaymentState>;

  /** @param definition definition of the payment's method, from schema/methods */
  constructor(readonly definition: PaymentMethodBehavior) {
    super();
  }

  @Field(() => UUID, { description: 'The id of the payment at the service.' }) transactionId!: string;
  @Field(() => UUID, { description: 'The merchant channel of the payment.' }) channel!: string;

  @NullableField(
    "The identifier in the client's system. It may be null after a lookup by transactionId, because the service need not return it.",
  )
  externalId?: Lazy<string>;

  /** Value of the enum PaymentMethod. Declared as a GraphQL field in methods/method-types.ts, beside the enum. */
  get method(): string {
    return this.definition.name;
  }

  @Field(() => PaymentStatus, { description: 'The status; UNKNOWN if it is unknown to this gateway.' })
  status!: PaymentStatus;

  @Field(() => String, {
    description: 'The status as the service sent it; [redacted] if it is not a word (docs/redaction.md).',
  })
  rawStatus!: string;

  @NullableField('The amount; null if the service did not send it.', () => Amount) amount?: Lazy<Amount>;

  @NullableField(
    'The hosted page for the payer; null if there is none or it is not an http(s) address.',
    () => HttpUrl,
  )
  redirectUrl?: Lazy<string>;

  @NullableField('Creation time as the service sent it; null if it sent none.', () => Timestamp)
  createDate?: Lazy<string>;

  @NullableField(
    'Why the payment was declined; null unless its status is FAILED. A decline is not in the errors of the response.',
    () => TransactionError,
  )
  error?: Lazy<TransactionError>;

  @NullableField(
    'What the payer or the client has to do next; null if COMPLETED, FAILED or MISPAID.',
    () => NextAction,
  )
  get nextAction(): Lazy<NextAction> {
    const hasNextAction = !STATUSES_WITHOUT_NEXT_ACTION.has(this.status);
    return this.loadCompletePayment && hasNextAction && this.state !== PaymentState.WAITING_FOR_PROVIDER
      ? this.loadCompletePayment().then((payment) => (payment ?? this).nextActionFromPresentFields)
      : this.nextActionFromPresentFields;
  }

  private get nextActionFromPresentFields(): NextAction | null {
    if (STATUSES_WITHOUT_NEXT_ACTION.has(this.status)) return null;
    const { confirmation, inputField } = this.definition;
    if (confirmation && this.state === confirmation.waitingState)
      return Object.assign(confirmation.nextAction(this), { confirmWith: inputField });
    const methodAction = this.definition.nextAction?.(this);
    if (methodAction) return methodAction;
    const mayRedirect = !this.state || this.state instanceof Promise;
    const redirectUrl = mayRedirect && typeof this.redirectUrl === 'string' ? this.redirectUrl : null;
    const { payer, provider } = this.pollAfterMsByPhase;
    return redirectUrl
      ? Object.assign(new RedirectAction(), { url: redirectUrl, pollAfterMs: payer })
      : Object.assign(new AwaitProviderAction(), { pollAfterMs: provider });
  }
}
