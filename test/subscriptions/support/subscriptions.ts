import { createClient as createEventStreamClient, type RequestParams } from 'graphql-sse';
import type { Client, SubscribePayload } from 'graphql-ws';
import { AUTHORIZED } from '../../support/credentials';
import { until } from '../../support/latch';
import { CHANNEL, closeAfterTests, type TestClient } from '../../support/gateway';
import { graphqlWsClient } from './graphql-ws-client';
import { subscription } from './harness';

/** A client of one transport. */
export type SubscriptionClient = Pick<Client, 'subscribe'>;

type Connect = (
  gateway: Pick<TestClient, 'url'>,
  credentials?: { authorization?: string },
) => SubscriptionClient;

/** A graphql-ws client with one connection, which it does not open again. Disposed when the test file ends. */
export const webSocketClient = (
  { url }: Pick<TestClient, 'url'>,
  credentials: { authorization?: string } = AUTHORIZED,
): Client => graphqlWsClient(url, { connectionParams: credentials, retryAttempts: 0 });

/** A graphql-sse client with one connection for each subscription, which it does not open again. */
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

/** Tests of what holds for both transports run once for each. */
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

/** A subscription and what came of it. */
export class Watching {
  /** What each result has for `field`. */
  readonly values: Record<string, unknown>[] = [];
  /** Everything that came as `data`. */
  readonly data: unknown[] = [];
  /** The GraphQL errors that ended it; empty when the connection was refused or closed instead. */
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

  /** The statuses received, in order. */
  get statuses(): unknown[] {
    return this.values.map(({ status }) => status);
  }

  get outcome() {
    return { statuses: this.statuses, completed: this.completed, codes: this.codes };
  }

  /** The codes of the errors that ended it. */
  get codes(): unknown[] {
    return (this.errors ?? []).map(({ extensions }) => extensions['code']);
  }

  /** Waits until `count` values have been received. */
  async received(count: number): Promise<this> {
    await until(
      () => this.values.length,
      (length) => length >= count,
    );
    return this;
  }

  /** Waits until the last value has these fields. */
  async shows(fields: Record<string, unknown>): Promise<void> {
    const expected = JSON.stringify(fields);
    const picked = (): string =>
      JSON.stringify(Object.fromEntries(Object.keys(fields).map((name) => [name, this.last?.[name]])));
    await until(picked, (text) => text === expected);
  }

  /** Waits until it has ended, in whatever way. */
  async ended(): Promise<void> {
    await until(() => this.completed || this.errors !== undefined);
  }

  #failed(reason: unknown): void {
    this.errors = Array.isArray(reason) ? (reason as Fault[]) : [];
    const { code, response } = Object(reason) as { code?: number; response?: Response };
    this.refusedWith = response?.status ?? code;
  }
}

/** The fields that most tests select. */
const FIELDS = '... on PaymentResource { status amount { value received } } ... on UpiPayment { state }';

const document = (field: string, id: string, fields: string): string =>
  `subscription { ${field}(channel: "${CHANNEL}", transactionId: "${id}") { ${fields} } }`;

export const watchPayment = (client: SubscriptionClient, id: string, fields = FIELDS): Watching =>
  new Watching(client, document('paymentUpdated', id, fields), 'paymentUpdated');

export const watchPayout = (client: SubscriptionClient, id: string): Watching =>
  new Watching(client, document('payoutUpdated', id, '... on PayoutResource { status }'), 'payoutUpdated');

/** Watches a payment by both transports, and waits for the first results. */
export async function watchByBoth(
  gateway: Pick<TestClient, 'url'>,
  id: string,
  fields?: string,
): Promise<readonly Watching[]> {
  const watchers = TRANSPORTS.map(([, connect]) => watchPayment(connect(gateway), id, fields));
  await Promise.all(watchers.map((watcher) => watcher.received(1)));
  return watchers;
}

/** Subscribes, and waits until the subscription has ended or the first result has come. */
export async function firstOf(client: SubscriptionClient, payload: SubscribePayload): Promise<Watching> {
  const watching = new Watching(client, payload);
  await until(() => watching.data.length > 0 || watching.completed || watching.errors !== undefined);
  return watching;
}

/** Subscribes to the status of a payment, and waits for the first result or the end. */
export const watchStatus = (client: SubscriptionClient, id: string): Promise<Watching> =>
  firstOf(client, subscription(id));
