// What is asked of every gateway: the same payments, the same fields, as far as its own schema goes.
import { CHANNEL, idOf } from '../subscriptions/payments.mjs';

export { CHANNEL, idOf };

/** Every work asks about ids of its own; this one is asked for by all callers of `hot`. */
export const HOT_ID = idOf(0);

/** What is created: always the same, but for the name the caller gives it. */
export const AMOUNT = { currency: 'INR', value: '10.00' };
export const externalIdOf = (number) => `order-${number}`;

/** The common fields of a payment, and those of UPI. */
export const COMMON =
  'transactionId channel status amount { currency value received } redirectUrl createDate error { code message }';
export const UPI = 'upiId upiLink state email firstName lastName phone';

/** The fields that every answer of a lookup must hold, by what the service says. */
export const EXPECTED = {
  channel: CHANNEL,
  redirectUrl: 'https://pay.example/page',
  upiId: 'payee@upi',
  phone: '919876543210',
};

/** A POST of a GraphQL operation. */
export const operation = (query, variables, headers) => ({
  path: '/graphql',
  body: JSON.stringify({ query, variables }),
  ...(headers && { headers }),
});

/** An operation that asks for each place of a list under an alias, with a variable for each: its text never changes. */
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

/** Throws unless a payment was answered whole. */
export function checkPayment(payment, expected = EXPECTED) {
  for (const [field, value] of Object.entries(expected))
    if (payment?.[field] !== value) throw new Error(`${field} is ${payment?.[field]}, not ${value}`);
}
