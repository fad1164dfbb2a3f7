import { Field, ID, ObjectType } from 'type-graphql';
import { Amount } from './amount';
import { Payment, PaymentMethod, Payout, PayoutMethod } from './methods/method-types';
import type { PaymentResource } from './payment';
import type { PayoutResource } from './payout';
import { registerEnum, type EnumValue } from './register-enum';
import { Timestamp, UUID } from './scalars';

/** Default and maximum of the argument `first` of `attempts`: the number of attempts per page. */
export const ATTEMPTS_PAGE = { default: 20, max: 100 };

export const AttemptOperation = registerEnum('AttemptOperation', 'The mutation of an attempt.', {
  CREATE_PAYMENT: 'createPayment.',
  CREATE_PAYOUT: 'createPayout.',
});
export type AttemptOperation = EnumValue<typeof AttemptOperation>;

export const AttemptOutcome = registerEnum('AttemptOutcome', 'The outcome of a create call.', {
  IN_PROGRESS: 'In progress: query it again in a moment.',
  SUCCEEDED: 'The service created it; it may still be declined later.',
  REJECTED: 'The service rejected it: nothing was created, and the key may be used again.',
  NOT_SENT: 'Certainly nothing reached the service; the key may be used again.',
  UNKNOWN:
    'It may or may not have reached the service. The gateway looks it up repeatedly; if it stays unknown, the operator records the outcome. Never use a new key for it.',
});
export type AttemptOutcome = EnumValue<typeof AttemptOutcome>;

/** Look up the transaction that an attempt created, if its field is selected. Null if there is none of the kind. */
interface AttemptLookups {
  payment(): Promise<PaymentResource | null> | null;
  payout(): Promise<PayoutResource | null> | null;
}

@ObjectType({ description: "A create call, from the gateway's journal." })
export class Attempt {
  constructor(private readonly lookups: AttemptLookups) {}

  @Field(() => ID, { description: 'The idempotency key of the call.' }) idempotencyKey!: string;

  @Field(() => AttemptOperation, { description: 'The mutation that was called.' })
  operation!: AttemptOperation;

  @Field(() => UUID, { description: 'The merchant channel.' }) channel!: string;

  @Field(() => String, { description: 'The external id that was sent, also if the gateway generated it.' })
  externalId!: string;

  @Field(() => AttemptOutcome, { description: 'The outcome of the call.' }) outcome!: AttemptOutcome;

  @Field(() => Timestamp, {
    description:
      "Start of the call, by the gateway's clock. Reusing a key after REJECTED or NOT_SENT sets a new time.",
  })
  startedAt!: string;

  @Field(() => Timestamp, {
    nullable: true,
    description: 'When its outcome became known; null for IN_PROGRESS and UNKNOWN.',
  })
  settledAt?: string | null;

  @Field(() => UUID, {
    nullable: true,
    description: 'The payment or payout that it created, from the journal. Null unless outcome is SUCCEEDED.',
  })
  transactionId?: string | null;

  @Field(() => Amount, {
    description: 'The requested amount, from the journal. received is always null here; see payment.amount.',
  })
  amount!: Amount;

  @Field(() => PaymentMethod, {
    nullable: true,
    description: 'The method of CREATE_PAYMENT, from the journal; null for CREATE_PAYOUT.',
  })
  paymentMethod?: string | null;

  @Field(() => PayoutMethod, {
    nullable: true,
    description: 'The method of CREATE_PAYOUT, from the journal; null for CREATE_PAYMENT.',
  })
  payoutMethod?: string | null;

  @Field(() => Payment, {
    nullable: true,
    description: 'The created payment in its current state, by one lookup. Null if none is known.',
  })
  get payment(): Promise<PaymentResource | null> | null {
    return this.lookups.payment();
  }

  @Field(() => Payout, {
    nullable: true,
    description: 'The created payout in its current state, by one lookup. Null if none is known.',
  })
  get payout(): Promise<PayoutResource | null> | null {
    return this.lookups.payout();
  }
}

@ObjectType({ description: 'One attempt of a page.' })
export class AttemptEdge {
  @Field(() => String, { description: 'Opaque position of the attempt, for the argument `after`.' })
  cursor!: string;

  @Field(() => Attempt, { description: 'The attempt.' }) node!: Attempt;
}

@ObjectType({ description: 'The position of a page (Relay cursor connections).' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether older ones follow.' }) hasNextPage!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the last edge; null for an empty page.',
  })
  endCursor?: string | null;
}

@ObjectType({ description: 'A page of attempts, newest first.' })
export class AttemptConnection {
  @Field(() => [AttemptEdge], { description: 'The attempts of the page.' }) edges!: AttemptEdge[];
  @Field(() => PageInfo, { description: 'The position of the page.' }) pageInfo!: PageInfo;
}
