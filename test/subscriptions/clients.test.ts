import { randomUUID } from 'node:crypto';
import { ApolloClient, InMemoryCache, gql } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client as UrqlClient, fetchExchange } from '@urql/core';
import possibleTypes from '../../possible-types.json';
import { AUTHORIZED } from '../support/credentials';
import { until } from '../support/latch';
import { CHANNEL } from '../support/gateway';
import { graphqlWsClient } from './support/graphql-ws-client';
import { startHarness, type SubscriptionHarness } from './support/harness';

const PAYOUT_UPDATED = `subscription ($channel: UUID!, $transactionId: UUID!) {
  payoutUpdated(channel: $channel, transactionId: $transactionId) { ... on PayoutResource { id status error { code } } } }`;

type Credentials = { authorization: string };

interface Watched {
  results: unknown[];
  /** GraphQL errors, or the error of the connection. */
  errors: unknown[];
  isOver: boolean;
}

type Watch = (url: string, variables: object, credentials: Credentials) => Watched;

const watchByApollo: Watch = (url, variables, connectionParams) => {
  const watched: Watched = { results: [], errors: [], isOver: false };
  const link = new GraphQLWsLink(graphqlWsClient(url, { connectionParams }));
  const client = new ApolloClient({ link, cache: new InMemoryCache(possibleTypes) });
  const failed = (error: unknown): void =>
    void watched.errors.push(...(CombinedGraphQLErrors.is(error) ? error.errors : [error]));
  client.subscribe({ query: gql(PAYOUT_UPDATED), variables: { ...variables } }).subscribe({
    next: ({ data, error }) =>
      error ? failed(error) : watched.results.push(...Object.values(data as object)),
    error: (error: unknown) => {
      failed(error);
      watched.isOver = true;
    },
    complete: () => (watched.isOver = true),
  });
  return watched;
};

const watchByUrql: Watch = (url, variables, headers) => {
  const watched: Watched = { results: [], errors: [], isOver: false };
  const client = new UrqlClient({
    url: `${url}/stream`,
    preferGetMethod: false,
    fetchSubscriptions: true,
    fetchOptions: { headers: { ...headers } },
    exchanges: [fetchExchange],
  });
  client.subscription(PAYOUT_UPDATED, variables).subscribe(({ data, error, hasNext }) => {
    if (error) watched.errors.push(...error.graphQLErrors, error.networkError);
    else if (hasNext) watched.results.push(...Object.values(data as object));
    // An error ends a subscription, though urql reports that more may come.
    if (error || !hasNext) watched.isOver = true;
  });
  return watched;
};

let harness: SubscriptionHarness;

beforeAll(async () => {
  harness = await startHarness();
});

describe.each([
  ['Apollo Client over a WebSocket', watchByApollo],
  ['urql over server-sent events', watchByUrql],
])('A client (%s)', (_name, watchBy) => {
  const watch = (transactionId: string, credentials: Credentials = AUTHORIZED): Watched =>
    watchBy(harness.url, { channel: CHANNEL, transactionId }, credentials);

  test('receives the states of a payout until it fails', async () => {
    const id = harness.addPayout();
    const watched = watch(id);
    await until(() => watched.results.length === 1);
    await harness.change(id, { status: 'failed', error: { code: 'declined', message: 'No.' } });
    await until(() => watched.isOver);
    expect(watched.results).toMatchObject([
      { status: 'PROCESSING' },
      { status: 'FAILED', error: { code: expect.any(String) as unknown } },
    ]);
    expect(watched.errors).toEqual([]);
  });

  test('gets NOT_FOUND for an unknown payout, and UNAUTHENTICATED for an unknown key', async () => {
    const unknown = watch(randomUUID());
    const refused = watch(randomUUID(), { authorization: 'Bearer pgk_nobody' });
    await until(() => unknown.isOver && refused.isOver);
    expect([unknown.results, refused.results]).toEqual([[], []]);
    expect(unknown.errors[0]).toMatchObject({ extensions: { code: 'NOT_FOUND', retryable: false } });
    const texts = refused.errors.map((error) => {
      const { message, reason, extensions } = Object(error) as Record<string, unknown>;
      return [message, reason, JSON.stringify(extensions)].join(' ');
    });
    expect(texts.join(' ')).toContain('UNAUTHENTICATED');
  });
});
