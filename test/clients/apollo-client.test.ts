import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { createHash } from 'node:crypto';
import {
  ConfirmPaymentDocument,
  CreatePaymentDocument,
  PaymentDocument,
  PaymentFieldsFragmentDoc,
} from '../generated/operations';
import { AUTHORIZED } from '../support/credentials';
import possibleTypes from '../../possible-types.json';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { apolloClient } from './clients';
import { upiInput } from './samples';

async function started() {
  const sandbox = await testSandbox();
  const { url } = await testGateway(sandbox.url);
  return { sandbox, url, client: apolloClient(url) };
}

async function createdWith(client: ApolloClient) {
  const { data } = await client.mutate({ mutation: CreatePaymentDocument, variables: { input: upiInput() } });
  if (data?.createPayment.__typename !== 'PaymentSuccess') throw new Error('The payment was not created.');
  return data.createPayment.payment;
}

test("a payment is kept once in Apollo's cache, and read from there by the interface fragment", async () => {
  const { client } = await started();
  const { id, __typename } = await createdWith(client);
  const kept = client.cache.readFragment({
    id: `${__typename}:${id}`,
    fragment: PaymentFieldsFragmentDoc,
    fragmentName: 'PaymentFields',
  });
  expect(kept).toMatchObject({ id, method: 'UPI', nextAction: { __typename: 'ProvideUtrAction' } });
});

test('a screen that shows a payment changes by itself when the payment is confirmed', async () => {
  const { client, sandbox } = await started();
  const { transactionId } = await createdWith(client);
  const variables = { channel: CHANNEL, transactionId };
  await client.query({ query: PaymentDocument, variables });

  const seen: string[] = [];
  const screen = client.watchQuery({ query: PaymentDocument, variables, fetchPolicy: 'cache-only' });
  const watching = screen.subscribe(({ data }) => {
    const payment = data?.payment;
    if (payment && 'status' in payment && payment.status) seen.push(payment.status);
  });
  const input = { channel: CHANNEL, transactionId, confirmation: { upi: { utr: '412345678901' } } };
  await client.mutate({ mutation: ConfirmPaymentDocument, variables: { input } });
  watching.unsubscribe();

  expect(seen).toEqual(['PROCESSING', 'COMPLETED']);
  expect(sandbox.control.counts().payment.lookups).toBe(1);
});

test('automatic persisted queries work: the second time the document is not sent', async () => {
  const { url } = await started();
  const bodies: string[] = [];
  const recording: typeof fetch = (target, init) => {
    bodies.push(String(init?.body));
    return fetch(target, init);
  };
  const persisted = new PersistedQueryLink({
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
  });
  const client = new ApolloClient({
    link: persisted.concat(new HttpLink({ uri: url, fetch: recording, headers: AUTHORIZED })),
    cache: new InMemoryCache(possibleTypes),
  });
  const ask = () =>
    client.query({
      query: PaymentDocument,
      variables: { channel: CHANNEL, externalId: 'nobody' },
      fetchPolicy: 'network-only',
    });
  const answers = [await ask(), await ask()];
  expect(answers.map(({ data }) => data)).toEqual([{ payment: null }, { payment: null }]);
  expect(bodies.map((body) => 'query' in Object(JSON.parse(body)))).toEqual([false, true, false]);
});
