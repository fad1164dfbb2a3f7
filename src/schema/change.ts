import { Field, ObjectType, createUnionType } from 'type-graphql';
import { Amount } from './amount';
import { Payment, PaymentMethod, Payout, PayoutMethod } from './methods/method-types';
import { NullableField } from './nullable-field';
import { PaymentState, PaymentStatus, type PaymentResource } from './payment';
import { PayoutStatus, type PayoutResource } from './payout';
import { Timestamp, UUID } from './scalars';
import type { TransactionLoader } from './lazy-transaction';

/** Default and maximum number of changes per page (argument `first` of the query `changes`). */
export const CHANGES_PAGE_SIZES = { default: 100, max: 500 };

/** Base class with the common fields of PaymentChange and PayoutChange. It is not in the public schema. */
@ObjectType()
abstract class BaseChange {
  @Field(() => String, {
    description: 'Opaque position of the change: continue after it with the argument `after`.',
  })
  cursor!: string;

  @Field(() => Timestamp, { description: "When the gateway recorded the change, by the journal's clock." })
  recordedAt!: string;

  @Field(() => UUID, { description: 'The merchant channel.' }) channel!: string;
  @Field(() => UUID, { description: 'The id at the service.' }) transactionId!: string;

  @NullableField("The identifier in the client's system, or the one that the gateway generated instead.")
  externalId!: string | null;

  @NullableField(
    'The amount of the create call. For a MISPAID payment, received is the amount actually paid.',
    () => Amount,
  )
  amount!: Amount | null;
}

@ObjectType({ description: 'A new status or state of a payment, recorded when the gateway first saw it.' })
export class PaymentChange extends BaseChange {
  @Field(() => PaymentMethod, { description: 'The method; OTHER if it is unknown to this gateway.' })
  method!: string;

  @NullableField('The previous status; null for the first change of a payment.', () => PaymentStatus)
  previousStatus!: PaymentStatus | null;

  @Field(() => PaymentStatus, { description: 'The new status; unchanged if only the state is new.' })
  status!: PaymentStatus;

  @NullableField('The state; null if the service sent none.', () => PaymentState)
  state!: PaymentState | null;

  @NullableField(
    'The payment in its current state, looked up when selected. It may have changed again since this change.',
    () => Payment,
  )
  payment!: TransactionLoader<PaymentResource>;
}

@ObjectType({ description: 'A new status of a payout, recorded when the gateway first saw it.' })
export class PayoutChange extends BaseChange {
  @Field(() => PayoutMethod, { description: 'The method; OTHER if it is unknown to this gateway.' })
  method!: string;

  @NullableField('The previous status; null for the first change of a payout.', () => PayoutStatus)
  previousStatus!: PayoutStatus | null;

  @Field(() => PayoutStatus, { description: 'The new status.' }) status!: PayoutStatus;

  @NullableField(
    'The payout in its current state, looked up when selected. It may have changed again since this change.',
    () => Payout,
  )
  payout!: TransactionLoader<PayoutResource>;
}

export const Change = createUnionType({
  name: 'Change',
  description: 'A change of a payment or payout that was created through this gateway.',
  types: () => [PaymentChange, PayoutChange] as const,
});
export type Change = PaymentChange | PayoutChange;

@ObjectType({ description: 'A page of changes, oldest first.' })
export class ChangePage {
  @Field(() => [Change], { description: 'The changes of the page.' }) changes!: Change[];

  @Field(() => String, {
    description:
      'The cursor to pass as `after` for the next page: that of the last change on this page. On an empty page it may still be later than `after`: it skips changes that the caller may not see.',
  })
  endCursor!: string;

  @Field(() => Boolean, {
    description: 'Whether more changes follow now. If not, wait before the next query, or subscribe.',
  })
  hasMore!: boolean;
}
