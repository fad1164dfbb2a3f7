import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ServiceConnection, readRequest, type ReceivedHttpRequest, type ServiceResponse } from './connection';
import { Ledger, resource, type Entry, type Kind } from './ledger';

export type Endpoint = 'create-payment' | 'create-payout' | 'confirm' | 'look-up-payment' | 'look-up-payout';

export interface ReceivedRequest extends ReceivedHttpRequest {
  endpoint: Endpoint;
  /** Time of arrival by the service's clock, in ms since 1970. */
  at: number;
  /** The known secret key that signed the request; undefined if none did. */
  secretKey: string | undefined;
  /** Whether the service refused the request for its signature or timestamp. */
  isRefused?: boolean;
}

/** Sends something else than `response`, the response of a healthy service. */
export type FaultReply = (connection: ServiceConnection, response: ServiceResponse) => void;

/** A scripted response, or a fault reply. `json` defaults to `{}`. */
export type Reply =
  { status: number; json?: unknown; body?: string | Buffer; headers?: Record<string, string> } | FaultReply;

/** Returns the reply to a request; undefined for the ledger's response. */
export type Script = (request: ReceivedRequest) => Reply | undefined | Promise<Reply | undefined>;

export interface Fault {
  /** Whether the request is carried out (at once), or after how many ms. The response is the same in each case. */
  acts: boolean | number;
  /** A promise that is awaited before the request is processed. */
  first?: Promise<unknown>;
  reply?: FaultReply;
}

export type FaultPlan = (endpoint: Endpoint, request: ReceivedRequest) => Fault | undefined;

export type Json = Record<string, unknown>;

/** Maximum age of a timestamp (specification section 5). */
const MAX_AGE_MS = 5 * 60 * 1000;

/**
 * The REST payment service of the tests, over a real socket. It records every request, keeps a ledger of transactions,
 * and can be scripted, held back, and made to fail in any way a service or a network can.
 */
