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

const http = new SetContextLink(async () => ({ headers: await credentials() })).concat(
  new HttpLink({ uri: `${GATEWAY_URL}/graphql` }),
);
/** Waits 1 to 30 s, doubling, with jitter. The default waits of graphql-ws grow without a limit. */
const retryWait = (retries: number): Promise<void> =>
  new Promise((done) => setTimeout(done, Math.min(1000 * 2 ** retries, 30_000) * (0.5 + Math.random() / 2)));

const socket = createClient({
  url: `${GATEWAY_URL.replace(/^http/, 'ws')}/graphql`,
  connectionParams: credentials,
  retryAttempts: 100,
  retryWait,
  // Retries also after a refused connection, for example while the gateway restarts.
  shouldRetry: () => true,
});

let connected = false;
socket.on('connected', () => (connected = true));
socket.on('closed', () => (connected = false));

/** Whether the WebSocket of the subscriptions is connected, for useSyncExternalStore. */
export const connection = {
  isConnected: (): boolean => connected,
  /** Calls back after every change. Returns the unsubscribe function. */
  onChange: (changed: () => void): (() => void) => {
    const ends = [socket.on('connected', changed), socket.on('closed', changed)];
    return () => ends.forEach((end) => end());
  },
};

/** Sends queries and mutations over HTTP, subscriptions over a WebSocket. Requests are not repeated automatically. */
export const client = new ApolloClient({
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    http,
  ),
  cache: new InMemoryCache({ possibleTypes, typePolicies }),
});
