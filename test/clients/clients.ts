import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { Client, cacheExchange, fetchExchange } from '@urql/core';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { AUTHORIZED } from '../support/credentials';
import possibleTypes from '../../possible-types.json';

type Variables = Record<string, unknown>;

export interface SeenError {
  message: string;
  extensions?: Record<string, unknown>;
}

export interface Seen<D> {
  data: D | undefined;
  errors: readonly SeenError[];
}

export interface AnyClient {
  query<D, V extends Variables>(document: TypedDocumentNode<D, V>, variables: V): Promise<Seen<D>>;
  mutate<D, V extends Variables>(document: TypedDocumentNode<D, V>, variables: V): Promise<Seen<D>>;
}

export const apolloClient = (uri: string): ApolloClient =>
  new ApolloClient({
    link: new HttpLink({ uri, headers: AUTHORIZED }),
    cache: new InMemoryCache(possibleTypes),
  });

/** Returns a client that sends queries by POST, because GET would put ids into URLs. */
export const urqlClient = (url: string): Client =>
  new Client({
    url,
    exchanges: [cacheExchange, fetchExchange],
    preferGetMethod: false,
    fetchOptions: { headers: AUTHORIZED },
  });

function seenByApollo<D>({ data, error }: { data?: unknown; error?: unknown }): Seen<D> {
  if (error !== undefined && !CombinedGraphQLErrors.is(error)) throw error;
  return { data: (data ?? undefined) as D | undefined, errors: error?.errors ?? [] };
}

function overApollo(uri: string): AnyClient {
  const client = apolloClient(uri);
  return {
    query: async (query, variables) =>
      seenByApollo(await client.query({ query, variables, fetchPolicy: 'network-only', errorPolicy: 'all' })),
    mutate: async (mutation, variables) =>
      seenByApollo(await client.mutate({ mutation, variables, errorPolicy: 'all' })),
  };
}

function overUrql(url: string): AnyClient {
  const client = urqlClient(url);
  return {
    query: async (document, variables) => {
      const { data, error } = await client.query(document, variables, { requestPolicy: 'network-only' });
      if (error?.networkError) throw error.networkError;
      return { data, errors: error?.graphQLErrors ?? [] };
    },
    mutate: async (document, variables) => {
      const { data, error } = await client.mutation(document, variables);
      if (error?.networkError) throw error.networkError;
      return { data, errors: error?.graphQLErrors ?? [] };
    },
  };
}

export const CLIENTS: readonly (readonly [string, (url: string) => AnyClient])[] = [
  ['Apollo Client', overApollo],
  ['urql', overUrql],
];
