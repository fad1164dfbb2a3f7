import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import { respondWithFaults, type SandboxResponse } from './exchange';
import type { FaultInjector, Operation } from './fault-injector';
import { invalidRequest } from './http-error';
import { readLookupQuery } from './lookup-query';
import type { PaymentService } from './service';
import { authenticate, type Keys } from './signature';
import { parseStrictJson } from './strict-json';
import type { TransactionKind } from './transaction';

interface ApiParts {
  keys: Keys;
  service: PaymentService;
  faults: FaultInjector;
  clock: Clock;
  /** Clock for checking the age of request timestamps. Unlike `clock`, it is not advanced by the control plane. */
  realTime: Clock;
}

interface Endpoint {
  url: string;
  resource: TransactionKind;
  operation: Operation;
  handle(request: FastifyRequest): SandboxResponse;
}

const PAYMENT = '/api/v1/payment/';
const CONFIRM = '/api/v1/payment/confirm/';
const PAYOUT = '/api/v1/payout/';

/** Value of the `allow` header in 405 responses, by path. */
export const ALLOWED_METHODS: ReadonlyMap<string, string> = new Map([
  [PAYMENT, 'GET, POST'],
  [CONFIRM, 'POST'],
  [PAYOUT, 'GET, POST'],
]);

export function addApi(app: FastifyInstance, parts: ApiParts): void {
  const { service } = parts;
  const lookUp = (resource: TransactionKind) => (request: FastifyRequest) =>
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

interface EndpointCall {
  request: FastifyRequest;
  reply: FastifyReply;
  endpoint: Endpoint;
}

async function respond({ request, reply, endpoint }: EndpointCall, parts: ApiParts): Promise<FastifyReply> {
  const { resource, operation } = endpoint;
  const data = operation === 'lookup' ? Buffer.from(rawQuery(request)) : rawBody(request);
  authenticate({ headers: request.headers, data }, parts.keys, parts.realTime.now());
  const injected = parts.faults.countAndTakeFault(resource, operation);
  await respondWithFaults(reply, { injected, clock: parts.clock }, () => endpoint.handle(request));
  return reply;
}

function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const questionMark = url.indexOf('?');
  return questionMark < 0 ? '' : url.slice(questionMark + 1);
}

export const rawBody = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

export const isJson = ({ headers }: FastifyRequest): boolean =>
  /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');

function jsonBody(request: FastifyRequest): WireObject {
  if (!isJson(request)) throw invalidRequest({ 'Content-Type': 'must be application/json' });
  return parseStrictJson(rawBody(request));
}
