import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { possibleTypes, typePolicies } from '@paygraph/client';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';

/** The URL of the gateway, inserted by serve.mjs. */
declare const GATEWAY_URL: string;

/** The shop's merchant channel. */
export const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';

/**
 * Returns the credentials of the caller, for each request and connection. In a shop they are the customer's token from
 * your identity provider, with the scopes payments:create, payments:read:own and payments:confirm:own, so that they see
 * only their own payments. A gateway with its sandbox needs none.
 */
const credentials = (): Promise<Record<string, string>> => Promise.resolve({});

const httpLink = new SetContextLink(async () => ({ headers: await credentials() })).concat(
  new HttpLink({ uri: `${GATEWAY_URL}/graphql` }),
);
/** Exponential backoff with jitter: 0.5 to 1 s at first, at most 30 s. The default of graphql-ws has no limit. */
const waitBeforeRetry = (retries: number): Promise<void> =>
  new Promise((done) => setTimeout(done, Math.min(1000 * 2 ** retries, 30_000) * (0.5 + Math.random() / 2)));

const webSocketClient = createClient({
  url: `${GATEWAY_URL.replace(/^http/, 'ws')}/graphql`,
  connectionParams: credentials,
  retryAttempts: 100,
  retryWait: waitBeforeRetry,
  // Retries also after a refused connection, for example while the gateway restarts.
  shouldRetry: () => true,
});

let isConnected = false;
webSocketClient.on('connected', () => (isConnected = true));
webSocketClient.on('closed', () => (isConnected = false));

/** Whether the WebSocket of the subscriptions is connected, for useSyncExternalStore. */
export const connection = {
  isConnected: (): boolean => isConnected,
  /** Calls back after every change. Returns the unsubscribe function. */
  onChange: (listener: () => void): (() => void) => {
    const unsubscribers = [webSocketClient.on('connected', listener), webSocketClient.on('closed', listener)];
    return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
  },
};

/** Sends queries and mutations over HTTP, subscriptions over a WebSocket. Requests are not repeated automatically. */
export const client = new ApolloClient({
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(webSocketClient),
    httpLink,
  ),
  cache: new InMemoryCache({ possibleTypes, typePolicies }),
});
