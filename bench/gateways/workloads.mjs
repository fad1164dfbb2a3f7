// Requests of every gateway: the same payments and fields, as far as the schema of each gateway has them.
import { CHANNEL, idOf } from '../subscriptions/payments.mjs';

export { CHANNEL, idOf };

/** The id that all requests of the workload `hot` use. */
export const HOT_ID = idOf(0);

/** The amount of every created payment. */
export const AMOUNT = { currency: 'INR', value: '10.00' };
export const externalIdOf = (number) => `order-${number}`;

/** Common fields of a payment, and those of UPI. */
export const COMMON =
  'transactionId channel status amount { currency value received } redirectUrl createDate error { code message }';
export const UPI = 'upiId upiLink state email firstName lastName phone';

/** Fields that every lookup response must contain, with the service's values. */
export const EXPECTED = {
  channel: CHANNEL,
  redirectUrl: 'https://pay.example/page',
  upiId: 'payee@upi',
  phone: '919876543210',
};

/** Returns the request for a GraphQL operation (POST). */
export const operation = (query, variables, headers) => ({
  path: '/graphql',
  body: JSON.stringify({ query, variables }),
  ...(headers && { headers }),
});

/** Returns an operation with an alias and a variable per list position, so that its text is constant. */
export function aliased(count, lookUp) {
  const places = Array.from({ length: count }, (_, place) => place);
  const variables = places.map((place) => `$id${place}: ID!`).join(', ');
  const fields = places.map((place) => `p${place}: ${lookUp(`$id${place}`)}`).join('\n');
  return {
    query: `query Page($channel: ID!, ${variables}) {\n${fields}\n}`,
    variablesOf: (ids) =>
      Object.fromEntries([['channel', CHANNEL], ...ids.map((id, place) => [`id${place}`, id])]),
  };
}

/** Throws unless the payment is complete. */
export function checkPayment(payment, expected = EXPECTED) {
  for (const [field, value] of Object.entries(expected))
    if (payment?.[field] !== value) throw new Error(`${field} is ${payment?.[field]}, not ${value}`);
}
