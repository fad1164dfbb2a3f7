import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Amount } from './amount';
import { Payment, PaymentMethod, Payout, PayoutMethod } from './methods/method-types';
import type { PaymentResource } from './payment';
import type { PayoutResource } from './payout';
import { Timestamp, UUID } from './scalars';

/** How many attempts a page holds, `first` of `attempts`. */
export const ATTEMPTS_PAGE = { default: 20, max: 100 };

export enum AttemptOperation {
  CREATE_PAYMENT = 'CREATE_PAYMENT',
  CREATE_PAYOUT = 'CREATE_PAYOUT',
}

registerEnumType(AttemptOperation, {
  name: 'AttemptOperation',
  description: 'What an attempt was made to do.',
  valuesConfig: {
    CREATE_PAYMENT: { description: 'createPayment.' },
    CREATE_PAYOUT: { description: 'createPayout.' },
  },
});

export enum AttemptOutcome {
  IN_PROGRESS = 'IN_PROGRESS',
  SUCCEEDED = 'SUCCEEDED',
  REJECTED = 'REJECTED',
  NOT_SENT = 'NOT_SENT',
  UNKNOWN = 'UNKNOWN',
}

registerEnumType(AttemptOutcome, {
  name: 'AttemptOutcome',
  description: 'What became of a create call.',
  valuesConfig: {
    IN_PROGRESS: { description: 'Under way right now: ask again in a moment.' },
    SUCCEEDED: { description: 'The service has it; it may still be declined later.' },
    REJECTED: { description: 'The service refused: nothing was created, and the key may be used again.' },
    NOT_SENT: { description: 'It is certain that nothing reached the service; the key may be used again.' },
    UNKNOWN: {
      description:
        'It may or may not have reached the service; it is being followed up by lookup, and what stays unknown is settled by the operator. Never take a new key for it.',
    },
  },
});

/** How an attempt finds what it created, when that is selected. */
export interface AttemptLookups {
  payment(): Promise<PaymentResource | null> | null;
  payout(): Promise<PayoutResource | null> | null;
}

@ObjectType({ description: "A create call, as the gateway's journal has it." })
export class Attempt {
  constructor(private readonly lookups: AttemptLookups) {}

  @Field(() => ID, { description: 'The key that the call was made with.' })
  idempotencyKey!: string;

  @Field(() => AttemptOperation, { description: 'What it was made to do.' })
  operation!: AttemptOperation;

  @Field(() => UUID, { description: 'The merchant channel.' })
  channel!: string;

  @Field(() => String, { description: 'The external id that was sent, also when the gateway made it.' })
  externalId!: string;

  @Field(() => AttemptOutcome, { description: 'What became of it.' })
  outcome!: AttemptOutcome;

  @Field(() => Timestamp, {
    description:
      'When it began, by the clock of the gateway. A key that is used again after REJECTED or NOT_SENT begins anew: its attempt then has the new time.',
  })
  startedAt!: string;

  @Field(() => Timestamp, {
    nullable: true,
    description: 'When its outcome became known; null for IN_PROGRESS and UNKNOWN.',
  })
  settledAt?: string | null;

  @Field(() => UUID, {
    nullable: true,
    description:
      'The payment or payout that it created, from the journal, without a lookup. Null unless outcome is SUCCEEDED.',
  })
  transactionId?: string | null;

  @Field(() => Amount, {
    description:
      'The amount that was asked for, from the journal, without a lookup. What was paid instead, on a MISPAID payment, only the payment says: received is null here.',
  })
  amount!: Amount;

  @Field(() => PaymentMethod, {
    nullable: true,
    description: 'The method of CREATE_PAYMENT, from the journal, without a lookup; null for CREATE_PAYOUT.',
  })
  paymentMethod?: string | null;

  @Field(() => PayoutMethod, {
    nullable: true,
    description: 'The method of CREATE_PAYOUT, from the journal, without a lookup; null for CREATE_PAYMENT.',
  })
  payoutMethod?: string | null;

  @Field(() => Payment, {
    nullable: true,
    description:
      'The payment that it created, in its current state: one lookup, made only if selected. Null when it created none, or is not known to have.',
  })
  get payment(): Promise<PaymentResource | null> | null {
    return this.lookups.payment();
  }

  @Field(() => Payout, {
    nullable: true,
    description:
      'The payout that it created, in its current state: one lookup, made only if selected. Null when it created none, or is not known to have.',
  })
  get payout(): Promise<PayoutResource | null> | null {
    return this.lookups.payout();
  }
}

@ObjectType({ description: 'One attempt of a page.' })
export class AttemptEdge {
  @Field(() => String, { description: 'Where the attempt stands; opaque. For `after`.' })
  cursor!: string;

  @Field(() => Attempt, { description: 'The attempt.' })
  node!: Attempt;
}

@ObjectType({ description: 'Where a page stands among all (Relay cursor connections).' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether older ones follow.' })
  hasNextPage!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the last one; null when the page is empty.',
  })
  endCursor?: string | null;
}

@ObjectType({ description: 'A page of attempts, newest first.' })
export class AttemptConnection {
  @Field(() => [AttemptEdge], { description: 'The attempts of the page.' })
  edges!: AttemptEdge[];

  @Field(() => PageInfo, { description: 'Where the page stands.' })
  pageInfo!: PageInfo;
}
