import { Field, InputType } from 'type-graphql';
import { passThrough } from '../../redaction/text';
import { ServiceField } from '../lazy-field';
import type { PaymentResource } from '../payment';
import type { PayoutResource } from '../payout';
import { Text, TextField } from '../rules';
import {
  maskAllButLastFour,
  type PaymentMethodDefinition,
  type PayoutMethodDefinition,
} from './method-definition';

@InputType({ description: 'A mobile wallet, server-to-server (spec 2.5).' })
export class WalletAccountInput {
  @TextField("The payer's account number at the wallet.", Text(64)) account!: string;
}

@InputType({ description: 'A payout to a mobile wallet (spec 2.8).' })
export class WalletPayoutInput {
  @TextField("The recipient's account number at the wallet.", Text(64)) accountNumber!: string;
}

/** The field `account` of payments from a wallet. */
export const WalletAccountField = (): PropertyDecorator =>
  ServiceField("The payer's account number at the wallet; null in the redirect flow.", { read: passThrough });

/** A field of a payout that is known from the create call only. */
export const PayoutDetailField = (description: string): PropertyDecorator =>
  Field(() => String, {
    nullable: true,
    description: `${description}; null unless this gateway created the payout.`,
  });

/** The field `accountMask` of payouts to an account. */
export const AccountMaskField = (): PropertyDecorator =>
  PayoutDetailField('The last four characters of the account, the others masked');

interface Wallet {
  name: string;
  type: string;
  /** The name of the field in the @oneOf input. */
  field: string;
  title: string;
  currency: string;
}

interface WalletPayment extends Wallet {
  payment: new (definition: PaymentMethodDefinition) => PaymentResource & { account?: string };
}

/** The payment definition of a wallet that needs an account number only. */
export const walletPayment = ({ field, title, ...names }: WalletPayment): PaymentMethodDefinition => ({
  ...names,
  description: `${title}.`,
  redirect: 'The payer enters the account on the hosted page.',
  input: {
    field,
    input: WalletAccountInput,
    description: `${title.replace(/ \(.*/, '')} with the account number. ${names.currency}.`,
  },
  sandbox: {
    type: names.type,
    currency: names.currency,
    redirect: [],
    direct: { required: ['account'] },
    echo: ['account'],
  },
});

interface WalletPayout extends Wallet {
  payout: new (definition: PayoutMethodDefinition) => PayoutResource & { accountMask?: string | null };
}

/** The payout definition of a wallet: all of them need an account number only (spec 2.8). */
export const walletPayout = ({ field, title, ...names }: WalletPayout): PayoutMethodDefinition => ({
  ...names,
  description: `${title}.`,
  input: { field, input: WalletPayoutInput, description: `To an account at ${title}. ${names.currency}.` },
  publicDetails: (input: WalletPayoutInput) => ({ accountMask: maskAllButLastFour(input.accountNumber) }),
  sandbox: { type: names.type, currency: names.currency, required: ['account_number'] },
});
