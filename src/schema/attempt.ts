import { Field, ID, ObjectType } from 'type-graphql';
import { Amount } from './amount';
import { Payment, PaymentMethod, Payout, PayoutMethod } from './methods/method-types';
import { NullableField } from './nullable-field';
import type { PaymentResource } from './payment';
import type { PayoutResource } from './payout';
import { registerEnum, type ValueOf } from './register-enum';
import { Timestamp, UUID } from './scalars';
import type { TransactionLoader } from './lazy-transaction';

/** Default and maximum number of attempts per page (argument `first` of the query `attempts`). */
export const ATTEMPTS_PAGE_SIZES = { default: 20, max: 100 };

export const AttemptOperation = registerEnum('AttemptOperation', 'The mutation that a create call used.', {
  CREATE_PAYMENT: 'The mutation createPayment.',
  CREATE_PAYOUT: 'The mutation createPayout.',
});
export type AttemptOperation = ValueOf<typeof AttemptOperation>;

export const AttemptOutcome = registerEnum('AttemptOutcome', 'The outcome of a create call.', {
  IN_PROGRESS: 'The call is in progress: query the attempt again in a moment.',
  SUCCEEDED: 'The payment or payout was created; it can still be declined later.',
  REJECTED: 'The service rejected the input of the call: nothing was created, and the key may be used again.',
  NOT_SENT:
    'Certainly nothing was created: the call did not reach the service, was not processed there (for example 401 or 429), or later turned out to have created nothing. The key may be used again.',
  UNKNOWN:
    'The call may or may not have reached the service. The gateway looks up the payment or payout repeatedly. If the outcome stays unknown, the operator records it. Never repeat the call with a new key.',
});
export type AttemptOutcome = ValueOf<typeof AttemptOutcome>;

@ObjectType({ description: "A create call, from the gateway's journal." })
export class Attempt {
  @Field(() => ID, { description: 'The idempotency key of the call.' }) idempotencyKey!: string;

  @Field(() => AttemptOperation, { description: 'The mutation that was called.' })
  operation!: AttemptOperation;

  @Field(() => UUID, { description: 'The merchant channel.' }) channel!: string;

  @Field(() => String, { description: 'The external id that was sent, also if the gateway generated it.' })
  externalId!: string;

  @Field(() => AttemptOutcome, { description: 'The outcome of the call.' }) outcome!: AttemptOutcome;

  @Field(() => Timestamp, {
    description:
      "Start of the call, by the journal's clock. Reusing a key after REJECTED or NOT_SENT sets a new time.",
  })
  startedAt!: string;

  @NullableField('When the outcome became known; null for IN_PROGRESS and UNKNOWN.', () => Timestamp)
  settledAt!: string | null;

  @NullableField(
    'The id of the created payment or payout, from the journal. Null unless outcome is SUCCEEDED.',
    () => UUID,
  )
  transactionId!: string | null;

  @Field(() => Amount, {
    description: 'The requested amount, from the journal. received is always null here; see payment.amount.',
  })
  amount!: Amount;

  @NullableField(
    'The method of CREATE_PAYMENT, from the journal; null for CREATE_PAYOUT.',
    () => PaymentMethod,
  )
  paymentMethod!: string | null;

  @NullableField(
    'The method of CREATE_PAYOUT, from the journal; null for CREATE_PAYMENT.',
    () => PayoutMethod,
  )
  payoutMethod!: string | null;

  @NullableField(
    'The payment that a SUCCEEDED CREATE_PAYMENT created: its current state, looked up when selected. Null for all other attempts.',
    () => Payment,
  )
  payment!: TransactionLoader<PaymentResource>;

  @NullableField(
    'The payout that a SUCCEEDED CREATE_PAYOUT created: its current state, looked up when selected. Null for all other attempts.',
    () => Payout,
  )
  payout!: TransactionLoader<PayoutResource>;
}

@ObjectType({ description: 'One attempt of a page.' })
class AttemptEdge {
  @Field(() => String, { description: 'Opaque position of the attempt, for the argument `after`.' })
  cursor!: string;

  @Field(() => Attempt, { description: 'The attempt.' }) node!: Attempt;
}

@ObjectType({ description: 'Pagination of a connection (Relay cursor connections).' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether older attempts follow.' }) hasNextPage!: boolean;
  @NullableField('The cursor of the last edge; null for an empty page.') endCursor!: string | null;
}

@ObjectType({ description: 'A page of attempts, newest first.' })
export class AttemptConnection {
  @Field(() => [AttemptEdge], { description: 'The attempts of the page.' }) edges!: AttemptEdge[];
  @Field(() => PageInfo, { description: 'Whether more pages follow, and the cursor to continue.' })
  pageInfo!: PageInfo;
}
