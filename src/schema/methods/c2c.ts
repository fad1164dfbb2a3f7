import { InputType, ObjectType } from 'type-graphql';
import { ConfirmTransferAction } from '../next-action';
import { PaymentResource, PaymentState, StateField } from '../payment';
import { registerEnum } from '../register-enum';
import { IsEmail, IsMaskedPan, OptionalTextField } from '../rules';
import { ServiceField, presentOrNull, type Lazy } from '../lazy-field';
import { readVerbatim, readMaskedCardNumber } from '../../redaction/text';
import { defineMethod } from './method-definition';

@InputType({
  description:
    'Card-to-card transfer, server-to-server (spec 2.5): nextAction names the card to which the payer transfers the money; then the caller calls confirmPayment. At least one field is required.',
})
export class C2cPaymentInput {
  @OptionalTextField("The sender's first name.") firstName?: string;
  @OptionalTextField("The sender's surname.") surname?: string;
  @OptionalTextField("The sender's email address.", IsEmail()) email?: string;

  @OptionalTextField(
    'The sender\'s card number, masked, for example "440043******1234". A full card number is rejected.',
    IsMaskedPan(),
  )
  cardMask?: string;
}

export const C2cConfirmation = registerEnum(
  'C2cConfirmation',
  'Confirms a card-to-card payment, which needs no data (spec 4.5).',
  { TRANSFER_MADE: 'The payer made the transfer, or is expected to make it.' },
);

@ObjectType({ implements: PaymentResource, description: 'A payment by card-to-card transfer (spec 2.5).' })
export class C2cPayment extends PaymentResource {
  @ServiceField("The sender's first name; null if not given.") firstName?: string;
  @ServiceField("The sender's surname; null if not given.") surname?: string;
  @ServiceField("The sender's email address; null if not given.") email?: string;

  @ServiceField("The sender's card number, masked; null if not given.", { parse: readMaskedCardNumber })
  cardMask?: string;

  @ServiceField('The card number to transfer to; null in the redirect flow.', { parse: readVerbatim })
  cardNumber?: Lazy<string>;

  @ServiceField("The recipient's name; null in the redirect flow.") recipient?: Lazy<string>;
  @StateField() declare state?: Lazy<PaymentState>;
}

export const c2c = defineMethod('c2c', {
  payment: {
    description: 'Card-to-card transfer (Kazakhstan).',
    paymentClass: C2cPayment,
    currency: 'KZT',
    redirectDescription: 'The payer makes the transfer on the hosted page.',
    input: { inputType: C2cPaymentInput, description: 'Card-to-card transfer without the hosted page. KZT.' },
    confirmation: {
      inputType: C2cConfirmation,
      description: 'For card-to-card transfers: states that the transfer was made.',
      toWire: () => ({}),
      waitingState: PaymentState.WAITING_FOR_CONFIRM,
      nextAction: ({ cardNumber, recipient }: C2cPayment) =>
        Object.assign(new ConfirmTransferAction(), {
          cardNumber: presentOrNull(cardNumber),
          recipient: presentOrNull(recipient),
        }),
    },
    sandbox: {
      type: 'c2c',
      currency: 'KZT',
      redirectFields: [],
      directFlow: {
        required: [],
        optional: ['first_name', 'surname', 'email', 'card_mask'],
        state: 'waiting_for_confirm',
      },
      confirmField: null,
      echoedFields: ['first_name', 'surname', 'email', 'card_mask'],
      addedFields: () => ({ card_number: '4400430000000003', recipient: 'SANDBOX RECIPIENT' }),
    },
  },
});
