// Hand-written schema of mercurius and yoga, with the fields of our gateway's payment.
import { create, lookUp } from './service.mjs';

const COMMON = `
  transactionId: ID!
  channel: ID
  status: PaymentStatus!
  amount: Amount
  redirectUrl: String
  createDate: String
  error: TransactionError`;

export const typeDefs = `
enum PaymentStatus { PENDING PROCESSING COMPLETED FAILED MISPAID }
enum PaymentState { WAITING_FOR_UTR WAITING_FOR_CODE WAITING_FOR_CONFIRM WAITING_FOR_PROVIDER }
type Amount { currency: String! value: String! received: String }
type TransactionError { code: String! message: String! }

interface Payment { ${COMMON} }
type UpiPayment implements Payment { ${COMMON}
  upiId: String
  upiLink: String
  state: PaymentState
  email: String
  firstName: String
  lastName: String
  phone: String
}
type CardPayment implements Payment { ${COMMON}
  cardMask: String
  cardholder: String
  bankName: String
  cardType: String
}
type OtherPayment implements Payment { ${COMMON}
  type: String
}

type Query { payment(channel: ID!, transactionId: ID!): Payment }

input AmountInput { currency: String! value: String! }
input CreatePaymentInput {
  channel: ID!
  amount: AmountInput!
  externalId: String
  "The payer finishes on the hosted page: the method's type is all that is sent."
  redirect: String!
  returnUrl: String
}
type Mutation { createPayment(input: CreatePaymentInput!): Payment! }
`;

const METHODS = {
  upi: (method) => ({
    __typename: 'UpiPayment',
    upiId: method.upi_id,
    upiLink: method.upi_link,
    state: method.state?.toUpperCase(),
    email: method.email,
    firstName: method.first_name,
    lastName: method.last_name,
    phone: method.phone,
  }),
  card: (method) => ({
    __typename: 'CardPayment',
    cardMask: method.card_mask,
    cardholder: method.cardholder,
    bankName: method.bank_name,
    cardType: method.card_type,
  }),
};
const other = (method) => ({ __typename: 'OtherPayment', type: method?.type });

function toPayment(answer) {
  const { payment_method: method } = answer;
  const payment = (METHODS[method?.type] ?? other)(method);
  payment.transactionId = answer.transaction_id;
  payment.channel = answer.channel;
  payment.status = answer.status.toUpperCase();
  payment.amount = answer.amount;
  payment.redirectUrl = answer.redirect_url;
  payment.createDate = answer.create_date;
  payment.error = answer.error;
  return payment;
}

export const resolvers = {
  Query: {
    payment: async (_, { channel, transactionId }) => toPayment(await lookUp(channel, transactionId)),
  },
  Mutation: {
    createPayment: async (_, { input: { channel, amount, externalId, redirect, returnUrl } }) =>
      toPayment(
        await create({
          channel,
          amount,
          external_id: externalId,
          payment_method: { type: redirect.toLowerCase() },
          return_url: returnUrl,
        }),
      ),
  },
};
