import { createClient, type Client, type ClientOptions } from 'graphql-ws';
import { WebSocket } from 'ws';
import { AUTHORIZED } from '../../support/credentials';
import { socketAddress } from './wire-client';

const clients: Client[] = [];

afterAll(() => clients.splice(0).forEach((client) => void client.dispose()));

/** A graphql-ws client that reconnects without delay. */
export function graphqlWsClient(url: string | (() => string), options: Partial<ClientOptions> = {}): Client {
  const client = createClient({
    url: typeof url === 'string' ? socketAddress(url) : () => socketAddress(url()),
    webSocketImpl: WebSocket,
    connectionParams: AUTHORIZED,
    retryWait: () => Promise.resolve(),
    ...options,
  });
  clients.push(client);
  return client;
}
