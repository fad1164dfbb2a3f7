import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { AUTHORIZED } from '../../support/credentials';
import { CHANNEL, closeAfterTests, type TestClient } from '../../support/gateway';
import { until } from '../../changes/support/feeds';

/** What most tests look at. */
export const FIELDS =
  '... on PaymentResource { status amount { value received } } ... on UpiPayment { state }';

/** A graphql-ws client with one connection, which does not come back by itself. Closed when the test file ends. */
export function liveClient(gateway: TestClient, authorization: string = AUTHORIZED.authorization): Client {
  const client = createClient({
    url: gateway.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization },
    retryAttempts: 0,
  });
  closeAfterTests({ close: async () => client.dispose() });
  return client;
}

interface Fault {
  message: string;
  extensions: Record<string, unknown>;
}

/** A subscription and what came of it. */
export class Watching {
  readonly values: Record<string, unknown>[] = [];
  /** The errors that ended it. */
  errors: readonly Fault[] | undefined;
  completed = false;
  /** Leaves. */
  readonly leave: () => void;

  constructor(client: Client, query: string, field: string) {
    this.leave = client.subscribe<Record<string, Record<string, unknown>>>(
      { query },
      {
        next: ({ data, errors }) => {
          if (errors) this.errors = errors as unknown as Fault[];
          if (data?.[field]) this.values.push(data[field]);
        },
        error: (errors) => {
          this.errors = errors as readonly Fault[];
        },
        complete: () => {
          this.completed = true;
        },
      },
    );
  }

  get last(): Record<string, unknown> | undefined {
    return this.values.at(-1);
  }

  /** The statuses it was told, in order. */
  get statuses(): unknown[] {
    return this.values.map(({ status }) => status);
  }

  /** What came of it in all. */
  get outcome() {
    return { statuses: this.statuses, completed: this.completed, codes: this.codes };
  }

  /** The codes of the errors that ended it. */
  get codes(): unknown[] {
    return (this.errors ?? []).map(({ extensions }) => extensions['code']);
  }

  /** Resolves when it has been told so often. */
  told(times: number): Promise<void> {
    return until(`${times} values have come`, () => this.values.length >= times);
  }

  /** Resolves when it was told this last. */
  sees(value: Record<string, unknown>): Promise<void> {
    const isThere = (): boolean =>
      Object.entries(value).every(
        ([name, part]) => JSON.stringify(this.last?.[name]) === JSON.stringify(part),
      );
    return until(`${JSON.stringify(value)} has come`, isThere);
  }

  ended(): Promise<void> {
    return until('it has ended', () => this.completed || this.errors !== undefined);
  }
}

const document = (field: string, id: string, fields: string): string =>
  `subscription { ${field}(channel: "${CHANNEL}", transactionId: "${id}") { ${fields} } }`;

export const watchPayment = (client: Client, id: string, fields = FIELDS): Watching =>
  new Watching(client, document('paymentUpdated', id, fields), 'paymentUpdated');

export const watchPayout = (client: Client, id: string): Watching =>
  new Watching(client, document('payoutUpdated', id, '... on PayoutResource { status }'), 'payoutUpdated');

/** Asks the gateway for a payment as any caller may. */
export async function askPayment(gateway: TestClient, id: string, fields = FIELDS): Promise<unknown> {
  const { data } = await gateway.ask<{ payment: unknown }>(
    `query { payment(channel: "${CHANNEL}", transactionId: "${id}") { ${fields} } }`,
  );
  return data.payment;
}
