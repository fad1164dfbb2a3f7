import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import { exchange, type SandboxResponse } from './exchange';
import type { FaultInjector, Operation } from './fault-injector';
import { invalid } from './http-error';
import { readLookupQuery } from './lookup-query';
import type { PaymentService } from './service';
import { authenticate, type Keys } from './signature';
import { parseStrictJson } from './strict-json';
import type { Kind } from './transaction';

interface ApiParts {
  keys: Keys;
  service: PaymentService;
  faults: FaultInjector;
  clock: Clock;
  /** For the age of timestamps, which does not depend on the sandbox's own clock. */
  realTime: Clock;
}

interface Endpoint {
  url: string;
  resource: Kind;
  operation: Operation;
  handle(request: FastifyRequest): SandboxResponse;
}

const PAYMENT = '/api/v1/payment/';
const CONFIRM = '/api/v1/payment/confirm/';
const PAYOUT = '/api/v1/payout/';

/** The header `allow` of a 405 response, by path. */
export const API_METHODS: ReadonlyMap<string, string> = new Map([
  [PAYMENT, 'GET, POST'],
  [CONFIRM, 'POST'],
  [PAYOUT, 'GET, POST'],
]);

export function addApi(app: FastifyInstance, parts: ApiParts): void {
  const { service } = parts;
  const lookUp = (resource: Kind) => (request: FastifyRequest) =>
    service.lookUp(resource, readLookupQuery(rawQuery(request)));
  const endpoints: Endpoint[] = [
    { url: PAYMENT, resource: 'payment', operation: 'lookup', handle: lookUp('payment') },
    { url: PAYOUT, resource: 'payout', operation: 'lookup', handle: lookUp('payout') },
    {
      url: PAYMENT,
      resource: 'payment',
      operation: 'create',
      handle: (request) => service.createPayment(jsonBody(request)),
    },
    {
      url: CONFIRM,
      resource: 'payment',
      operation: 'confirm',
      handle: (request) => service.confirm(jsonBody(request)),
    },
    {
      url: PAYOUT,
      resource: 'payout',
      operation: 'create',
      handle: (request) => service.createPayout(jsonBody(request)),
    },
  ];
  for (const endpoint of endpoints) {
    const method = endpoint.operation === 'lookup' ? 'GET' : 'POST';
    const { url } = endpoint;
    app.route({ method, url, handler: (request, reply) => respond({ request, reply, endpoint }, parts) });
  }
}

interface Call {
  request: FastifyRequest;
  reply: FastifyReply;
  endpoint: Endpoint;
}

async function respond({ request, reply, endpoint }: Call, parts: ApiParts): Promise<FastifyReply> {
  const { resource, operation } = endpoint;
  const data = operation === 'lookup' ? Buffer.from(rawQuery(request)) : rawBody(request);
  authenticate({ headers: request.headers, data }, parts.keys, parts.realTime.now());
  const injected = parts.faults.next(resource, operation);
  await exchange(reply, { injected, clock: parts.clock }, () => endpoint.handle(request));
  return reply;
}

function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

export const rawBody = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

export const isJson = ({ headers }: FastifyRequest): boolean =>
  /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');

function jsonBody(request: FastifyRequest): WireObject {
  if (!isJson(request)) throw invalid({ 'Content-Type': 'must be application/json' });
  return parseStrictJson(rawBody(request));
}
