import { InputType, ObjectType } from 'type-graphql';
import { PayoutResource } from '../payout';
import { IsEmail, IsText, PhoneField, TextField } from '../rules';
import { defineMethod, maskAllButLastFour } from './method-definition';
import { AccountMaskField, PayoutDetailField } from './wallets';

@InputType({ description: 'A payout by IMPS, the instant bank transfer of India (spec 2.8).' })
export class ImpsPayoutInput {
  @TextField("The IFSC of the recipient's bank.", IsText(64)) bankCode!: string;
  @TextField("The recipient's first name.") firstName!: string;
  @TextField("The recipient's last name.") lastName!: string;
  @PhoneField('recipient') phone!: string;
  @TextField("The recipient's email address.", IsEmail()) email!: string;
  @TextField("The recipient's account number.", IsText(64)) accountNumber!: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout by IMPS (spec 2.8).' })
export class ImpsPayout extends PayoutResource {
  @PayoutDetailField('The IFSC of the bank, as given in the create call') bankCode?: string | null;
  @AccountMaskField() accountMask?: string | null;
}

export const imps = defineMethod('imps', {
  payout: {
    description: 'IMPS: instant bank transfer (India).',
    payoutClass: ImpsPayout,
    currency: 'INR',
    input: { inputType: ImpsPayoutInput, description: 'To a bank account in India, instantly. INR.' },
    publicDetailsOf: ({ bankCode, accountNumber }: ImpsPayoutInput) => ({
      bankCode,
      accountMask: maskAllButLastFour(accountNumber),
    }),
    sandbox: {
      type: 'imps',
      currency: 'INR',
      required: ['bank_code', 'first_name', 'last_name', 'phone', 'email', 'account_number'],
    },
  },
});
