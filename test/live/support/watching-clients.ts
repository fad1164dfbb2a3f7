import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import {
  Client as UrqlClient,
  cacheExchange,
  fetchExchange,
  subscriptionExchange,
  type CombinedError,
} from '@urql/core';
import { OperationTypeNode } from 'graphql';
import { createClient, type Client as SocketClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { until } from '../../exactly-once/support/gate';
import { closeAfterTests } from '../../support/gateway';
import type { SeenError } from '../../clients/clients';
import possibleTypes from '../../../possible-types.json';
import { socketAddress } from './wire-client';

type Variables = Record<string, unknown>;
/** What a client sends to say who it is; asked for again with every connection. */
export type Credentials = () => { authorization?: string };

/** A subscription as an application sees it, whichever client it uses. */
export class Watched<D> {
  readonly results: D[] = [];
  errors: readonly SeenError[] = [];
  /** What a client says where there is no GraphQL error: an error, or the closing of the connection as it came. */
  failure: { message?: string; reason?: string } | null = null;
  isOver = false;
  leave: () => void = () => undefined;

  /** Waits until so many results have come, and returns the last. */
  async result(count: number): Promise<D> {
    await until(
      () => this.results.length,
      (length) => length >= count || this.isOver,
    );
    const result = this.results[count - 1];
    if (result === undefined)
      throw new Error(
        `Over: ${JSON.stringify(this.errors)} ${this.failure?.message ?? this.failure?.reason ?? ''}`,
      );
    return result;
  }

  /** Waits until it is over. */
  over(): Promise<unknown> {
    return until(() => this.isOver, Boolean);
  }
}

/** The one thing that a watching application does, in the words of no client. */
export type Watch = <D, V extends Variables>(document: TypedDocumentNode<D, V>, variables: V) => Watched<D>;

const socketClient = (url: string, credentials: Credentials): SocketClient => {
  const client = createClient({
    url: socketAddress(url),
    webSocketImpl: WebSocket,
    connectionParams: credentials,
  });
  closeAfterTests({ close: async () => client.dispose() });
  return client;
};

/** Apollo Client as its documents tell an application to set it up: subscriptions over a WebSocket, the rest by HTTP. */
export function apolloClientOf(url: string, credentials: Credentials): ApolloClient {
  const http = new HttpLink({
    uri: url,
    fetch: (target, init) => fetch(target, { ...init, headers: { ...init?.headers, ...credentials() } }),
  });
  const socket = new GraphQLWsLink(socketClient(url, credentials));
  return new ApolloClient({
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      socket,
      http,
    ),
    cache: new InMemoryCache(possibleTypes),
  });
}

export const watchByApollo =
  (client: ApolloClient): Watch =>
  (query, variables) => {
    const watched = new Watched<never>();
    const seenError = (error: unknown): void => {
      if (CombinedGraphQLErrors.is(error)) watched.errors = error.errors;
      else watched.failure = error as Error;
    };
    const subscription = client.subscribe({ query, variables }).subscribe({
      next: ({ data, error }) => {
        if (error) seenError(error);
        else watched.results.push(data as never);
      },
      error: (error: unknown) => {
        seenError(error);
        watched.isOver = true;
      },
      complete: () => {
        watched.isOver = true;
      },
    });
    watched.leave = () => subscription.unsubscribe();
    return watched;
  };

/** urql with subscriptions over a WebSocket, as its documents tell an application to set it up. */
export function urqlOverWebSocket(url: string, credentials: Credentials): UrqlClient {
  const socket = socketClient(url, credentials);
  return new UrqlClient({
    url,
    preferGetMethod: false,
    fetchOptions: () => ({ headers: credentials() }),
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
        }),
      }),
    ],
  });
}

/** urql with subscriptions over server-sent events, by its own fetch exchange. */
export const urqlOverEvents = (url: string, credentials: Credentials): UrqlClient =>
  new UrqlClient({
    url: `${url}/stream`,
    fetchSubscriptions: true,
    fetchOptions: () => ({ headers: credentials() }),
    exchanges: [fetchExchange],
  });

export const watchByUrql =
  (client: UrqlClient): Watch =>
  (document, variables) => {
    const watched = new Watched<never>();
    const failed = ({ graphQLErrors, networkError }: CombinedError): void => {
      watched.errors = graphQLErrors;
      watched.failure = networkError ?? null;
    };
    const { unsubscribe } = client.subscription(document, variables).subscribe(({ data, error, hasNext }) => {
      if (error) failed(error);
      else if (hasNext) watched.results.push(data as never);
      // An error ends a subscription, though urql says that more may come.
      if (error || !hasNext) watched.isOver = true;
    });
    watched.leave = unsubscribe;
    return watched;
  };

/** Every way in which an application may watch. */
export const WAYS: readonly (readonly [string, (url: string, credentials: Credentials) => Watch])[] = [
  ['Apollo Client over a WebSocket', (url, credentials) => watchByApollo(apolloClientOf(url, credentials))],
  ['urql over a WebSocket', (url, credentials) => watchByUrql(urqlOverWebSocket(url, credentials))],
  ['urql over server-sent events', (url, credentials) => watchByUrql(urqlOverEvents(url, credentials))],
];
