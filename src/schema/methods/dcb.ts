import { InputType, ObjectType } from 'type-graphql';
import { ProvideCodeAction } from '../next-action';
import { PaymentResource, PaymentState, StateField } from '../payment';
import { PayoutResource } from '../payout';
import { OptionalPhoneField, OptionalTextField, PhoneField, TextField } from '../rules';
import { ServiceField, type Lazy } from '../lazy-field';
import { readVerbatim, redactUnlessPhone } from '../../redaction/text';
import { CodeConfirmationInput } from './code-confirmation';
import { defineMethod } from './method-definition';

@InputType({
  description:
    'Direct carrier billing (spec 2.5). With userId only: redirect flow. With phone and names: server-to-server, confirmed with a code.',
})
export class DcbPaymentInput {
  @TextField("The payer's identifier in the client's own system.") userId!: string;
  @OptionalPhoneField('payer') phone?: string;
  @OptionalTextField("The payer's first name.") firstName?: string;
  @OptionalTextField("The payer's last name.") lastName?: string;
}

@InputType({ description: 'A payout by direct carrier billing (spec 2.8).' })
export class DcbPayoutInput {
  @PhoneField('recipient') phone!: string;
  @TextField("The recipient's first name.") firstName!: string;
  @TextField("The recipient's last name.") lastName!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment by direct carrier billing (spec 2.5).' })
export class DcbPayment extends PaymentResource {
  @ServiceField("The payer's identifier in the client's own system; null if not sent.", {
    parse: readVerbatim,
  })
  userId?: string;

  @ServiceField("The payer's phone number; null if not given.", { parse: redactUnlessPhone })
  phone?: string;
  @ServiceField("The payer's first name; null if not given.") firstName?: string;
  @ServiceField("The payer's last name; null if not given.") lastName?: string;
  @StateField() declare state?: Lazy<PaymentState>;
}

@ObjectType({ implements: PayoutResource, description: 'A payout by direct carrier billing (spec 2.8).' })
export class DcbPayout extends PayoutResource {}

export const dcb = defineMethod('dcb', {
  payment: {
    description: 'Direct carrier billing.',
    paymentClass: DcbPayment,
    input: {
      inputType: DcbPaymentInput,
      description:
        'Direct carrier billing: redirect with userId only, server-to-server with phone and names.',
    },
    confirmation: {
      inputType: CodeConfirmationInput,
      description: 'For direct carrier billing: the code.',
      toWire: (input: CodeConfirmationInput) => ({ code: input.code }),
      waitingState: PaymentState.WAITING_FOR_CODE,
      nextAction: () => Object.assign(new ProvideCodeAction(), { account: null }),
    },
    sandbox: {
      type: 'dcb',
      redirectFields: ['user_id'],
      directFlow: {
        required: ['user_id'],
        optional: ['phone', 'first_name', 'last_name'],
        state: 'waiting_for_code',
      },
      confirmField: 'code',
      echoedFields: ['user_id', 'phone', 'first_name', 'last_name'],
    },
  },
  payout: {
    description: 'Direct carrier billing.',
    payoutClass: DcbPayout,
    currency: 'KZT',
    input: { inputType: DcbPayoutInput, description: 'To a phone account. KZT.' },
    sandbox: { type: 'dcb', currency: 'KZT', required: ['phone', 'first_name', 'last_name'] },
  },
});
