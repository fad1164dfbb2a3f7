import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { CustomFieldsInput, OtherFieldsField, customFieldsToWire } from './free-fields';
import { defineMethod } from './method-definition';

@ObjectType({ implements: PaymentResource, description: 'A payment by havale, a bank transfer (spec 2.5).' })
export class HavalePayment extends PaymentResource {
  @OtherFieldsField() fields?: Record<string, unknown>;
}

export const havale = defineMethod('havale', {
  payment: {
    description: 'Havale: bank transfer with phone, user id and names. The exact fields are not documented.',
    paymentClass: HavalePayment,
    redirectDescription: 'The payer finishes on the hosted page.',
    input: {
      inputType: CustomFieldsInput,
      description: 'Havale with fields as agreed with the service.',
      toWire: customFieldsToWire,
    },
    sandbox: {
      type: 'havale',
      redirectFields: [],
      directFlow: { required: [] },
      acceptsAnyFields: true,
      echoedFields: [],
    },
  },
});
