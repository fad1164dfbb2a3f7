import { Field, InputType } from 'type-graphql';
import type { PayoutResource } from '../payout';
import { Text } from '../rules';
import { maskAllButLastFour, type PayoutMethodDefinition } from './method-definition';

@InputType({ description: 'A mobile wallet, server-to-server (spec 2.5).' })
export class WalletAccountInput {
  @Field(() => String, { description: "The payer's account number at the wallet." })
  @Text(64)
  account!: string;
}

@InputType({ description: 'A payout to a mobile wallet (spec 2.8).' })
export class WalletPayoutInput {
  @Field(() => String, { description: "The recipient's account number at the wallet." })
  @Text(64)
  accountNumber!: string;
}

/** The field of every payout that goes to an account. */
export const AccountMaskField = (): PropertyDecorator =>
  Field(() => String, {
    nullable: true,
    description:
      'The last four characters of the account, masked before; null for a payout this gateway did not create.',
  });

interface WalletPayout extends PayoutResource {
  accountMask?: string | null;
}

interface WalletPayoutFacts {
  name: string;
  type: string;
  arm: string;
  title: string;
  currency: string;
  payout: new (room: PayoutMethodDefinition) => WalletPayout;
}

/** The payout room of a wallet: all of them ask for an account number and nothing else (spec 2.8). */
export const walletPayout = ({ arm, title, ...facts }: WalletPayoutFacts): PayoutMethodDefinition => ({
  ...facts,
  description: title,
  input: {
    arm,
    input: WalletPayoutInput,
    description: `To an account at ${title.replace(/\.$/, '')}. ${facts.currency}.`,
  },
  show: (input: WalletPayoutInput) => ({ accountMask: maskAllButLastFour(input.accountNumber) }),
  sandbox: { type: facts.type, currency: facts.currency, required: ['account_number'] },
});
