import { ValidateNested } from 'class-validator';
import { Field, ID, InputType, ObjectType, createUnionType } from 'type-graphql';
import { AmountInput } from './amount';
import { Payout, PayoutMethodInput } from './methods/method-types';
import { IDEMPOTENCY_KEY, PUBLIC_URL } from './payment-mutations';
import type { PayoutResource } from './payout';
import { IsText, OptionalTextField, TextField } from './rules';
import { HttpUrl, UUID } from './scalars';
import { CREATE_FAILURES } from './user-errors';

@InputType({ description: 'A payout to create (spec 2.7).' })
export class CreatePayoutInput {
  @Field(() => ID, { description: IDEMPOTENCY_KEY })
  @IsText()
  idempotencyKey!: string;

  @Field(() => UUID, { description: 'The merchant channel.' }) channel!: string;

  @Field(() => AmountInput, { description: 'What the recipient gets.' })
  @ValidateNested()
  amount!: AmountInput;

  @TextField("The order or payout identifier in the client's system, at most 255 characters.")
  externalId!: string;

  @OptionalTextField('Free text, at most 1000 characters.', IsText(1000)) description?: string;

  @Field(() => PayoutMethodInput, { description: 'How the recipient gets the money.' })
  @ValidateNested()
  method!: PayoutMethodInput;

  @Field(() => HttpUrl, {
    nullable: true,
    description: `The URL that the service notifies of changes (spec section 6). ${PUBLIC_URL}`,
  })
  callbackUrl?: string;
}

@ObjectType({ description: 'The created payout. A decline is a success of the call: see payout.error.' })
export class PayoutSuccess {
  @Field(() => Payout, { description: 'The payout in its current state.' }) payout!: PayoutResource;

  @Field(() => Boolean, {
    description:
      'True if an earlier call with the same key created it, or if a lost response was recovered by lookup; payout is then its current state.',
  })
  replayed!: boolean;
}

export const CreatePayoutResult = createUnionType({
  name: 'CreatePayoutResult',
  description: 'The payout, or an expected failure.',
  types: () => [PayoutSuccess, ...CREATE_FAILURES] as const,
});
export type CreatePayoutResult = typeof CreatePayoutResult;
