// The selection of subscribers and polling clients: the fields that a shop's page shows.
import { CLIENT_KEY } from '../journal/client-key.mjs';
import { CHANNEL } from './payments.mjs';

const SELECTION = `{
    __typename
    ... on PaymentResource {
      id transactionId status rawStatus createDate redirectUrl
      amount { currency value received }
      error { code message }
    }
  }`;

const ARGUMENTS = 'channel: $channel, transactionId: $transactionId';

export const SUBSCRIPTION = `subscription Watch($channel: UUID!, $transactionId: UUID!) {
  paymentUpdated(${ARGUMENTS}) ${SELECTION}
}`;

export const QUERY = `query Poll($channel: UUID!, $transactionId: UUID!) {
  payment(${ARGUMENTS}) ${SELECTION}
}`;

export const AUTHORIZATION = `Bearer ${CLIENT_KEY}`;

export const variablesFor = (transactionId) => ({ channel: CHANNEL, transactionId });
