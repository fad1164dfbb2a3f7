import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import {
  changeOf,
  openStream,
  readPage,
  subscriptionQuery,
  unaliased,
  type SeenChange,
} from '../changes/support/requests';
import { pause } from '../chaos/random';
import { CHANNEL, type Json } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';

interface Connection {
  /** URL of the GraphQL endpoint of a gateway. */
  url: string;
  after: string;
  /** Ends the connection abruptly. */
  signal: AbortSignal;
  onChange(change: SeenChange): void;
}

/** Reads changes over one connection until `signal` is aborted or the connection fails. */
export type Transport = (connection: Connection) => Promise<void>;

const overPages: Transport = async ({ url, after, signal, onChange }) => {
  for (let cursor = after; !signal.aborted;) {
    const { page, errors } = await readPage({ url, after: cursor }, 50);
    if (!page) throw new Error(JSON.stringify(errors));
    page.changes.forEach(onChange);
    cursor = page.endCursor;
    if (page.changes.length === 0) await pause(200);
  }
};

const overWebSocket: Transport = async ({ url, after, signal, onChange }) => {
  let socket: WebSocket | undefined;
  const onOpened = (opened: unknown): void => {
    socket = opened as WebSocket;
    if (signal.aborted) socket.terminate();
  };
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: AUTHORIZED,
    retryAttempts: 0,
    on: { opened: onOpened },
  });
  const variables = { channel: CHANNEL, after };
  signal.addEventListener('abort', () => socket?.terminate());
  try {
    for await (const result of client.iterate<{ changes: Json }>({ query: subscriptionQuery(), variables })) {
      if (signal.aborted) return;
      if (!result.data) throw new Error(JSON.stringify(result.errors));
      onChange(unaliased(result.data.changes));
    }
  } finally {
    socket?.terminate();
    void client.dispose();
  }
};

/** Resumes with Last-Event-ID: the variables have no cursor. */
const overEvents: Transport = async ({ url, after, signal, onChange }) => {
  const stream = await openStream({ url }, { method: 'POST', lastEventId: after });
  if (signal.aborted) return stream.disconnect();
  signal.addEventListener('abort', () => stream.disconnect());
  if (stream.status !== 200) throw new Error(`status ${stream.status}`);
  for (let event = await stream.next(); event.event === 'next'; event = await stream.next())
    onChange(changeOf(event));
  if (!signal.aborted) throw new Error('The stream ended.');
};

export const TRANSPORTS: Record<string, Transport> = {
  query: overPages,
  WebSocket: overWebSocket,
  'server-sent events': overEvents,
};

interface ConsumerOptions {
  transport: Transport;
  /** Cursor after which the consumer starts. */
  after: string;
  nextUrl(): string;
  /** Returns the time in ms after which the next connection is ended. */
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
        await pause(50);
      });
      clearTimeout(timer);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#controller.abort();
  }
}
