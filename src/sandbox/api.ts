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
  sandboxService: SandboxService;
  faultInjector: FaultInjector;
  clock: Clock;
  /** Clock that tells how old a request's `X-Timestamp` is. Unlike `clock`, it is not advanced by the control plane. */
  realClock: Clock;
}

const PAYMENT_ENDPOINT_PATH = '/api/v1/payment/';
const CONFIRM_ENDPOINT_PATH = '/api/v1/payment/confirm/';
const PAYOUT_ENDPOINT_PATH = '/api/v1/payout/';

/** Allowed HTTP methods by path: the value of the header `allow` in 405 responses. */
export const ALLOWED_METHODS_BY_URL_PATH: ReadonlyMap<string, string> = new Map([
  [PAYMENT_ENDPOINT_PATH, 'GET, POST'],
  [CONFIRM_ENDPOINT_PATH, 'POST'],
  [PAYOUT_ENDPOINT_PATH, 'GET, POST'],
]);

/** Adds the endpoints of the payment service (spec section 4). */
export function addApi(
  app: FastifyInstance,
  { credentials, sandboxService, faultInjector, clock, realClock }: ApiDependencies,
): void {
  /**
   * Adds an authenticated endpoint. For a lookup, `handleFields` gets the fields of the query string. For a create or a
   * confirm, it gets the fields of the JSON body.
   */
  const addEndpoint = (
    urlPath: string,
    kind: TransactionKind,
    operation: ServiceOperation,
    handleFields: (fields: WireObject) => SandboxResponse,
  ): void => {
    const isLookup = operation === 'lookup';
    const routeHandler = async (request: FastifyRequest, reply: FastifyReply) => {
      const signedBytes = isLookup ? Buffer.from(rawQueryOf(request)) : rawBodyOf(request);
      authenticate({ headers: request.headers, signedBytes }, credentials, realClock.now());
      const injectedFault = faultInjector.countAndTakeFault(kind, operation);
      const parseFields = () => (isLookup ? parseQuery(rawQueryOf(request)) : parseJsonBody(request));
      await respondWithFaults(reply, { injectedFault, clock }, () => handleFields(parseFields()));
      return reply;
    };
    app.route({ method: isLookup ? 'GET' : 'POST', url: urlPath, handler: routeHandler });
  };
  addEndpoint(PAYMENT_ENDPOINT_PATH, 'payment', 'lookup', (fields) =>
    sandboxService.lookUp('payment', fields),
  );
  addEndpoint(PAYMENT_ENDPOINT_PATH, 'payment', 'create', (fields) => sandboxService.createPayment(fields));
  addEndpoint(CONFIRM_ENDPOINT_PATH, 'payment', 'confirm', (fields) => sandboxService.confirm(fields));
  addEndpoint(PAYOUT_ENDPOINT_PATH, 'payout', 'lookup', (fields) => sandboxService.lookUp('payout', fields));
  addEndpoint(PAYOUT_ENDPOINT_PATH, 'payout', 'create', (fields) => sandboxService.createPayout(fields));
}

const rawQueryOf = ({ url }: FastifyRequest): string => /\?(.*)/s.exec(url)?.[1] ?? '';

/** Returns the bytes of the request body; an empty buffer if there is no body. */
export const rawBodyOf = ({ body }: FastifyRequest): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.alloc(0);

export const hasJsonContentType = ({ headers }: FastifyRequest): boolean =>
  /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');

function parseJsonBody(request: FastifyRequest): WireObject {
  if (!hasJsonContentType(request)) throw invalidRequestError({ 'Content-Type': 'must be application/json' });
  return parseJsonObject(rawBodyOf(request));
}
