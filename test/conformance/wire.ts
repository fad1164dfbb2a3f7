import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';

const TIMEOUT_MS = 20_000;

export type WireObject = Record<string, unknown>;

export function isWireObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A request byte for byte: nothing is escaped, sorted or re-serialised. */
export interface WireRequest {
  method: 'GET' | 'POST';
  path: string;
  query?: string;
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
    let value: unknown;
    try {
      value = JSON.parse(this.text);
    } catch {
      assert.fail(`${this.requestLine} responded with a body that is not JSON: ${this.text.slice(0, 200)}`);
    }
    assert(isWireObject(value), `${this.requestLine} responded with JSON that is not an object`);
    return value;
  }

  /** Throws unless the response has one of these status codes. */
  having(...statuses: number[]): this {
    const expected = statuses.join(' or ');
    const heading = `${this.requestLine} responded with ${this.status}, expected ${expected}`;
    assert(statuses.includes(this.status), `${heading}: ${this.text.slice(0, 300)}`);
    return this;
  }

  /** Throws unless the response reports a client error other than 401. */
  refused(): this {
    const heading = `${this.requestLine} responded with ${this.status}, expected a refusal (4xx, not 401)`;
    const refusal = this.status >= 400 && this.status < 500 && this.status !== 401;
    assert(refusal, `${heading}: ${this.text.slice(0, 300)}`);
    return this;
  }
}

/** Sends a request by `node:http` instead of `fetch`, because a URL object would re-encode the query string. */
export async function send(baseUrl: string, request: WireRequest): Promise<ServiceResponse> {
  const base = new URL(baseUrl);
  const body = request.body === undefined ? undefined : Buffer.from(request.body, 'utf8');
  const path = base.pathname + request.path + (request.query === undefined ? '' : `?${request.query}`);
  const outgoing = (base.protocol === 'https:' ? tlsRequest : plainRequest)({
    host: base.hostname.replace(/^\[|\]$/g, ''),
    port: base.port,
    method: request.method,
    path,
    headers: body ? { ...request.headers, 'Content-Length': String(body.length) } : request.headers,
    agent: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const text = (await incoming.setEncoding('utf8').toArray()).join('');
  const requestLine = `${request.method} ${request.path}`;
  return new ServiceResponse(
    requestLine,
    incoming.statusCode ?? 0,
    incoming.headers['content-type'] ?? '',
    text,
  );
}
