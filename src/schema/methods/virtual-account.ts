import { Field, InputType, ObjectType } from 'type-graphql';
import { PayVirtualAccountAction } from '../next-action';
import { PaymentResource } from '../payment';
import { Text } from '../rules';
import { JSONObject } from '../scalars';
import { ServiceField, known, type Lazy } from '../lazy-field';
import { passThrough } from '../../redaction/text';
import { readPaymentData } from './payment-data';
import type { MethodDefinition } from './method-definition';

@InputType({ description: 'A virtual account made for this payment (spec 2.5).' })
export class VirtualAccountPaymentInput {
  @Field(() => String, {
    description:
      'The bank where the virtual account is made, for example "bca", "bni", "mandiri"; the list depends on the channel.',
  })
  @Text(64)
  bankCode!: string;

  @Field(() => String, { description: 'The account from which the payer intends to pay.' })
  @Text(64)
  accountNumber!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment to a virtual account (spec 2.5).' })
export class VirtualAccountPayment extends PaymentResource {
  @ServiceField('The bank of the virtual account; null when the service did not say.')
  bankCode?: Lazy<string>;

  @ServiceField('The account from which the payer intends to pay; null when the service did not say.', {
    read: passThrough,
  })
  accountNumber?: string;

  @ServiceField('The number of the virtual account to pay to; null when the service did not say.', {
    read: passThrough,
  })
  virtualAccount?: Lazy<string>;

  @ServiceField(
    'What the service sent as payment_data, whose structure it does not document: an object as it is, anything else under "value". Null when absent.',
    { type: () => JSONObject, ...readPaymentData },
  )
  paymentData?: Record<string, unknown>;
}

export const virtualAccount: MethodDefinition = {
  payment: {
    name: 'VIRTUAL_ACCOUNT',
    type: 'virtual_account',
    description: 'Virtual account at a bank (Indonesia).',
    payment: VirtualAccountPayment,
    currency: 'IDR',
    input: {
      arm: 'virtualAccount',
      input: VirtualAccountPaymentInput,
      description: 'A virtual account to which the payer transfers. IDR.',
    },
    nextAction: (payment: VirtualAccountPayment) => {
      const number = known(payment.virtualAccount);
      if (!number) return null;
      const pollAfterMs = payment.pollAfter.payer;
      const facts = { virtualAccount: number, bankCode: known(payment.bankCode), pollAfterMs };
      return Object.assign(new PayVirtualAccountAction(), facts);
    },
    sandbox: {
      type: 'virtual_account',
      currency: 'IDR',
      redirect: ['bank_code', 'account_number'],
      direct: { required: ['bank_code', 'account_number'] },
      echo: ['bank_code', 'account_number'],
      adds: ({ digits }) => ({ virtual_account: `8808${digits(12, 'virtual_account')}` }),
    },
  },
};
