import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { Client, cacheExchange, fetchExchange, type CombinedError } from '@urql/core';
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

const apolloClient = (uri: string): ApolloClient =>
  new ApolloClient({
    link: new HttpLink({ uri, headers: AUTHORIZED }),
    cache: new InMemoryCache(possibleTypes),
  });

/** Returns a client that sends queries by POST, because GET would put ids into URLs. */
const urqlClient = (url: string): Client =>
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

function seenByUrql<D>({ data, error }: { data?: D; error?: CombinedError }): Seen<D> {
  if (error?.networkError) throw error.networkError;
  return { data, errors: error?.graphQLErrors ?? [] };
}

function overUrql(url: string): AnyClient {
  const client = urqlClient(url);
  return {
    query: async (document, variables) =>
      seenByUrql(await client.query(document, variables, { requestPolicy: 'network-only' })),
    mutate: async (document, variables) => seenByUrql(await client.mutation(document, variables)),
  };
}

export const CLIENTS: readonly (readonly [string, (url: string) => AnyClient])[] = [
  ['Apollo Client', overApollo],
  ['urql', overUrql],
];
