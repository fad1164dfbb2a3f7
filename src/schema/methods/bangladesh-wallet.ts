import { InputType } from 'type-graphql';
import { passThrough, readPhone } from '../../redaction/text';
import { ServiceField, valueOrNull, type Lazy } from '../lazy-field';
import { ProvideCodeAction } from '../next-action';
import { PaymentResource, PaymentState, StateField } from '../payment';
import { IsEmail, IsPhone, TextField } from '../rules';
import { CodeConfirmationInput } from './code-confirmation';
import { actionInState, type PaymentMethodDefinition } from './method-definition';

@InputType({
  description:
    'A mobile wallet of Bangladesh, server-to-server (spec 2.5): nextAction names the account to pay to, then the payer provides a code for confirmPayment.',
})
export class BangladeshWalletInput {
  @TextField("The payer's first name.") firstName!: string;
  @TextField("The payer's surname.") surname!: string;
  @TextField("The payer's phone number, E.164; sent as given, with or without +.", IsPhone()) phone!: string;
  @TextField("The payer's email address.", IsEmail()) email!: string;
}

/** Common fields of bkash, nagad and rocket payments. The object type of each wallet extends this class. */
export abstract class BangladeshWalletPayment extends PaymentResource {
  firstName?: string;
  surname?: string;
  phone?: string;
  email?: string;
  account?: Lazy<string>;
  declare state?: Lazy<PaymentState>;
}

/** Decorator that declares the common fields in the object type of one wallet. */
export function BangladeshWalletFields(): ClassDecorator {
  return ({ prototype }) => {
    ServiceField("The payer's first name; null in the redirect flow.")(prototype, 'firstName');
    ServiceField("The payer's surname; null in the redirect flow.")(prototype, 'surname');
    const phone = "The payer's phone number; null in the redirect flow.";
    ServiceField(phone, { read: readPhone })(prototype, 'phone');
    ServiceField("The payer's email address; null in the redirect flow.")(prototype, 'email');
    ServiceField('The account to which the payer has to send the money; null in the redirect flow.', {
      from: (method, response) => method['account'] ?? response['account'],
      read: passThrough,
    })(prototype, 'account');
    StateField()(prototype, 'state');
  };
}

interface BangladeshWallet {
  name: string;
  type: string;
  title: string;
  payment: new (definition: PaymentMethodDefinition) => BangladeshWalletPayment;
}

/** Returns the payment definition of bkash, nagad or rocket, which differ only in their names. */
export const bangladeshWallet = ({
  name,
  type,
  title,
  payment,
}: BangladeshWallet): PaymentMethodDefinition => ({
  name,
  type,
  description: `${title} wallet (Bangladesh).`,
  payment,
  redirect: 'The payer pays from the wallet on the hosted page.',
  input: {
    field: type,
    input: BangladeshWalletInput,
    description: `${title} wallet without the hosted page.`,
  },
  confirmation: {
    field: type,
    input: CodeConfirmationInput,
    description: `For ${title}: the code.`,
    confirmsState: PaymentState.WAITING_FOR_CODE,
    // The service calls the payer's code transaction_id here (spec 4.5).
    toWire: (input: CodeConfirmationInput) => ({ transaction_id: input.code }),
  },
  nextAction: (wallet: BangladeshWalletPayment) =>
    actionInState(wallet, PaymentState.WAITING_FOR_CODE, () =>
      Object.assign(new ProvideCodeAction(), { account: valueOrNull(wallet.account), confirmWith: type }),
    ),
  sandbox: {
    type,
    redirect: [],
    direct: { required: ['first_name', 'surname', 'phone', 'email'], state: 'waiting_for_code' },
    confirmField: 'transaction_id',
    echo: ['first_name', 'surname', 'phone', 'email'],
    adds: ({ pseudoRandomDigits }) => ({ account: `017${pseudoRandomDigits(8, 'account')}` }),
    topLevelAccount: true,
  },
});
