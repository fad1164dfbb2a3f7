import { InputType, ObjectType } from 'type-graphql';
import { PayoutResource } from '../payout';
import { IsEmail, IsText, OptionalPhoneField, OptionalTextField, TextField, TextRule } from '../rules';
import { defineMethod, maskAllButLastFour } from './method-definition';
import { AccountMaskField, PayoutDetailField } from './wallets';

const IsIban = (): PropertyDecorator =>
  TextRule('iban', 'must be an IBAN: two letters, two digits, then 8 to 30 letters and digits.', (text) =>
    /^[A-Z]{2}\d{2}[A-Z0-9]{8,30}$/i.test(text.replaceAll(' ', '')),
  );

@InputType({ description: 'A payout to a bank account (spec 2.8).' })
export class BankTransferPayoutInput {
  @TextField("The bank's SWIFT code, routing code, IFSC or MFO, depending on the region.", IsText(64))
  bankCode!: string;
  @TextField("The bank's name.") bankName!: string;
  @TextField("The recipient's account number.", IsText(64)) accountNumber!: string;
  @TextField("The recipient's first name.") firstName!: string;
  @TextField("The recipient's last name.") lastName!: string;
  @OptionalTextField("The recipient's IBAN; spaces allowed, sent as given.", IsIban()) iban?: string;
  @OptionalTextField("The code of the bank's branch.", IsText(64)) branchCode?: string;
  @OptionalPhoneField('recipient') phone?: string;
  @OptionalTextField("The recipient's email address.", IsEmail()) email?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout to a bank account (spec 2.8).' })
export class BankTransferPayout extends PayoutResource {
  @PayoutDetailField("The bank's code, as given in the create call") bankCode?: string | null;
  @PayoutDetailField("The bank's name, as given in the create call") bankName?: string | null;
  @AccountMaskField() accountMask?: string | null;
}

export const bankTransfer = defineMethod('bank_transfer', {
  payout: {
    description: 'Bank transfer.',
    payoutClass: BankTransferPayout,
    input: {
      inputType: BankTransferPayoutInput,
      description: 'To a bank account. The currencies depend on the channel.',
    },
    publicDetailsOf: ({ bankCode, bankName, accountNumber }: BankTransferPayoutInput) => ({
      bankCode,
      bankName,
      accountMask: maskAllButLastFour(accountNumber),
    }),
    sandbox: {
      type: 'bank_transfer',
      required: ['bank_code', 'bank_name', 'account_number', 'first_name', 'last_name'],
      optional: ['iban', 'branch_code', 'phone', 'email'],
    },
  },
});
