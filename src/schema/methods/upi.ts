import { InputType, ObjectType } from 'type-graphql';
import { ProvideUtrAction } from '../next-action';
import { PaymentResource, PaymentState, StateField } from '../payment';
import { IsEmail, IsText, OptionalPhoneField, OptionalTextField, TextField } from '../rules';
import { ServiceField, presentOrNull, type Lazy } from '../lazy-field';
import { readVerbatim, redactUnlessPhone } from '../../redaction/text';
import { defineMethod } from './method-definition';

@InputType({
  description:
    'UPI, server-to-server (spec 2.5): the payer pays to a UPI id and provides the UTR for confirmPayment. At least one field is required.',
})
export class UpiPaymentInput {
  @OptionalTextField("The payer's email address.", IsEmail()) email?: string;
  @OptionalTextField("The payer's first name.") firstName?: string;
  @OptionalTextField("The payer's last name.") lastName?: string;
  @OptionalPhoneField('payer') phone?: string;
}

@InputType({ description: 'Confirms a UPI payment (spec 4.5).' })
export class UtrConfirmationInput {
  @TextField('The UTR: the reference number of the transfer, from the payer.', IsText(64)) utr!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment by UPI (spec 2.5).' })
export class UpiPayment extends PaymentResource {
  @ServiceField('The UPI id to pay to; null in the redirect flow.', { parse: readVerbatim })
  upiId?: Lazy<string>;

  @ServiceField('A payment link for UPI apps; null in the redirect flow.', { parse: readVerbatim })
  upiLink?: Lazy<string>;

  @StateField() declare state?: Lazy<PaymentState>;
  @ServiceField("The payer's email address; null if not given.") email?: string;
  @ServiceField("The payer's first name; null if not given.") firstName?: string;
  @ServiceField("The payer's last name; null if not given.") lastName?: string;
  @ServiceField("The payer's phone number; null if not given.", { parse: redactUnlessPhone })
  phone?: string;
}

export const upi = defineMethod('upi', {
  payment: {
    description: 'Unified Payments Interface (India).',
    paymentClass: UpiPayment,
    currency: 'INR',
    redirectDescription: 'The payer pays by UPI on the hosted page.',
    input: {
      inputType: UpiPaymentInput,
      description:
        'UPI without the hosted page, confirmed with a UTR (the reference number of the transfer). Only INR.',
    },
    confirmation: {
      inputType: UtrConfirmationInput,
      description: 'For UPI: the UTR, the reference number of the transfer.',
      toWire: (input: UtrConfirmationInput) => ({ utr: input.utr }),
      waitingState: PaymentState.WAITING_FOR_UTR,
      nextAction: ({ upiId, upiLink }: UpiPayment) =>
        Object.assign(new ProvideUtrAction(), {
          upiId: presentOrNull(upiId),
          upiLink: presentOrNull(upiLink),
        }),
    },
    sandbox: {
      type: 'upi',
      currency: 'INR',
      redirectFields: [],
      directFlow: {
        required: [],
        optional: ['email', 'first_name', 'last_name', 'phone'],
        state: 'waiting_for_utr',
      },
      confirmField: 'utr',
      echoedFields: ['email', 'first_name', 'last_name', 'phone'],
      addedFields: ({ amount, pseudoRandomDigits }) => {
        const upiId = `merchant${pseudoRandomDigits(4, 'upi')}@sandbox`;
        return { upi_id: upiId, upi_link: `upi://pay?pa=${upiId}&am=${amount.value}&cu=${amount.currency}` };
      },
    },
  },
});
