import { request, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { AUTHORIZED } from '../../support/credentials';

export interface StreamRequest {
  query?: unknown;
  operationName?: unknown;
  variables?: unknown;
  extensions?: unknown;
  documentId?: unknown;
}

export interface SeenResult extends ExecutionResult<Record<string, Record<string, unknown>>> {
  errors?: readonly (NonNullable<ExecutionResult['errors']>[number] & {
    extensions: Record<string, unknown>;
  })[];
}

/** An event of a stream: a result with its event id, if any; the completion; or how the stream ended without it. */
export type StreamEvent =
  | { event: 'next'; data: SeenResult; id?: string }
  | { event: 'complete' }
  | { event: 'end' }
  | { event: 'cut' };

interface Opening {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
}

export const parametersOf = (request: StreamRequest): string =>
  new URLSearchParams(
    Object.entries(request).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString();

/** A stream of server-sent events, parsed by hand so that tests see every received byte. */
export class EventStream {
  comments = 0;
  text = '';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  isOver = false;
  readonly #response: IncomingMessage;
  readonly #request: ClientRequest;
  readonly #events: StreamEvent[] = [];
  #rest = '';
  #changed = Promise.withResolvers<unknown>();

  private constructor(asking: ClientRequest, response: IncomingMessage) {
    this.#request = asking;
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#read(chunk));
    response.on('end', () => this.#over({ event: 'end' }));
    response.on('error', () => this.#over({ event: 'cut' }));
  }

  /** Sends the request, and resolves when the response headers have arrived. */
  static async open(url: string, sent: StreamRequest, { method = 'GET', headers }: Opening = {}) {
    const isPost = method === 'POST';
    const target = isPost ? url : `${url}?${parametersOf(sent)}`;
    const asking = request(target, {
      method,
      agent: false,
      headers: {
        accept: 'text/event-stream',
        ...AUTHORIZED,
        ...(isPost && { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    asking.end(isPost ? JSON.stringify(sent) : undefined);
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      asking.once('response', resolve).once('error', reject),
    );
    asking.on('error', () => undefined);
    return new EventStream(asking, response);
  }

  async next(): Promise<StreamEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return event;
      if (this.isOver) return { event: 'end' };
      await this.#changed.promise;
    }
  }

  async nextData(): Promise<Record<string, unknown>> {
    const event = await this.next();
    if (event.event !== 'next' || !event.data.data) throw new Error(`No data: ${JSON.stringify(event)}`);
    return Object.values(event.data.data)[0] ?? {};
  }

  async rest(): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (event.event === 'end') return events;
      events.push(event);
      if (event.event === 'cut') return events;
    }
  }

  get isQuiet(): boolean {
    return this.#events.length === 0;
  }

  /** Stops reading. */
  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  disconnect(): void {
    this.#request.destroy();
  }

  #read(chunk: string): void {
    this.text += chunk;
    const blocks = (this.#rest + chunk).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#take(block);
    this.#change();
  }

  #take(block: string): void {
    if (block.startsWith(':')) {
      this.comments += 1;
      return;
    }
    const [, id, event, data = ''] = /^(?:id: (.+)\n)?event: (next|complete)\ndata: (.*)$/.exec(block) ?? [];
    const seen = id === undefined ? {} : { id };
    if (event === 'next') this.#events.push({ event, ...seen, data: JSON.parse(data) as SeenResult });
    else if (event === 'complete' && data === '') this.#events.push({ event });
    else throw new Error(`No event of the protocol: ${JSON.stringify(block)}`);
  }

  #over(event: StreamEvent): void {
    if (this.isOver) return;
    this.isOver = true;
    if (event.event === 'cut') this.#events.push(event);
    this.#change();
  }

  #change(): void {
    this.#changed.resolve(undefined);
    this.#changed = Promise.withResolvers();
  }
}
