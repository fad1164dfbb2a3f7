import { ValidateNested } from 'class-validator';
import { Field, ID, InputType, ObjectType, createUnionType } from 'type-graphql';
import { AmountInput } from './amount';
import { Payout, PayoutMethodInput } from './methods/method-types';
import { IDEMPOTENCY_KEY, PUBLIC_URL } from './payment-mutations';
import type { PayoutResource } from './payout';
import { Optional, Text } from './rules';
import { HttpUrl, UUID } from './scalars';
import {
  IdempotencyConflictError,
  InvalidInputError,
  OutcomeUnknownError,
  RejectedByServiceError,
  RequestInProgressError,
} from './user-errors';

@InputType({ description: 'A payout to create (spec 2.7).' })
export class CreatePayoutInput {
  @Field(() => ID, { description: IDEMPOTENCY_KEY })
  @Text()
  idempotencyKey!: string;

  @Field(() => UUID, { description: 'The merchant channel.' })
  channel!: string;

  @Field(() => AmountInput, { description: 'What the recipient gets.' })
  @ValidateNested()
  amount!: AmountInput;

  @Field(() => String, {
    description: "The order or payout identifier in the client's system, at most 255 characters.",
  })
  @Text()
  externalId!: string;

  @Field(() => String, { nullable: true, description: 'Free text, at most 1000 characters.' })
  @Optional()
  @Text(1000)
  description?: string;

  @Field(() => PayoutMethodInput, { description: 'How the recipient gets the money.' })
  @ValidateNested()
  method!: PayoutMethodInput;

  @Field(() => HttpUrl, {
    nullable: true,
    description: `Where the service notifies of changes (spec section 6). ${PUBLIC_URL}`,
  })
  callbackUrl?: string;
}

@ObjectType({ description: 'The payout, created. A decline is a success of the call: see payout.error.' })
export class PayoutSuccess {
  @Field(() => Payout, { description: 'The payout in its current state.' })
  payout!: PayoutResource;

  @Field(() => Boolean, {
    description:
      'True when this call did not itself send the create (the key had already created it, or a lost answer was found again); payout is then its current state.',
  })
  replayed!: boolean;
}

export const CreatePayoutResult = createUnionType({
  name: 'CreatePayoutResult',
  description: 'The payout, or an expected failure.',
  types: () =>
    [
      PayoutSuccess,
      InvalidInputError,
      RejectedByServiceError,
      IdempotencyConflictError,
      RequestInProgressError,
      OutcomeUnknownError,
    ] as const,
});

/** What createPayout answers. */
export type CreatePayoutResult =
  | PayoutSuccess
  | InvalidInputError
  | RejectedByServiceError
  | IdempotencyConflictError
  | RequestInProgressError
  | OutcomeUnknownError;
