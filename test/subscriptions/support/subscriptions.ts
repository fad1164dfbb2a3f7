import { createClient as createEventStreamClient, type RequestParams } from 'graphql-sse';
import type { Client, SubscribePayload } from 'graphql-ws';
import { AUTHORIZED } from '../../support/credentials';
import { until } from '../../support/latch';
import { CHANNEL, closeAfterTests, type TestClient } from '../../support/gateway';
import { graphqlWsClient } from './graphql-ws-client';
import { subscription } from './harness';

export type SubscriptionClient = Pick<Client, 'subscribe'>;

type Connect = (to: Pick<TestClient, 'url'>, credentials?: { authorization?: string }) => SubscriptionClient;

/** Returns a graphql-ws client with one connection, which does not reconnect. */
export const webSocketClient = (
  { url }: Pick<TestClient, 'url'>,
  credentials: { authorization?: string } = AUTHORIZED,
): Client => graphqlWsClient(url, { connectionParams: credentials, retryAttempts: 0 });

/** Returns a graphql-sse client with a connection for each subscription, which does not reconnect. */
export function eventStreamClient(
  { url }: Pick<TestClient, 'url'>,
  credentials: { authorization?: string } = AUTHORIZED,
): SubscriptionClient {
  const headers = credentials as Record<string, string>;
  const client = createEventStreamClient({ url: `${url}/stream`, headers, retryAttempts: 0 });
  closeAfterTests({ close: async () => client.dispose() });
  return {
    subscribe: (payload, sink) =>
      client.subscribe(payload as RequestParams, sink as Parameters<typeof client.subscribe>[1]),
  };
}

/** Names and clients of both transports, for tests that run once for each. */
export const TRANSPORTS: readonly (readonly [string, Connect])[] = [
  ['WebSocket', webSocketClient],
  ['server-sent events', eventStreamClient],
];

export interface Fault {
  message: string;
  path?: readonly string[];
  locations?: unknown;
  extensions: Record<string, unknown>;
}

/** A subscription and what it has received. */
export class Watching {
  /** The value of `field` in each result. */
  readonly values: Record<string, unknown>[] = [];
  readonly data: unknown[] = [];
  /** The GraphQL errors that ended the subscription; empty if the connection was refused or closed. */
  errors: readonly Fault[] | undefined;
  /** The code with which the WebSocket was closed, or the HTTP status with which the stream was refused. */
  refusedWith: number | undefined;
  completed = false;
  readonly leave: () => void;

  constructor(client: SubscriptionClient, payload: string | SubscribePayload, field = 'paymentUpdated') {
    this.leave = client.subscribe<Record<string, Record<string, unknown>>>(
      typeof payload === 'string' ? { query: payload } : payload,
      {
        next: ({ data, errors }) => {
          if (errors) this.errors = errors as unknown as Fault[];
          if (data) this.data.push(data);
          if (data?.[field]) this.values.push(data[field]);
        },
        error: (reason) => this.#failed(reason),
        complete: () => {
          this.completed = this.errors === undefined;
        },
      },
    );
  }

  get last(): Record<string, unknown> | undefined {
    return this.values.at(-1);
  }

  get statuses(): unknown[] {
    return this.values.map(({ status }) => status);
  }

  get outcome() {
    return { statuses: this.statuses, completed: this.completed, codes: this.codes };
  }

  get codes(): unknown[] {
    return (this.errors ?? []).map(({ extensions }) => extensions['code']);
  }

  async received(count: number): Promise<this> {
    await until(() => this.values.length >= count);
    return this;
  }

  async shows(fields: Record<string, unknown>): Promise<void> {
    const expected = JSON.stringify(fields);
    const picked = (): string =>
      JSON.stringify(Object.fromEntries(Object.keys(fields).map((name) => [name, this.last?.[name]])));
    await until(picked, (text) => text === expected);
  }

  async ended(): Promise<void> {
    await until(() => this.completed || this.errors !== undefined);
  }

  #failed(reason: unknown): void {
    this.errors = Array.isArray(reason) ? (reason as Fault[]) : [];
    const { code, response } = Object(reason) as { code?: number; response?: Response };
    this.refusedWith = response?.status ?? code;
  }
}

const FIELDS = '... on PaymentResource { status amount { value received } } ... on UpiPayment { state }';

const document = (field: string, id: string, fields: string): string =>
  `subscription { ${field}(channel: "${CHANNEL}", transactionId: "${id}") { ${fields} } }`;

export const watchPayment = (client: SubscriptionClient, id: string, fields = FIELDS): Watching =>
  new Watching(client, document('paymentUpdated', id, fields), 'paymentUpdated');

export const watchPayout = (client: SubscriptionClient, id: string): Watching =>
  new Watching(client, document('payoutUpdated', id, '... on PayoutResource { status }'), 'payoutUpdated');

/** Subscribes by both transports, and waits for the first results. */
export async function watchByBoth(
  gateway: Pick<TestClient, 'url'>,
  id: string,
  fields?: string,
): Promise<readonly Watching[]> {
  const subscribers = TRANSPORTS.map(([, connect]) => watchPayment(connect(gateway), id, fields));
  await Promise.all(subscribers.map((watcher) => watcher.received(1)));
  return subscribers;
}

export async function firstOf(client: SubscriptionClient, payload: SubscribePayload): Promise<Watching> {
  const watching = new Watching(client, payload);
  await until(() => watching.data.length > 0 || watching.completed || watching.errors !== undefined);
  return watching;
}

export const watchStatus = (client: SubscriptionClient, id: string): Promise<Watching> =>
  firstOf(client, subscription(id));
