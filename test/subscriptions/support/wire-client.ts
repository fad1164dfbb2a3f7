import { WebSocket, type ClientOptions } from 'ws';

export interface Message {
  type: string;
  id?: string;
  payload?: unknown;
}

export interface WireError {
  message: string;
  path?: string[];
  locations?: unknown;
  extensions: Record<string, unknown>;
}

export const errorsIn = ({ payload }: Message): WireError[] => payload as WireError[];

/** Returns the parts of an error that do not depend on the request. */
export const stablePart = ({
  message,
  locations,
  extensions: { requestId: _, retryAfterMs: _wait, ...extensions },
}: WireError) => ({ message, ...(locations !== undefined && { locations }), extensions });

export interface Closing {
  code: number;
  reason: string;
}

interface Opening extends ClientOptions {
  protocols?: string[];
}

const open: WebSocket[] = [];

afterAll(() => open.splice(0).forEach((socket) => socket.terminate()));

export const socketAddress = (url: string): string => url.replace(/^http/, 'ws');

/** A WebSocket client that can send any message, also invalid ones. */
export class WireClient {
  readonly messages: Message[] = [];
  readonly closed: Promise<Closing>;
  #taken = 0;
  #isClosed = false;
  #changed = Promise.withResolvers<undefined>();

  private constructor(readonly socket: WebSocket) {
    open.push(socket);
    socket.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString()) as Message);
      this.#change();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) =>
      socket.once('close', (code, reason) => {
        this.#isClosed = true;
        this.#change();
        resolve({ code, reason: reason.toString() });
      }),
    );
  }

  static async open(url: string, { protocols = ['graphql-transport-ws'], ...options }: Opening = {}) {
    const socket = new WebSocket(socketAddress(url), protocols, options);
    const client = new WireClient(socket);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return client;
  }

  /** Connects and waits for the acknowledgement of its credentials. */
  static async ready(url: string, payload?: object, options?: Opening): Promise<WireClient> {
    const client = await WireClient.open(url, options);
    client.say({ type: 'connection_init', ...(payload && { payload }) });
    const { type } = await client.next();
    if (type !== 'connection_ack') throw new Error(`Not acknowledged: ${type}`);
    return client;
  }

  say(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  subscribe(id: string, payload: object): void {
    this.say({ type: 'subscribe', id, payload });
  }

  complete(id: string): void {
    this.say({ type: 'complete', id });
  }

  async next(): Promise<Message> {
    for (;;) {
      const message = this.messages[this.#taken];
      if (message) {
        this.#taken += 1;
        return message;
      }
      if (this.#isClosed) throw new Error(`Closed: ${JSON.stringify(await this.closed)}`);
      await this.#changed.promise;
    }
  }

  /** Sends a ping and waits for its pong, before which the server has processed all earlier messages. */
  async settled(): Promise<Message[]> {
    const before = this.#taken;
    this.say({ type: 'ping' });
    for (let message = await this.next(); message.type !== 'pong'; message = await this.next());
    return this.messages.slice(before, this.#taken - 1);
  }

  #change(): void {
    this.#changed.resolve(undefined);
    this.#changed = Promise.withResolvers();
  }
}
