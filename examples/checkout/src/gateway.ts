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
 * What says who asks. In a shop it is the token of the customer, from your identity provider, and asked for again whenever
 * a request or a connection begins; its scopes are payments:create, payments:read:own and payments:confirm:own, so that it
 * shows this customer's payments only. The gateway before its sandbox asks nobody.
 */
const credentials = (): Promise<Record<string, string>> => Promise.resolve({});

const http = new SetContextLink(async () => ({ headers: await credentials() })).concat(
  new HttpLink({ uri: `${GATEWAY_URL}/graphql` }),
);
/** Doubles from a second to half a minute, with jitter; without it graphql-ws's own pauses grow without a limit. */
const retryWait = (retries: number): Promise<void> =>
  new Promise((done) => setTimeout(done, Math.min(1000 * 2 ** retries, 30_000) * (0.5 + Math.random() / 2)));

const socket = createClient({
  url: `${GATEWAY_URL.replace(/^http/, 'ws')}/graphql`,
  connectionParams: credentials,
  retryAttempts: 100,
  retryWait,
  // Also after a refused connection, for example while the gateway restarts.
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

/** Queries and mutations over HTTP, subscriptions over a WebSocket. Nothing is sent twice by itself. */
export const client = new ApolloClient({
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    http,
  ),
  cache: new InMemoryCache({ possibleTypes, typePolicies }),
});
