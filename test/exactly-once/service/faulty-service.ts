import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Connection, type Answer, type Arrived } from './connection';
import { Ledger, resource, type Entry, type Kind } from './ledger';

/** What a request is for. */
export type Purpose = 'create-payment' | 'create-payout' | 'confirm' | 'look-up-payment' | 'look-up-payout';

/** How the service treats one request. */
export interface Fault {
  /**
   * Whether it does what it is asked: at once, never, or so many milliseconds later. The answer that it would give
   * is made as if it had.
   */
  acts: boolean | number;
  /** What has to happen before it does anything at all with the request. */
  first?: Promise<unknown>;
  /** What it does instead of answering. Absent: it answers. */
  reply?(connection: Connection, answer: Answer): void;
}

/** Chooses a fault for a request, or none. */
export type Plan = (purpose: Purpose, request: Arrived) => Fault | undefined;

export interface Seen extends Arrived {
  purpose: Purpose;
}

/** A request is refused when its timestamp is further off than this (spec section 5). */
const MAX_AGE_MS = 5 * 60 * 1000;

/** A REST payment service that can be made to fail in every way a service and a network can, and that remembers what it made. */
export class FaultyService {
  readonly ledger = new Ledger();
  readonly seen: Seen[] = [];
  /** How many connections were opened. */
  connections = 0;
  /** How far its clock is from the others'. */
  clockOffsetMs = 0;
  /** How many of the next connections are reset before anything is read from them. */
  resetConnections = 0;
  /** From how many of the next connections nothing is ever read. */
  deafConnections = 0;
  /** Closes a connection that has been idle for so long, without having said so. */
  idleMs: number | undefined;
  #now: () => number;
  #server: Server;
  #open = new Set<Connection>();
  #deaf = new Set<Socket>();
  #port = 0;
  #planned = new Map<Purpose, Fault[]>();
  #plan: Plan = () => undefined;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#server = this.#newServer();
  }

  static async start(now?: () => number): Promise<FaultyService> {
    const service = new FaultyService(now);
    await service.listen();
    return service;
  }

  /** Ends with a slash. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  /** Its own clock. */
  now(): number {
    return this.#now() + this.clockOffsetMs;
  }

  /** Listens, at the same port as before. */
  async listen(): Promise<void> {
    this.#server = this.#newServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops listening: connections are refused. What is open ends. */
  async close(): Promise<void> {
    this.dropConnections();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  /** Ends every open connection without a word. */
  dropConnections(): void {
    for (const { socket } of this.#open) socket.destroy();
    for (const socket of this.#deaf) socket.destroy();
  }

  /** How the next requests for that are treated, one after another; then as the plan says. */
  next(purpose: Purpose, ...faults: Fault[]): void {
    this.#planned.set(purpose, [...(this.#planned.get(purpose) ?? []), ...faults]);
  }

  /** How requests are treated from now on, where nothing else was said. */
  plan(plan: Plan): void {
    this.#plan = plan;
  }

  /** What was created under that description or external id. */
  created(name: string): Entry[] {
    return this.ledger.entries.filter(
      ({ description, externalId }) => description === name || externalId === name,
    );
  }

  /** The requests for that. */
  asked(purpose: Purpose): Seen[] {
    return this.seen.filter((request) => request.purpose === purpose);
  }

  #newServer(): Server {
    return createServer({ allowHalfOpen: false }, (socket) => {
      this.connections += 1;
      if (this.resetConnections > 0) {
        this.resetConnections -= 1;
        socket.on('error', () => undefined);
        socket.resetAndDestroy();
        return;
      }
      if (this.deafConnections > 0) {
        this.deafConnections -= 1;
        this.#deaf.add(socket.pause().on('error', () => undefined));
        return;
      }
      const date = (): string => new Date(this.now()).toUTCString();
      const connection = new Connection(socket, date, (request, from) => void this.#take(request, from));
      if (this.idleMs !== undefined) socket.setTimeout(this.idleMs, () => connection.end());
      this.#open.add(connection);
      socket.once('close', () => this.#open.delete(connection));
    });
  }

  async #take(request: Arrived, connection: Connection): Promise<void> {
    const purpose = purposeOf(request);
    this.seen.push({ ...request, purpose });
    const fault = this.#planned.get(purpose)?.shift() ?? this.#plan(purpose, request) ?? { acts: true };
    await fault.first;
    const answer = this.#isTimely(request)
      ? this.#act(purpose, request, fault.acts)
      : { status: 401, json: {} };
    if (fault.reply) fault.reply(connection, answer);
    else connection.send(answer);
  }

  #isTimely({ headers }: Arrived): boolean {
    return Math.abs(Number(headers['x-timestamp']) * 1000 - this.now()) <= MAX_AGE_MS;
  }

  /** Does it, now or later or not at all, and makes the answer. */
  #act(purpose: Purpose, request: Arrived, acts: boolean | number): Answer {
    const { json, query } = request;
    const kind: Kind = purpose.endsWith('payout') ? 'payout' : 'payment';
    if (purpose.startsWith('look-up')) {
      const entry = this.ledger.find(kind, query, this.now());
      return entry ? { status: 200, json: resource(entry, true) } : { status: 404, json: {} };
    }
    const act = (ledger: Ledger): Entry | undefined =>
      purpose === 'confirm' ? ledger.confirm(json) : ledger.create(kind, json, this.now());
    if (typeof acts === 'number') setTimeout(() => act(this.ledger), acts);
    const done = acts === true ? act(this.ledger) : this.#imagined(purpose, kind, json);
    if (!done) return { status: 400, json: { message: 'This payment does not wait for a confirmation.' } };
    return { status: purpose === 'confirm' ? 200 : 201, json: resource(done, false) };
  }

  /** What would have been done. */
  #imagined(purpose: Purpose, kind: Kind, json: Record<string, unknown>): Entry | undefined {
    if (purpose === 'confirm') return this.ledger.byId('payment', String(json['id']));
    return new Ledger().create(kind, json, this.now());
  }
}

function purposeOf({ method, path }: Arrived): Purpose {
  const kind = path.includes('/payout/') ? 'payout' : 'payment';
  if (method === 'GET') return `look-up-${kind}`;
  return path.endsWith('/confirm/') ? 'confirm' : `create-${kind}`;
}
