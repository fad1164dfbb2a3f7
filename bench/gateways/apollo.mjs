// Apollo Server as in its documentation: startStandaloneServer, type definitions, resolvers that call fetch.
import { createHmac } from 'node:crypto';
import process from 'node:process';
import { URLSearchParams } from 'node:url';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';

const { PORT, SERVICE_BASE_URL, SERVICE_API_KEY, SERVICE_SECRET_KEY } = process.env;
const PAYMENT = `${SERVICE_BASE_URL}api/v1/payment/`;

const FIELDS = `
  transactionId: ID!
  channel: ID
  status: PaymentStatus!
  amount: Amount
  redirectUrl: String
  createDate: String
  error: TransactionError
`;

const typeDefs = `#graphql
  enum PaymentStatus { PENDING PROCESSING COMPLETED FAILED MISPAID }
  enum PaymentState { WAITING_FOR_UTR WAITING_FOR_CODE WAITING_FOR_CONFIRM WAITING_FOR_PROVIDER }
  type Amount { currency: String! value: String! received: String }
  type TransactionError { code: String! message: String! }
  interface Payment { ${FIELDS} }
  type UpiPayment implements Payment {
    ${FIELDS}
    upiId: String
    upiLink: String
    state: PaymentState
    email: String
    firstName: String
    lastName: String
    phone: String
  }
  type OtherPayment implements Payment { ${FIELDS} method: String }
  input AmountInput { currency: String! value: String! }
  input CreatePaymentInput { channel: ID! amount: AmountInput! externalId: String redirect: String! }
  type Query { payment(channel: ID!, transactionId: ID!): Payment }
  type Mutation { createPayment(input: CreatePaymentInput!): Payment }
`;

function signed(data) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SERVICE_SECRET_KEY)
    .update(timestamp + data)
    .digest('hex');
  return { 'X-API-Key': SERVICE_API_KEY, 'X-Timestamp': timestamp, 'X-Signature': signature };
}

async function ask(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`The payment service responded with HTTP status ${response.status}.`);
  return response.json();
}

const common = {
  status: (payment) => payment.status.toUpperCase(),
  transactionId: (payment) => payment.transaction_id,
  redirectUrl: (payment) => payment.redirect_url,
  createDate: (payment) => payment.create_date,
};

const resolvers = {
  Query: {
    payment: (_, { channel, transactionId }) => {
      const query = new URLSearchParams({ channel, transaction_id: transactionId }).toString();
      return ask(`${PAYMENT}?${query}`, { headers: signed(query) });
    },
  },
  Mutation: {
    createPayment: (_, { input: { channel, amount, externalId, redirect } }) => {
      const body = JSON.stringify({
        channel,
        amount,
        external_id: externalId,
        payment_method: { type: redirect },
      });
      const headers = { 'Content-Type': 'application/json', ...signed(body) };
      return ask(PAYMENT, { method: 'POST', headers, body });
    },
  },
  Payment: {
    __resolveType: (payment) => (payment.payment_method?.type === 'upi' ? 'UpiPayment' : 'OtherPayment'),
  },
  UpiPayment: {
    ...common,
    upiId: (payment) => payment.payment_method.upi_id,
    upiLink: (payment) => payment.payment_method.upi_link,
    state: (payment) => payment.payment_method.state?.toUpperCase(),
    email: (payment) => payment.payment_method.email,
    firstName: (payment) => payment.payment_method.first_name,
    lastName: (payment) => payment.payment_method.last_name,
    phone: (payment) => payment.payment_method.phone,
  },
  OtherPayment: { ...common, method: (payment) => payment.payment_method?.type },
};

const server = new ApolloServer({ typeDefs, resolvers });
const { url } = await startStandaloneServer(server, { listen: { port: Number(PORT), host: '127.0.0.1' } });
process.stdout.write(`listening on ${url}\n`);
