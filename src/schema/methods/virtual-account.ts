import { InputType, ObjectType } from 'type-graphql';
import { PayVirtualAccountAction } from '../next-action';
import { PaymentResource } from '../payment';
import { IsText, TextField } from '../rules';
import { ServiceField, presentOrNull, type Lazy } from '../lazy-field';
import { readVerbatim } from '../../redaction/text';
import { PaymentDataField } from './free-fields';
import { defineMethod } from './method-definition';

@InputType({ description: 'A virtual account that the service creates for this payment (spec 2.5).' })
export class VirtualAccountPaymentInput {
  @TextField(
    'The bank of the virtual account, for example "bca", "bni", "mandiri"; the list depends on the channel.',
    IsText(64),
  )
  bankCode!: string;

  @TextField('The account from which the payer intends to pay.', IsText(64)) accountNumber!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment to a virtual account (spec 2.5).' })
export class VirtualAccountPayment extends PaymentResource {
  @ServiceField('The bank of the virtual account; null if not sent.') bankCode?: Lazy<string>;

  @ServiceField('The account from which the payer intends to pay; null if not sent.', {
    parse: readVerbatim,
  })
  accountNumber?: string;

  @ServiceField('The number of the virtual account to pay to; null if not sent.', { parse: readVerbatim })
  virtualAccount?: Lazy<string>;

  @PaymentDataField() paymentData?: Record<string, unknown>;
}

export const virtualAccount = defineMethod('virtual_account', {
  payment: {
    description: 'Virtual account at a bank (Indonesia).',
    paymentClass: VirtualAccountPayment,
    currency: 'IDR',
    input: {
      inputType: VirtualAccountPaymentInput,
      description: 'A virtual account to which the payer transfers. IDR.',
    },
    nextAction: (payment: VirtualAccountPayment) => {
      const virtualAccountNumber = presentOrNull(payment.virtualAccount);
      if (!virtualAccountNumber) return null;
      return Object.assign(new PayVirtualAccountAction(), {
        virtualAccount: virtualAccountNumber,
        bankCode: presentOrNull(payment.bankCode),
        pollAfterMs: payment.pollAfterMsByPhase.payer,
      });
    },
    sandbox: {
      type: 'virtual_account',
      currency: 'IDR',
      redirectFields: ['bank_code', 'account_number'],
      directFlow: { required: ['bank_code', 'account_number'] },
      echoedFields: ['bank_code', 'account_number'],
      addedFields: ({ pseudoRandomDigits }) => ({
        virtual_account: `8808${pseudoRandomDigits(12, 'virtual_account')}`,
      }),
    },
  },
});
