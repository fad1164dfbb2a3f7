import { Field, InputType, ObjectType } from 'type-graphql';
import { PayoutResource } from '../payout';
import { EmailText, Optional, Phone, Text, TextRule } from '../rules';
import { maskAllButLastFour, type MethodDefinition } from './method-definition';
import { AccountMaskField } from './wallet-account';

@InputType({ description: 'A payout to a bank account (spec 2.8).' })
export class BankTransferPayoutInput {
  @Field(() => String, { description: 'SWIFT, routing code, IFSC or MFO, depending on the region.' })
  @Text(64)
  bankCode!: string;

  @Field(() => String, { description: "The bank's name." })
  @Text()
  bankName!: string;

  @Field(() => String, { description: "The recipient's account number." })
  @Text(64)
  accountNumber!: string;

  @Field(() => String, { description: "The recipient's first name." })
  @Text()
  firstName!: string;

  @Field(() => String, { description: "The recipient's last name." })
  @Text()
  lastName!: string;

  @Field(() => String, {
    nullable: true,
    description: "The recipient's IBAN; spaces allowed, sent as given.",
  })
  @Optional()
  @TextRule('iban', 'must be an IBAN: two letters, two digits, then up to 30 letters and digits.', (text) =>
    /^[A-Z]{2}\d{2}[A-Z0-9]{8,30}$/i.test(text.replaceAll(' ', '')),
  )
  iban?: string;

  @Field(() => String, { nullable: true, description: "The code of the bank's branch." })
  @Optional()
  @Text(64)
  branchCode?: string;

  @Field(() => String, {
    nullable: true,
    description: "The recipient's phone number, E.164; sent as given, with or without +.",
  })
  @Optional()
  @Phone()
  phone?: string;

  @Field(() => String, { nullable: true, description: "The recipient's email address." })
  @Optional()
  @EmailText()
  email?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout to a bank account (spec 2.8).' })
export class BankTransferPayout extends PayoutResource {
  @Field(() => String, {
    nullable: true,
    description: 'As given; null for a payout this gateway did not create.',
  })
  bankCode?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'As given; null for a payout this gateway did not create.',
  })
  bankName?: string | null;

  @AccountMaskField()
  accountMask?: string | null;
}

export const bankTransfer: MethodDefinition = {
  payout: {
    name: 'BANK_TRANSFER',
    type: 'bank_transfer',
    description: 'Bank transfer.',
    payout: BankTransferPayout,
    input: {
      arm: 'bankTransfer',
      input: BankTransferPayoutInput,
      description: 'To a bank account. The currencies depend on the channel.',
    },
    show: ({ bankCode, bankName, accountNumber }: BankTransferPayoutInput) => ({
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
};
