import { InputType, ObjectType } from 'type-graphql';
import { readVerbatim, redactUnlessPhone } from '../../redaction/text';
import { ServiceField, presentOrNull, type Lazy } from '../lazy-field';
import { ProvideCodeAction } from '../next-action';
import { NullableField } from '../nullable-field';
import { PaymentResource, PaymentState, StateField } from '../payment';
import { PayoutResource } from '../payout';
import { IsEmail, IsText, PhoneField, TextField } from '../rules';
import { CodeConfirmationInput } from './code-confirmation';
import {
  defineMethod,
  maskAllButLastFour,
  type MethodDefinition,
  type PaymentMethodDefinition,
  type PayoutMethodDefinition,
} from './method-definition';

@InputType({ description: 'A mobile wallet, server-to-server (spec 2.5).' })
export class WalletAccountInput {
  @TextField("The payer's account number at the wallet.", IsText(64)) account!: string;
}

@InputType({
  description:
    'A mobile wallet of Bangladesh, server-to-server (spec 2.5): nextAction names the account to pay to, then the payer provides a code for confirmPayment.',
})
export class BangladeshWalletInput {
  @TextField("The payer's first name.") firstName!: string;
  @TextField("The payer's surname.") surname!: string;
  @PhoneField('payer') phone!: string;
  @TextField("The payer's email address.", IsEmail()) email!: string;
}

@InputType({ description: 'A payout to a mobile wallet (spec 2.8).' })
export class WalletPayoutInput {
  @TextField("The recipient's account number at the wallet.", IsText(64)) accountNumber!: string;
}

/** Base class for payments from a wallet that needs only an account number. */
@ObjectType()
export abstract class AccountPayment extends PaymentResource {
  @ServiceField("The payer's account number at the wallet; null in the redirect flow.", {
    parse: readVerbatim,
  })
  account?: string;
}

/** Base class for payments from a wallet of Bangladesh. */
@ObjectType()
export abstract class BangladeshWalletPayment extends PaymentResource {
  @ServiceField("The payer's first name; null in the redirect flow.") firstName?: string;
  @ServiceField("The payer's surname; null in the redirect flow.") surname?: string;
  @ServiceField("The payer's phone number; null in the redirect flow.", { parse: redactUnlessPhone })
  phone?: string;
  @ServiceField("The payer's email address; null in the redirect flow.") email?: string;

  @ServiceField('The account to which the payer has to send the money; null in the redirect flow.', {
    rawValueOf: (methodJson, response) => methodJson['account'] ?? response['account'],
    parse: readVerbatim,
  })
  account?: Lazy<string>;

  @StateField() declare state?: Lazy<PaymentState>;
}

/** Declares a payout field with a value from the create call, because the service does not return it. */
export const PayoutDetailField = (description: string): PropertyDecorator =>
  NullableField(`${description}; null unless this gateway created the payout.`);

/** Declares the payout field `accountMask`: the account number, masked by maskAllButLastFour(). */
export const AccountMaskField = (): PropertyDecorator =>
  PayoutDetailField('The last four characters of the account, the others masked');

/** Base class for payouts to a mobile wallet. */
@ObjectType()
export abstract class WalletPayout extends PayoutResource {
  @AccountMaskField() accountMask?: string | null;
}

interface WalletDefinition<P extends PaymentResource> {
  /** The value of `payment_method.type` and `payout_method.type` (spec 2.5, 2.8). */
  type: string;
  /** Name of the wallet in descriptions of the GraphQL schema. */
  brand: string;
  paymentClass: new (methodDefinition: PaymentMethodDefinition) => P;
  payoutClass: new (definition: PayoutMethodDefinition) => WalletPayout;
}

const walletPayoutOf = (
  { type, payoutClass }: WalletDefinition<PaymentResource>,
  walletName: string,
  currency: string,
) => ({
  description: `${walletName}.`,
  payoutClass,
  currency,
  input: { inputType: WalletPayoutInput, description: `To an account at ${walletName}. ${currency}.` },
  publicDetailsOf: (input: WalletPayoutInput) => ({ accountMask: maskAllButLastFour(input.accountNumber) }),
  sandbox: { type, currency, required: ['account_number'] },
});

/** Defines a wallet of Pakistan. Its payments and payouts need only an account number. */
export function pakistanWallet(wallet: WalletDefinition<AccountPayment>): MethodDefinition {
  const { type, brand, paymentClass } = wallet;
  const currency = 'PKR';
  return defineMethod(type, {
    payment: {
      description: `${brand} wallet (Pakistan).`,
      paymentClass,
      currency,
      redirectDescription: 'The payer enters the account on the hosted page.',
      input: { inputType: WalletAccountInput, description: `${brand} wallet with the account number. PKR.` },
      sandbox: {
        type,
        currency,
        redirectFields: [],
        directFlow: { required: ['account'] },
        echoedFields: ['account'],
      },
    },
    payout: walletPayoutOf(wallet, `${brand} wallet (Pakistan)`, currency),
  });
}

/** Defines a wallet of Bangladesh: bKash, Nagad or Rocket. */
export function bangladeshWallet(wallet: WalletDefinition<BangladeshWalletPayment>): MethodDefinition {
  const { type, brand, paymentClass } = wallet;
  return defineMethod(type, {
    payment: {
      description: `${brand} wallet (Bangladesh).`,
      paymentClass,
      redirectDescription: 'The payer pays from the wallet on the hosted page.',
      input: { inputType: BangladeshWalletInput, description: `${brand} wallet without the hosted page.` },
      confirmation: {
        inputType: CodeConfirmationInput,
        description: `For ${brand}: the code.`,
        // In a confirm, the service's field `transaction_id` is the code from the payer, not a payment id (spec 4.5).
        toWire: (input: CodeConfirmationInput) => ({ transaction_id: input.code }),
        waitingState: PaymentState.WAITING_FOR_CODE,
        nextAction: ({ account }: BangladeshWalletPayment) =>
          Object.assign(new ProvideCodeAction(), { account: presentOrNull(account) }),
      },
      sandbox: {
        type,
        redirectFields: [],
        directFlow: { required: ['first_name', 'surname', 'phone', 'email'], state: 'waiting_for_code' },
        confirmField: 'transaction_id',
        echoedFields: ['first_name', 'surname', 'phone', 'email'],
        addedFields: ({ pseudoRandomDigits }) => ({ account: `017${pseudoRandomDigits(8, 'account')}` }),
        hasTopLevelAccount: true,
      },
    },
    payout: walletPayoutOf(wallet, `${brand} wallet (Bangladesh)`, 'BDT'),
  });
}
