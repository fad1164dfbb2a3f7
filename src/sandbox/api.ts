import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WireObject } from '../schema/methods/sandbox-behaviour';
import type { Clock } from './clock';
import { exchange, type Answer } from './exchange';
import type { Operation, FaultInjector } from './fault-injector';
import { readLookupQuery } from './lookup-query';
import { invalid } from './refusal';
import type { Service } from './service';
import { authenticate, type Keys } from './signature';
import { parseStrictJson } from './strict-json';
import type { Kind } from './transaction';

export interface ApiParts {
  keys: Keys;
  service: Service;
  traffic: FaultInjector;
  clock: Clock;
  /** Timestamps are judged by the real time, wherever the control plane has pushed the sandbox's own. */
  realTime: Clock;
}

interface Endpoint {
  method: 'GET' | 'POST';
  resource: Kind;
  operation: Operation;
  work(request: FastifyRequest): Answer;
}

const PAYMENT = '/api/v1/payment/';
const CONFIRM = '/api/v1/payment/confirm/';
const PAYOUT = '/api/v1/payout/';

/** What each address takes, for those who come with another method. */
export const API_METHODS: ReadonlyMap<string, string> = new Map([
  [PAYMENT, 'GET, POST'],
  [CONFIRM, 'POST'],
  [PAYOUT, 'GET, POST'],
]);

export function addApi(app: FastifyInstance, parts: ApiParts): void {
  const { service } = parts;
  const add = (url: string, endpoint: Endpoint) => {
    const { method } = endpoint;
    app.route({ method, url, handler: (request, reply) => answer({ request, reply, endpoint }, parts) });
  };
  const lookUp = (resource: Kind): Endpoint => ({
    method: 'GET',
    resource,
    operation: 'lookup',
    work: (request) => service.lookUp(resource, readLookupQuery(rawQuery(request))),
  });
  const post = (resource: Kind, operation: Operation, work: (body: WireObject) => Answer): Endpoint => ({
    method: 'POST',
    resource,
    operation,
    work: (request) => work(jsonBody(request)),
  });
  add(PAYMENT, lookUp('payment'));
  add(
    PAYMENT,
    post('payment', 'create', (body) => service.createPayment(body)),
  );
  add(
    CONFIRM,
    post('payment', 'confirm', (body) => service.confirm(body)),
  );
  add(PAYOUT, lookUp('payout'));
  add(
    PAYOUT,
    post('payout', 'create', (body) => service.createPayout(body)),
  );
}

interface Call {
  request: FastifyRequest;
  reply: FastifyReply;
  endpoint: Endpoint;
}

async function answer({ request, reply, endpoint }: Call, parts: ApiParts): Promise<FastifyReply> {
  const data = endpoint.method === 'GET' ? Buffer.from(rawQuery(request)) : rawBody(request);
  authenticate({ headers: request.headers, data }, parts.keys, parts.realTime.now());
  const injected = parts.traffic.next(endpoint.resource, endpoint.operation);
  await exchange(reply, { injected, clock: parts.clock }, () => endpoint.work(request));
  return reply;
}

function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

export function rawBody(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

export function isJson(request: FastifyRequest): boolean {
  return /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '');
}

export function jsonBody(request: FastifyRequest): WireObject {
  if (!isJson(request)) throw invalid({ 'Content-Type': 'must be application/json' });
  return parseStrictJson(rawBody(request));
}
