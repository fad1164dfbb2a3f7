import { Field, InputType } from 'type-graphql';
import { passThrough } from '../../redaction/text';
import { ServiceField } from '../lazy-field';
import type { PaymentResource } from '../payment';
import type { PayoutResource } from '../payout';
import { IsText, TextField } from '../rules';
import {
  maskAllButLastFour,
  type PaymentMethodDefinition,
  type PayoutMethodDefinition,
} from './method-definition';

@InputType({ description: 'A mobile wallet, server-to-server (spec 2.5).' })
export class WalletAccountInput {
  @TextField("The payer's account number at the wallet.", IsText(64)) account!: string;
}

@InputType({ description: 'A payout to a mobile wallet (spec 2.8).' })
export class WalletPayoutInput {
  @TextField("The recipient's account number at the wallet.", IsText(64)) accountNumber!: string;
}

/** Declares the field `account` of payments from a wallet. */
export const WalletAccountField = (): PropertyDecorator =>
  ServiceField("The payer's account number at the wallet; null in the redirect flow.", { read: passThrough });

/** Declares a payout field whose value only the create call contains. */
export const PayoutDetailField = (description: string): PropertyDecorator =>
  Field(() => String, {
    nullable: true,
    description: `${description}; null unless this gateway created the payout.`,
  });

/** Declares the field `accountMask` of payouts to an account. */
export const AccountMaskField = (): PropertyDecorator =>
  PayoutDetailField('The last four characters of the account, the others masked');

interface Wallet {
  name: string;
  type: string;
  /** Name of the field in the @oneOf input. */
  field: string;
  title: string;
  currency: string;
}

interface WalletPayment extends Wallet {
  payment: new (definition: PaymentMethodDefinition) => PaymentResource & { account?: string };
}

/** Returns the payment definition of a wallet that needs only an account number. */
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

/** Returns the payout definition of a wallet, which needs only an account number (spec 2.8). */
export const walletPayout = ({ field, title, ...names }: WalletPayout): PayoutMethodDefinition => ({
  ...names,
  description: `${title}.`,
  input: { field, input: WalletPayoutInput, description: `To an account at ${title}. ${names.currency}.` },
  publicDetails: (input: WalletPayoutInput) => ({ accountMask: maskAllButLastFour(input.accountNumber) }),
  sandbox: { type: names.type, currency: names.currency, required: ['account_number'] },
});
