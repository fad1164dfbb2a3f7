import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import { respondWithFaults, type FaultInjector, type ServiceOperation, type SandboxResponse } from './faults';
import { invalidRequestError } from './http-error';
import { parseJsonObject } from './object-reader';
import { parseQuery } from './requests';
import type { SandboxService } from './service';
import { authenticate, type ApiCredentials } from './signature';
import type { TransactionKind } from './transaction';

interface ApiDependencies {
  credentials: ApiCredentials;
  service: SandboxService;
  faults: FaultInjector;
  clock: Clock;
  /** Clock that tells how old a request's `X-Timestamp` is. Unlike `clock`, it is not advanced by the control plane. */
  realClock: Clock;
}

const PAYMENT_PATH = '/api/v1/payment/';
const CONFIRM_PATH = '/api/v1/payment/confirm/';
const PAYOUT_PATH = '/api/v1/payout/';

/** Allowed HTTP methods by path: the value of the header `allow` in 405 responses. */
export const ALLOWED_HTTP_METHODS: ReadonlyMap<string, string> = new Map([
  [PAYMENT_PATH, 'GET, POST'],
  [CONFIRM_PATH, 'POST'],
  [PAYOUT_PATH, 'GET, POST'],
]);

/** Adds the endpoints of the payment service (spec section 4). */
export function addApi(
  app: FastifyInstance,
  { credentials, service, faults, clock, realClock }: ApiDependencies,
): void {
  /**
   * Adds an authenticated endpoint. For a lookup, `handle` gets the fields of the query string. For a create or a
   * confirm, it gets the fields of the JSON body.
   */
  const addEndpoint = (
    url: string,
    resource: TransactionKind,
    operation: ServiceOperation,
    handle: (fields: WireObject) => SandboxResponse,
  ): void => {
    const isLookup = operation === 'lookup';
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const signedData = isLookup ? Buffer.from(rawQueryOf(request)) : rawBody(request);
      authenticate({ headers: request.headers, signedData }, credentials, realClock.now());
      const injectedFault = faults.countAndTakeFault(resource, operation);
      const readFields = () => (isLookup ? parseQuery(rawQueryOf(request)) : parseJsonBody(request));
      await respondWithFaults(reply, { injectedFault, clock }, () => handle(readFields()));
      return reply;
    };
    app.route({ method: isLookup ? 'GET' : 'POST', url, handler });
  };
  addEndpoint(PAYMENT_PATH, 'payment', 'lookup', (query) => service.lookUp('payment', query));
  addEndpoint(PAYMENT_PATH, 'payment', 'create', (body) => service.createPayment(body));
  addEndpoint(CONFIRM_PATH, 'payment', 'confirm', (body) => service.confirm(body));
  addEndpoint(PAYOUT_PATH, 'payout', 'lookup', (query) => service.lookUp('payout', query));
  addEndpoint(PAYOUT_PATH, 'payout', 'create', (body) => service.createPayout(body));
}

const rawQueryOf = ({ url }: FastifyRequest): string => /\?(.*)/s.exec(url)?.[1] ?? '';

/** Returns the bytes of the request body; an empty buffer if there is no body. */
export const rawBody = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

export const hasJsonContentType = ({ headers }: FastifyRequest): boolean =>
  /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');

function parseJsonBody(request: FastifyRequest): WireObject {
  if (!hasJsonContentType(request)) throw invalidRequestError({ 'Content-Type': 'must be application/json' });
  return parseJsonObject(rawBody(request));
}
