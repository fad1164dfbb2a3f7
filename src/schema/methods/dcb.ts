import { Field, InputType, ObjectType } from 'type-graphql';
import { ProvideCodeAction } from '../next-action';
import { PaymentResource, PaymentState, StateField } from '../payment';
import { PayoutResource } from '../payout';
import { Optional, Phone, Text } from '../rules';
import { ServiceField, type Lazy } from '../lazy-field';
import { passThrough, readPhone } from '../../redaction/text';
import { CodeConfirmationInput } from './code-confirmation';
import { inState, type MethodDefinition } from './method-definition';

@InputType({
  description:
    'Direct carrier billing (spec 2.5). userId alone: redirect flow. With phone and names: server-to-server, ends with a code for confirmPayment.',
})
export class DcbPaymentInput {
  @Field(() => String, { description: "The payer's identifier in the client's own system." })
  @Text()
  userId!: string;

  @Field(() => String, {
    nullable: true,
    description: "The payer's phone number, E.164; sent as given, with or without +.",
  })
  @Optional()
  @Phone()
  phone?: string;

  @Field(() => String, { nullable: true, description: "The payer's first name." })
  @Optional()
  @Text()
  firstName?: string;

  @Field(() => String, { nullable: true, description: "The payer's last name." })
  @Optional()
  @Text()
  lastName?: string;
}

@InputType({ description: 'A payout by direct carrier billing (spec 2.8).' })
export class DcbPayoutInput {
  @Field(() => String, {
    description: "The recipient's phone number, E.164; sent as given, with or without +.",
  })
  @Phone()
  phone!: string;

  @Field(() => String, { description: "The recipient's first name." })
  @Text()
  firstName!: string;

  @Field(() => String, { description: "The recipient's last name." })
  @Text()
  lastName!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment by direct carrier billing (spec 2.5).' })
export class DcbPayment extends PaymentResource {
  @ServiceField(
    "The payer's identifier in the client's own system; null when the service did not repeat it.",
    {
      read: passThrough,
    },
  )
  userId?: string;

  @ServiceField("The payer's phone number; null when it was not given.", { read: readPhone })
  phone?: string;

  @ServiceField("The payer's first name; null when it was not given.")
  firstName?: string;

  @ServiceField("The payer's last name; null when it was not given.")
  lastName?: string;

  @StateField()
  declare state?: Lazy<PaymentState>;
}

@ObjectType({ implements: PayoutResource, description: 'A payout by direct carrier billing (spec 2.8).' })
export class DcbPayout extends PayoutResource {}

export const dcb: MethodDefinition = {
  payment: {
    name: 'DCB',
    type: 'dcb',
    description: 'Direct carrier billing.',
    payment: DcbPayment,
    input: {
      arm: 'dcb',
      input: DcbPaymentInput,
      description:
        'Direct carrier billing: redirect with userId alone, server-to-server with phone and names.',
    },
    confirmation: {
      arm: 'dcb',
      input: CodeConfirmationInput,
      description: 'For direct carrier billing: the code.',
      answers: PaymentState.WAITING_FOR_CODE,
      toWire: (input: CodeConfirmationInput) => ({ code: input.code }),
    },
    nextAction: (payment) =>
      inState(payment, PaymentState.WAITING_FOR_CODE, () =>
        Object.assign(new ProvideCodeAction(), { account: null, confirmWith: 'dcb' }),
      ),
    sandbox: {
      type: 'dcb',
      redirect: ['user_id'],
      direct: {
        required: ['user_id'],
        optional: ['phone', 'first_name', 'last_name'],
        state: 'waiting_for_code',
      },
      confirmField: 'code',
      echo: ['user_id', 'phone', 'first_name', 'last_name'],
    },
  },
  payout: {
    name: 'DCB',
    type: 'dcb',
    description: 'Direct carrier billing.',
    payout: DcbPayout,
    currency: 'KZT',
    input: { arm: 'dcb', input: DcbPayoutInput, description: 'To a phone account. KZT.' },
    sandbox: { type: 'dcb', currency: 'KZT', required: ['phone', 'first_name', 'last_name'] },
  },
};
