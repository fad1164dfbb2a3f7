import { Field, InputType } from 'type-graphql';
import { ProvideCodeAction } from '../next-action';
import { PaymentResource, PaymentState, StateField } from '../payment';
import { EmailText, Phone, Text } from '../rules';
import { ServiceField, known, type Lazy } from '../lazy-field';
import { passThrough, readPhone } from '../../redaction/text';
import { CodeConfirmationInput } from './code-confirmation';
import { inState, type PaymentMethodDefinition } from './method-definition';

@InputType({
  description:
    'A mobile wallet of Bangladesh, server-to-server (spec 2.5): the answer names the account to pay to, then the payer gives a code for confirmPayment.',
})
export class BangladeshWalletInput {
  @Field(() => String, { description: "The payer's first name." })
  @Text()
  firstName!: string;

  @Field(() => String, { description: "The payer's surname." })
  @Text()
  surname!: string;

  @Field(() => String, { description: "The payer's phone number, E.164; sent as given, with or without +." })
  @Phone()
  phone!: string;

  @Field(() => String, { description: "The payer's email address." })
  @EmailText()
  email!: string;
}

/** What bkash, nagad and rocket have in common as payments; each has an object type of its own that extends this. */
export abstract class BangladeshWalletPayment extends PaymentResource {
  firstName?: string;
  surname?: string;
  phone?: string;
  email?: string;
  account?: Lazy<string>;
  declare state?: Lazy<PaymentState>;
}

/** Adds the common fields to the object type of one wallet. */
export function BangladeshWalletFields(): ClassDecorator {
  return ({ prototype }) => {
    ServiceField("The payer's first name; null in the redirect flow.")(prototype, 'firstName');
    ServiceField("The payer's surname; null in the redirect flow.")(prototype, 'surname');
    ServiceField("The payer's phone number; null in the redirect flow.", { read: readPhone })(
      prototype,
      'phone',
    );
    ServiceField("The payer's email address; null in the redirect flow.")(prototype, 'email');
    ServiceField(
      'The account to which the payer must send the money, wherever in the answer the service put it; null in the redirect flow.',
      { from: (method, answer) => method['account'] ?? answer['account'], read: passThrough },
    )(prototype, 'account');
    StateField()(prototype, 'state');
  };
}

interface BangladeshWallet {
  name: string;
  type: string;
  title: string;
  payment: new (room: PaymentMethodDefinition) => BangladeshWalletPayment;
}

/** The payment room of one of the three wallets, which differ in nothing but their names. */
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
  input: { arm: type, input: BangladeshWalletInput, description: `${title} wallet without the hosted page.` },
  confirmation: {
    arm: type,
    input: CodeConfirmationInput,
    description: `For ${title}: the code.`,
    answers: PaymentState.WAITING_FOR_CODE,
    // The wire calls the payer's code transaction_id here (spec 4.5).
    toWire: (input: CodeConfirmationInput) => ({ transaction_id: input.code }),
  },
  nextAction: (wallet: BangladeshWalletPayment) =>
    inState(wallet, PaymentState.WAITING_FOR_CODE, () =>
      Object.assign(new ProvideCodeAction(), { account: known(wallet.account), confirmWith: type }),
    ),
  sandbox: {
    type,
    redirect: [],
    direct: { required: ['first_name', 'surname', 'phone', 'email'], state: 'waiting_for_code' },
    confirmField: 'transaction_id',
    echo: ['first_name', 'surname', 'phone', 'email'],
    adds: ({ digits }) => ({ account: `017${digits(8, 'account')}` }),
    topLevelAccount: true,
  },
});
