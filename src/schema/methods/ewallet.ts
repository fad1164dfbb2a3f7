import { InputType, ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { IsText, TextField } from '../rules';
import { ServiceField } from '../lazy-field';
import { defineMethod } from './method-definition';

@InputType({ description: 'An e-wallet; the payer finishes on the hosted page (spec 2.5).' })
export class EwalletPaymentInput {
  @TextField(
    'The e-wallet, for example "ovo", "dana", "linkaja"; the list depends on the channel.',
    IsText(64),
  )
  ewallet!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment by e-wallet (spec 2.5).' })
export class EwalletPayment extends PaymentResource {
  @ServiceField("The code of the payer's e-wallet, for example ovo; null if the service did not send it.")
  ewallet?: string;
}

export const ewallet = defineMethod('ewallet', {
  payment: {
    description: 'E-wallet (Indonesia).',
    paymentClass: EwalletPayment,
    currency: 'IDR',
    input: { inputType: EwalletPaymentInput, description: 'An e-wallet; redirect flow. IDR.' },
    sandbox: { type: 'ewallet', currency: 'IDR', redirectFields: ['ewallet'], echoedFields: ['ewallet'] },
  },
});
