import { Field, InterfaceType } from 'type-graphql';
import { Amount } from './amount';
import { TransactionError } from './decline';
import { AwaitProviderAction, NextAction, RedirectAction } from './next-action';
import { Node } from './node';
import { DEFAULT_POLL_AFTER, type PollAfter } from '../shared/poll-after';
import { ServiceField, type Lazy } from './lazy-field';
import { registerEnum, type EnumValue } from './register-enum';
import { HttpUrl, Timestamp, UUID } from './scalars';

export const PaymentStatus = registerEnum('PaymentStatus', 'The status of a payment (spec 3.1).', {
  PENDING: 'Created; nothing has been paid yet.',
  PROCESSING: 'In progress: see nextAction.',
  COMPLETED: 'Paid. Final.',
  FAILED: 'Declined: see error. Final.',
  MISPAID: 'More or less than the amount was paid: see amount.received.',
  UNKNOWN: 'A status unknown to this gateway: see rawStatus.',
});
export type PaymentStatus = EnumValue<typeof PaymentStatus>;

export const PaymentState = registerEnum(
  'PaymentState',
  'What a server-to-server payment waits for (spec 3.3).',
  {
    WAITING_FOR_UTR: 'The payer has to pay and provide the UTR: confirm with it.',
    WAITING_FOR_CODE: 'The payer has to provide a code: confirm with it.',
    WAITING_FOR_CONFIRM: 'The payer has to transfer the money: then confirm.',
    WAITING_FOR_PROVIDER: 'The provider has to approve.',
    UNKNOWN: 'A state unknown to this gateway.',
  },
);
export type PaymentState = EnumValue<typeof PaymentState>;

/** Converts a word of the service to the enum value of the same name, ignoring case; `unknown` if there is none. */
export function toEnumValue<V extends string>(values: { readonly [K in V]: K }, unknown: V, raw: string): V {
  const value = raw.toUpperCase();
  return isKeyOf(values, value) ? values[value] : unknown;
}

const isKeyOf = <K extends string>(values: { readonly [key in K]: unknown }, key: string): key is K =>
  Object.hasOwn(values, key);

/** Declares the field `state` of a method that has sub-states. */
export const StateField = (): PropertyDecorator =>
  ServiceField(
    'What the payment waits for; null in the redirect flow and when it waits no more (spec 3.3).',
    {
      type: () => PaymentState,
      read: (raw) => (typeof raw === 'string' ? toEnumValue(PaymentState, PaymentState.UNKNOWN, raw) : null),
    },
  );

const WITHOUT_NEXT_ACTION: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.COMPLETED,
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** The part of a method's definition that payments use. */
interface PaymentMethodFacts {
  /** The value in the enum PaymentMethod. */
  readonly name: string;
  /** Returns the next action that is special to the method; null if the default of all methods applies. */
  nextAction?(payment: PaymentResource): NextAction | null;
}

@InterfaceType({
  implements: Node,
  description:
    'The fields of all payments (spec 2.3). One selection covers every method: ... on PaymentResource { status }',
})
export abstract class PaymentResource extends Node {
  readonly kind = 'payment';

  /** Definition of the method of the payment (schema/methods). */
  readonly definition: PaymentMethodFacts;

  /** `payment_method.type` from the service (redacted), or the type of the definition if the service sent none. */
  wireType!: string;

  /** Looks up the whole payment, at most once; null if that fails. Absent if the response lacked no fields. */
  complete?: () => Promise<PaymentResource | null>;

  /** Time of the lookup by the service's clock, in milliseconds since 1970; undefined if unknown. */
  serviceTime?: number;

  /** Polling intervals that the next actions recommend. */
  pollAfter: PollAfter = DEFAULT_POLL_AFTER;

  /** The sub-state of the payment (spec 3.3), in methods that have sub-states. */
  declare state?: Lazy<PaymentState>;

  constructor(definition: PaymentMethodFacts) {
    super();
    this.definition = definition;
  }

  @Field(() => UUID, { description: 'The id of the payment at the service.' }) transactionId!: string;
  @Field(() => UUID, { description: 'The merchant channel of the payment.' }) channel!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "The identifier in the client's system. Null if looked up by transactionId: the service does not return it.",
  })
  externalId?: Lazy<string>;

  /** The value in the enum PaymentMethod, which is built from the registry. */
  get method(): string {
    return this.definition.name;
  }

  @Field(() => PaymentStatus, { description: 'The status; UNKNOWN for one unknown to this gateway.' })
  status!: PaymentStatus;

  @Field(() => String, {
    description: 'The status as the service sent it; [redacted] if it is not a word (docs/redaction.md).',
  })
  rawStatus!: string;

  @Field(() => Amount, { nullable: true, description: 'The amount; null if the service did not send it.' })
  amount?: Lazy<Amount>;

  @Field(() => HttpUrl, {
    nullable: true,
    description: 'The hosted page for the payer; null if there is none or it is not an http(s) address.',
  })
  redirectUrl?: Lazy<string>;

  @Field(() => Timestamp, {
    nullable: true,
    description: 'Creation time as the service sent it; null if it sent none.',
  })
  createDate?: Lazy<string>;

  @Field(() => TransactionError, {
    nullable: true,
    description: 'The decline; null unless FAILED. Never a GraphQL error.',
  })
  error?: Lazy<TransactionError>;

  @Field(() => NextAction, {
    nullable: true,
    description: 'What the payer or the client has to do next; null if COMPLETED, FAILED or MISPAID.',
  })
  get nextAction(): Lazy<NextAction> {
    if (WITHOUT_NEXT_ACTION.has(this.status)) return null;
    if (this.complete && this.state !== PaymentState.WAITING_FOR_PROVIDER) {
      return this.complete().then((whole) => (whole ?? this).actionFromPresentFields);
    }
    return this.actionFromPresentFields;
  }

  /** The next action according to the fields that are present, without a lookup. */
  private get actionFromPresentFields(): NextAction | null {
    if (WITHOUT_NEXT_ACTION.has(this.status)) return null;
    const actionOfMethod = this.definition.nextAction?.(this);
    if (actionOfMethod) return actionOfMethod;
    const mayRedirect = !this.state || this.state instanceof Promise;
    const url = mayRedirect && typeof this.redirectUrl === 'string' ? this.redirectUrl : null;
    const { payer, provider } = this.pollAfter;
    return url
      ? Object.assign(new RedirectAction(), { url, pollAfterMs: payer })
      : Object.assign(new AwaitProviderAction(), { pollAfterMs: provider });
  }
}