export class FakePaymentService {
  readonly ledger = new Ledger();
  readonly requests: ReceivedRequest[] = [];
  connections = 0;
  /** Offset of the service's clock, in ms. */
  clockOffsetMs = 0;
  /** Offset of the Date header from the service's clock, in ms. */
  dateOffsetMs = 0;
  /** Accepted secret keys by API key; undefined if signatures are not checked. */
  secretKeys: Map<string, readonly string[]> | undefined;
  /** Secret keys that `ReceivedRequest.secretKey` can name. */
  knownSecretKeys: readonly string[] = [];
  readonly #now: () => number;
  readonly #open = new Map<Socket, ServiceConnection>();
  readonly #faults = new Map<Endpoint, Fault[]>();
  readonly #transactions = new Map<string, Json>();
  #server: Server;
  #port = 0;
  #plan: FaultPlan = () => undefined;
  #script: Script = () => undefined;
  #held: { take(request: ReceivedRequest): void; released: Promise<unknown> } | undefined;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#server = this.#newServer();
  }

  static async start(now?: () => number): Promise<FakePaymentService> {
    const service = new FakePaymentService(now);
    await service.listen();
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  now(): number {
    return this.#now() + this.clockOffsetMs;
  }

  /** Starts listening; after `close`, on the same port as before. */
  async listen(): Promise<void> {
    this.#server = this.#newServer();
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops listening and destroys all connections. */
  async close(): Promise<void> {
    for (const socket of this.#open.keys()) socket.destroy();
    if (this.#server.listening) await once(this.#server.close(), 'close');
  }

  respond(script: Script): void {
    this.#script = script;
  }

  /** Adds faults for the next requests to an endpoint, in order; after them the plan and the script apply. */
  next(endpoint: Endpoint, ...faults: Fault[]): void {
    this.#faults.set(endpoint, [...(this.#faults.get(endpoint) ?? []), ...faults]);
  }

  /** Sets the function that chooses the faults of requests for which no fault was added with `next`. */
  plan(plan: FaultPlan): void {
    this.#plan = plan;
  }

  /** Computes the response to the next request on arrival, but holds it back until `release` is called. */
  hold(): { arrived: Promise<ReceivedRequest>; release(): void } {
    const arrived = Promise.withResolvers<ReceivedRequest>();
    const released = Promise.withResolvers<undefined>();
    this.#held = { take: arrived.resolve, released: released.promise };
    return { arrived: arrived.promise, release: () => released.resolve(undefined) };
  }

  /** Adds a transaction that lookups find by its id and, if `order` is given, by that external id. Returns its id. */
  add(fields: Json): string {
    const id = String(fields['transaction_id'] ?? randomUUID());
    this.#transactions.set(id, { transaction_id: id, ...fields });
    return id;
  }

  update(transactionId: string, fields: Json): void {
    this.#transactions.set(transactionId, { ...this.#transactions.get(transactionId), ...fields });
  }

  /** Returns the fields of an added transaction; empty if there is none. */
  fieldsOf(transactionId: string): Json {
    return this.#transactions.get(transactionId) ?? {};
  }

  /** Returns the ledger entries with this description or external id. */
  created(name: string): Entry[] {
    return this.ledger.entries.filter(
      ({ description, externalId }) => description === name || externalId === name,
    );
  }

  requestsTo(endpoint: Endpoint): ReceivedRequest[] {
    return this.requests.filter((request) => request.endpoint === endpoint);
  }

  lookupsOf(transactionId: string): ReceivedRequest[] {
    return this.requests.filter(
      ({ method, parameters }) => method === 'GET' && parameters.get('transaction_id') === transactionId,
    );
  }

  takeRequests(): ReceivedRequest[] {
    return this.requests.splice(0);
  }

  #newServer(): Server {
    const date = (): string => new Date(this.now() + this.dateOffsetMs).toUTCString();
    // Responses are written to the sockets: to Node.js, all requests are in flight.
    const server = createServer({ headersTimeout: 0, requestTimeout: 0 }, async (incoming) => {
      const connection = this.#open.get(incoming.socket);
      const received = await readRequest(incoming).catch(() => undefined);
      if (received && connection && !connection.isEnded) await this.#receive(received, connection);
    });
    return server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#open.set(socket, new ServiceConnection(socket, date));
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  async #receive(received: ReceivedHttpRequest, connection: ServiceConnection): Promise<void> {
    const endpoint = endpointOf(received);
    const secretKey = this.#secretKeyOf(received);
    const request: ReceivedRequest = { ...received, endpoint, at: this.now(), secretKey };
    this.requests.push(request);
    const held = this.#held;
    this.#held = undefined;
    const fault = this.#faults.get(endpoint)?.shift() ?? this.#plan(endpoint, request);
    await fault?.first;
    if (!this.#isSignatureAccepted(request)) {
      request.isRefused = true;
      return connection.send({ status: 401, json: {} });
    }
    const scripted = fault ? undefined : await this.#script(request);
    const response: Reply = scripted ?? this.#act(request, fault?.acts ?? true);
    held?.take(request);
    await held?.released;
    if (fault?.reply && typeof response !== 'function') fault.reply(connection, withJson(response));
    else if (typeof response === 'function') response(connection, { status: 200, json: {} });
    else connection.send(withJson(response), response.body);
  }

  #secretKeyOf({ method, query, body, headers }: ReceivedHttpRequest): string | undefined {
    return this.knownSecretKeys.find(
      (secretKey) =>
        createHmac('sha256', secretKey)
          .update(String(headers['x-timestamp']) + (method === 'GET' ? query : body), 'utf8')
          .digest('hex') === headers['x-signature'],
    );
  }

  #isSignatureAccepted({ headers, secretKey }: ReceivedRequest): boolean {
    if (!this.secretKeys) return true;
    const accepted = this.secretKeys.get(headers['x-api-key'] ?? '');
    return secretKey !== undefined && accepted?.includes(secretKey) === true && this.#isTimely(headers);
  }

  #isTimely(headers: Record<string, string>): boolean {
    return Math.abs(Number(headers['x-timestamp']) * 1000 - this.now()) <= MAX_AGE_MS;
  }

  /** Carries a request out now, later or never. Returns the response of a healthy service. */
  #act(
    { endpoint, json, parameters, headers, at }: ReceivedRequest,
    acts: boolean | number,
  ): ServiceResponse {
    if (!this.#isTimely(headers)) return { status: 401, json: {} };
    const kind: Kind = endpoint.endsWith('payout') ? 'payout' : 'payment';
    if (endpoint.startsWith('look-up')) return this.#lookUp(kind, parameters);
    const act = (ledger: Ledger): Entry | undefined =>
      endpoint === 'confirm'
        ? ledger.confirm(json, this.now(), at)
        : ledger.create(kind, json, this.now(), at);
    if (typeof acts === 'number') setTimeout(() => act(this.ledger), acts);
    const entry = acts === true ? act(this.ledger) : this.#imagine(endpoint, kind, json);
    if (!entry) return { status: 400, json: { message: 'This payment does not wait for a confirmation.' } };
    return { status: endpoint === 'confirm' ? 200 : 201, json: resource(entry, false) };
  }

  #lookUp(kind: Kind, parameters: URLSearchParams): ServiceResponse {
    const entry = this.ledger.find(kind, parameters, this.now());
    if (entry) return { status: 200, json: resource(entry, true) };
    const byId = this.#transactions.get(parameters.get('transaction_id') ?? '');
    const externalId = parameters.get('external_id');
    const named = ({ order }: Json): boolean => order !== undefined && order === externalId;
    const added = byId ?? [...this.#transactions.values()].find(named);
    if (!added) return { status: 404, json: {} };
    const { order: _order, ...json } = added;
    return { status: 200, json };
  }

  /** Returns the entry that the request would have created or changed. */
  #imagine(endpoint: Endpoint, kind: Kind, json: Json): Entry | undefined {
    if (endpoint === 'confirm') return this.ledger.byId('payment', String(json['id']));
    return new Ledger().create(kind, json, this.now());
  }
}

function endpointOf({ method, path }: ReceivedHttpRequest): Endpoint {
  const kind = path.includes('/payout/') ? 'payout' : 'payment';
  if (method === 'GET') return `look-up-${kind}`;
  return path.endsWith('/confirm/') ? 'confirm' : `create-${kind}`;
}

const withJson = ({ status, json = {}, headers }: Exclude<Reply, FaultReply>): ServiceResponse => ({
  status,
  json,
  headers,
});
