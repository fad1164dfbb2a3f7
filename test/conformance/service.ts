import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

const TIMEOUT_MS = 20_000;
const OUTCOME_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 1_000;

export type WireObject = Record<string, unknown>;

export function isWireObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A request byte for byte: nothing is escaped, sorted or re-serialised. */
export interface WireRequest {
  method: 'GET' | 'POST';
  /** Relative to the base address, with the query string. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export class ServiceResponse {
  constructor(
    readonly requestLine: string,
    readonly status: number,
    readonly contentType: string,
    readonly text: string,
  ) {}

  body(): WireObject {
    const value: unknown = JSON.parse(this.text);
    assert(isWireObject(value), `${this.requestLine} responded with JSON that is not an object`);
    return value;
  }

  /** Throws unless the response has one of these status codes. */
  having(...statuses: number[]): this {
    return this.#expect(statuses.includes(this.status), statuses.join(' or '));
  }

  /** Throws unless the response reports a client error other than 401. */
  refused(): this {
    const isRefusal = this.status >= 400 && this.status < 500 && this.status !== 401;
    return this.#expect(isRefusal, 'a refusal (4xx, not 401)');
  }

  #expect(condition: boolean, expected: string): this {
    const heading = `${this.requestLine} responded with ${this.status}, expected ${expected}`;
    assert(condition, `${heading}: ${this.text.slice(0, 300)}`);
    return this;
  }
}

/** Address and credentials of a service. */
export interface ServiceAccess {
  /** Ends with a slash. */
  baseUrl: string;
  apiKey: string;
  secretKey: string;
  /** A merchant channel (UUID) on which every method is configured. */
  channel: string;
  /** The service's clock in ms. Default: the real time. */
  now?(): number;
  /** Advances the service's clock. Undefined if only real time passes. */
  passTime?(ms: number): Promise<void>;
}

/** Tests one requirement; rejects if the service does not meet it. */
export type Run = (service: Service) => Promise<void>;

/** Requirements by id; `permanent-ids.txt` describes each. */
export type Obligations = Record<string, Run>;

/** Returns one requirement for each value, under the id of the value. */
export const each = <V extends string>(
  ids: Partial<Record<V, string>>,
  run: (value: V) => Run,
): Obligations =>
  Object.fromEntries((Object.entries(ids) as [V, string][]).map(([value, id]) => [id, run(value)]));

export type Resource = 'payment' | 'payout';
export const RESOURCES = ['payment', 'payout'] as const;

/** Endpoints of spec section 4. */
export const ENDPOINTS = {
  lookUpPayment: { method: 'GET', path: 'api/v1/payment/' },
  createPayment: { method: 'POST', path: 'api/v1/payment/' },
  confirmPayment: { method: 'POST', path: 'api/v1/payment/confirm/' },
  lookUpPayout: { method: 'GET', path: 'api/v1/payout/' },
  createPayout: { method: 'POST', path: 'api/v1/payout/' },
} as const;

export type Endpoint = Pick<WireRequest, 'method' | 'path'>;

export interface Signing {
  secretKey: string;
  /** Unix time in seconds, as in X-Timestamp. */
  timestamp: string;
  /** The query string without `?`, or the raw body. */
  data: string;
}

/** X-Signature (spec section 5): HMAC of timestamp and data, without a separator. */
export function signature({ secretKey, timestamp, data }: Signing): string {
  return createHmac('sha256', secretKey).update(timestamp).update(data).digest('hex');
}

/** A client of the specified service, independent of any implementation. */
export class Service {
  constructor(readonly access: ServiceAccess) {}

  get channel(): string {
    return this.access.channel;
  }

  now(): number {
    return this.access.now?.() ?? Date.now();
  }

  timestamp(offsetSeconds = 0): string {
    return String(Math.floor(this.now() / 1000) + offsetSeconds);
  }

  /** Signs a request with `data`, the query string or raw body (spec section 5). `signing` replaces signed parts. */
  signed(endpoint: Endpoint, data: string, signing: Partial<Signing> = {}): WireRequest {
    const { apiKey, secretKey } = this.access;
    const timestamp = signing.timestamp ?? this.timestamp();
    const headers = {
      'X-API-Key': apiKey,
      'X-Timestamp': timestamp,
      'X-Signature': signature({ secretKey, data, ...signing, timestamp }),
    };
    const { method, path } = endpoint;
    if (method === 'GET') return { method, path: `${path}?${data}`, headers };
    return { method, path, body: data, headers: { ...headers, 'Content-Type': 'application/json' } };
  }

  /** Sends a request by `node:http` instead of `fetch`, because a URL object would re-encode the query string. */
  async send({ method, path, body = '', headers }: WireRequest): Promise<ServiceResponse> {
    const { protocol, hostname, port, pathname } = new URL(this.access.baseUrl);
    const length = method === 'POST' && { 'Content-Length': String(Buffer.byteLength(body)) };
    const outgoing = (protocol === 'https:' ? tlsRequest : plainRequest)({
      ...{ host: hostname.replace(/^\[|\]$/g, ''), port, method, path: pathname + path },
      headers: { ...headers, ...length },
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const { statusCode = 0, headers: received } = incoming;
    const type = received['content-type'] ?? '';
    return new ServiceResponse(`${method} ${path}`, statusCode, type, await text(incoming));
  }

  call(endpoint: Endpoint, data: string, signing?: Partial<Signing>): Promise<ServiceResponse> {
    return this.send(this.signed(endpoint, data, signing));
  }

  create(resource: Resource, body: WireObject): Promise<ServiceResponse> {
    const endpoint = resource === 'payment' ? ENDPOINTS.createPayment : ENDPOINTS.createPayout;
    return this.call(endpoint, JSON.stringify(body));
  }

  confirm(body: WireObject): Promise<ServiceResponse> {
    return this.call(ENDPOINTS.confirmPayment, JSON.stringify(body));
  }

  query(resource: Resource, query: string, signing?: Partial<Signing>): Promise<ServiceResponse> {
    const endpoint = resource === 'payment' ? ENDPOINTS.lookUpPayment : ENDPOINTS.lookUpPayout;
    return this.call(endpoint, query, signing);
  }

  lookUp(resource: Resource, parameters: Record<string, string>): Promise<ServiceResponse> {
    return this.query(resource, queryString({ channel: this.channel, ...parameters }));
  }

  async found(resource: Resource, transaction_id: string): Promise<WireObject> {
    return (await this.lookUp(resource, { transaction_id })).having(200).body();
  }

  async reaching(resource: Resource, id: string, status: string): Promise<WireObject> {
    const deadline = this.now() + OUTCOME_TIMEOUT_MS;
    for (;;) {
      const found = await this.found(resource, id);
      if (found.status === status) return found;
      assert(this.now() < deadline, `${resource} is still ${String(found.status)}, expected ${status}`);
      await (this.access.passTime ?? pause)(POLL_INTERVAL_MS);
    }
  }
}

export function queryString(parameters: Record<string, string>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}
