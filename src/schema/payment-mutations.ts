import { ValidateNested } from 'class-validator';
import { Field, ID, InputType, ObjectType, createUnionType } from 'type-graphql';
import { AmountInput } from './amount';
import { ConfirmationInput, Payment, PaymentMethodInput } from './methods/method-types';
import type { PaymentResource } from './payment';
import { Optional, Text } from './rules';
import { HttpUrl, UUID } from './scalars';
import {
  IdempotencyConflictError,
  InvalidInputError,
  OutcomeUnknownError,
  RejectedByServiceError,
  RequestInProgressError,
} from './user-errors';

/** The words that payments and payouts share for the key of a create. */
export const IDEMPOTENCY_KEY =
  'Chosen by the caller, 1 to 255 printable characters, one per intended payment or payout. The same key never creates a second one.';

/** Where the service or the payer is sent. */
export const PUBLIC_URL =
  'https to a public host, without credentials; in the sandbox also http to this machine. Sent on exactly as written.';

@InputType({ description: 'A payment to create (spec 2.4).' })
export class CreatePaymentInput {
  @Field(() => ID, { description: IDEMPOTENCY_KEY })
  @Text()
  idempotencyKey!: string;

  @Field(() => UUID, { description: 'The merchant channel.' })
  channel!: string;

  @Field(() => AmountInput, { description: 'What the payer has to pay.' })
  @ValidateNested()
  amount!: AmountInput;

  @Field(() => String, {
    nullable: true,
    description:
      "The identifier in the client's system, for example an order number; at most 255 characters. When absent the gateway gives the payment one of its own, so that it can always be found again.",
  })
  @Optional()
  @Text()
  externalId?: string;

  @Field(() => PaymentMethodInput, { description: 'How the payer pays.' })
  @ValidateNested()
  method!: PaymentMethodInput;

  @Field(() => HttpUrl, {
    nullable: true,
    description: `Where the payer returns to; recommended. ${PUBLIC_URL}`,
  })
  returnUrl?: string;

  @Field(() => HttpUrl, {
    nullable: true,
    description: `Where the service notifies of changes (spec section 6). ${PUBLIC_URL}`,
  })
  callbackUrl?: string;

  @Field(() => String, { nullable: true, description: 'Free text, at most 1000 characters.' })
  @Optional()
  @Text(1000)
  description?: string;
}

@InputType({ description: 'The confirmation of a server-to-server payment in a waiting state (spec 4.5).' })
export class ConfirmPaymentInput {
  @Field(() => UUID, { description: 'The merchant channel of the payment.' })
  channel!: string;

  @Field(() => UUID, { description: 'The payment to confirm.' })
  transactionId!: string;

  @Field(() => ConfirmationInput, {
    description: 'What the payer handed in; nextAction.confirmWith names the arm.',
  })
  @ValidateNested()
  confirmation!: ConfirmationInput;
}

@ObjectType({
  description: 'The payment, created or confirmed. A decline is a success of the call: see payment.error.',
})
export class PaymentSuccess {
  @Field(() => Payment, { description: 'The payment in its current state.' })
  payment!: PaymentResource;

  @Field(() => Boolean, {
    description:
      'True when this call did not itself carry out the create or confirm (it had been done before with the same input, or a lost answer was found again); payment is then its current state.',
  })
  replayed!: boolean;
}

export const CreatePaymentResult = createUnionType({
  name: 'CreatePaymentResult',
  description: 'The payment, or an expected failure.',
  types: () =>
    [
      PaymentSuccess,
      InvalidInputError,
      RejectedByServiceError,
      IdempotencyConflictError,
      RequestInProgressError,
      OutcomeUnknownError,
    ] as const,
});

/** What createPayment answers. */
export type CreatePaymentResult =
  | PaymentSuccess
  | InvalidInputError
  | RejectedByServiceError
  | IdempotencyConflictError
  | RequestInProgressError
  | OutcomeUnknownError;

export const ConfirmPaymentResult = createUnionType({
  name: 'ConfirmPaymentResult',
  description: 'The payment, or an expected failure.',
  types: () =>
    [
      PaymentSuccess,
      InvalidInputError,
      RejectedByServiceError,
      RequestInProgressError,
      OutcomeUnknownError,
    ] as const,
});

/** What confirmPayment answers. */
export type ConfirmPaymentResult =
  PaymentSuccess | InvalidInputError | RejectedByServiceError | RequestInProgressError | OutcomeUnknownError;
