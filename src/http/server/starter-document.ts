/**
 * Example operations that Apollo Sandbox (the GraphQL IDE at /graphql) shows at first. They work with the embedded
 * sandbox of the payment service. The subscription needs a transactionId.
 */
export const STARTER_DOCUMENT = `mutation CreatePayment($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    ... on PaymentSuccess {
      payment {
        ... on PaymentResource {
          id
          transactionId
          status
          amount { currency value }
          nextAction { ... on RedirectAction { url pollAfterMs } }
        }
      }
    }
    ... on UserError { code message }
    ... on InvalidInputError { fields { path rule message } }
  }
}

query Payment($channel: UUID!, $externalId: String!) {
  payment(channel: $channel, externalId: $externalId) {
    ... on PaymentResource {
      transactionId
      method
      status
      amount { currency value received }
      error { code message reason }
    }
  }
}

# With the transactionId of CreatePayment: press Pay on the payment's page and see the change here.
subscription WatchPayment($channel: UUID!, $transactionId: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $transactionId) {
    ... on PaymentResource {
      status
      amount { currency value received }
      nextAction { ... on RedirectAction { url } }
    }
  }
}
`;

/** Example variables that Apollo Sandbox shows at first. The command that `npm start` prints uses the same channel. */
export const STARTER_VARIABLES = {
  input: {
    idempotencyKey: 'first-payment',
    channel: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10',
    amount: { currency: 'EUR', value: '10.00' },
    externalId: 'order-1',
    method: { redirect: 'CARD' },
    returnUrl: 'http://localhost:4000/healthz',
  },
  channel: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10',
  externalId: 'order-1',
  transactionId: '',
};
