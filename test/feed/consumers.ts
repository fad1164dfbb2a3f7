import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { CHANNEL } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';

export interface SeenChange {
  cursor: string;
  transactionId: string;
  status: string;
  previousStatus: string | null;
  state?: string | null;
}

const CHANGE = `... on PaymentChange { cursor transactionId status previousStatus state }
  ... on PayoutChange { cursor transactionId payoutStatus: status previousPayoutStatus: previousStatus }`;
const QUERY = `query ($channel: UUID!, $after: String) {
  changes(channel: $channel, after: $after, first: 50) { changes { ${CHANGE} } endCursor } }`;
const SUBSCRIPTION = `subscription ($channel: UUID!, $after: String) {
  changes(channel: $channel, after: $after) { ${CHANGE} } }`;

type WireChange = SeenChange & { payoutStatus?: string; previousPayoutStatus?: string | null };

interface Connection {
  /** URL of the GraphQL endpoint of a gateway. */
  url: string;
  after: string | null;
  /** Ends the connection abruptly. */
  signal: AbortSignal;
  onChange(change: SeenChange): void;
}

/** Reads changes over one connection until `signal` is aborted or the connection fails. */
export type Transport = (connection: Connection) => Promise<void>;

const HEADERS = { 'content-type': 'application/json', ...AUTHORIZED };

const toSeen = ({ payoutStatus, previousPayoutStatus, ...change }: WireChange): SeenChange => ({
  ...change,
  status: payoutStatus ?? change.status,
  previousStatus: previousPayoutStatus ?? change.previousStatus ?? null,
});

interface Result {
  data?: { changes: WireChange };
  errors?: unknown;
}

function changeOf({ data, errors }: Result): SeenChange {
  if (!data) throw new Error(JSON.stringify(errors));
  return toSeen(data.changes);
}

const overPages: Transport = async ({ url, after, signal, onChange }) => {
  for (let cursor = after; !signal.aborted;) {
    const body = JSON.stringify({ query: QUERY, variables: { channel: CHANNEL, after: cursor } });
    const response = await fetch(url, { method: 'POST', headers: HEADERS, body, signal });
    const { data, errors } = (await response.json()) as {
      data?: { changes: { changes: WireChange[]; endCursor: string } };
      errors?: unknown;
    };
    if (!data) throw new Error(JSON.stringify(errors));
    data.changes.changes.forEach((change) => onChange(toSeen(change)));
    cursor = data.changes.endCursor;
    if (data.changes.changes.length === 0) await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

const overWebSocket: Transport = async ({ url, after, signal, onChange }) => {
  let socket: WebSocket | undefined;
  class Socket extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      // eslint-disable-next-line @typescript-eslint/no-this-alias -- terminated below
      socket = this;
    }
  }
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: Socket,
    connectionParams: AUTHORIZED,
    retryAttempts: 0,
  });
  const variables = { channel: CHANNEL, after };
  signal.addEventListener('abort', () => socket?.terminate());
  try {
    for await (const result of client.iterate<Result['data']>({ query: SUBSCRIPTION, variables })) {
      if (signal.aborted) return;
      onChange(changeOf(result as Result));
    }
  } finally {
    socket?.terminate();
    void client.dispose();
  }
};

/** Resumes with Last-Event-ID: the variables always name the cursor of the start. */
const overEvents: Transport = async ({ url, after, signal, onChange }) => {
  const body = JSON.stringify({ query: SUBSCRIPTION, variables: { channel: CHANNEL } });
  const headers = { ...HEADERS, accept: 'text/event-stream', ...(after && { 'last-event-id': after }) };
  const response = await fetch(`${url}/stream`, { method: 'POST', headers, body, signal });
  if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + text).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      if (!event.includes('event: next')) continue;
      const change = changeOf(JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}') as Result);
      const [, id] = /^id: (.*)$/m.exec(event) ?? [];
      if (id !== change.cursor) throw new Error(`The event id ${id} is not the cursor ${change.cursor}.`);
      if (!signal.aborted) onChange(change);
    }
  }
};

export const TRANSPORTS: Record<string, Transport> = {
  query: overPages,
  WebSocket: overWebSocket,
  'server-sent events': overEvents,
};

interface ConsumerOptions {
  transport: Transport;
  /** Cursor of the start; null: the oldest change kept. */
  after: string | null;
  /** Returns the URL of a gateway for the next connection. */
  nextUrl(): string;
  /** Returns after how many ms the next connection is ended. */
  nextLifetimeMs(): number;
}

/** A consumer that is killed and resumed at random. It keeps its list and the cursor of the last change in it. */
export class Consumer {
  readonly seen: SeenChange[] = [];
  connections = 0;
  failures = 0;
  #isStopped = false;
  #controller = new AbortController();

  constructor(private readonly options: ConsumerOptions) {}

  async run(): Promise<void> {
    const { transport, after, nextUrl, nextLifetimeMs } = this.options;
    while (!this.#isStopped) {
      this.#controller = new AbortController();
      const { signal } = this.#controller;
      const timer = setTimeout(() => this.#controller.abort(), nextLifetimeMs());
      this.connections += 1;
      const connection = {
        url: nextUrl(),
        after: this.seen.at(-1)?.cursor ?? after,
        signal,
        onChange: (change: SeenChange) => void (signal.aborted || this.seen.push(change)),
      };
      await transport(connection).catch(async () => {
        if (!signal.aborted) this.failures += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
      });
      clearTimeout(timer);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#controller.abort();
  }
}
