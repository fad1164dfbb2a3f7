import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import fastifyCors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AccessError, type Caller } from '../../auth/caller';
import type { OperationContext } from '../../resolvers/context';
import { nextEventLoopTurn } from '../../shared/next-turn';
import { isObject } from '../../shared/wire-object';
import type { CompiledOperationCache } from '../compiled/compiled-operation-cache';
import { hasForeignOrigin, isLoopbackHost } from '../server/origin-check';
import { LANDING_PAGE_HEADERS } from '../server/security-headers';
import type { SseHandler } from '../subscriptions/sse-handler';
import type { Admission, AdmittedRequest } from './admission';
import type { GraphqlDependencies } from './dependencies';
import {
  badRequestError,
  UNAUTHENTICATED_PAGE_REQUEST_ERROR,
  RequestError,
  toRequestError,
} from './http-error';
import { parseGetParams, encodeGetParams } from './request-params';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller; null before authentication, and for requests for the landing page. */
    caller: Caller | null;
  }
}

interface GraphqlRouteOptions {
  apollo: ApolloServer<OperationContext>;
  compiledCache: CompiledOperationCache;
  sseHandler: SseHandler;
  /** Whether browsers get a landing page at /graphql, without authentication. */
  hasLandingPage: boolean;
}

/** Adds /graphql and /graphql/stream. Requests are authenticated and admitted before they are executed. */
export async function addGraphqlEndpoints(
  app: FastifyInstance,
  dependencies: GraphqlDependencies,
  { apollo, compiledCache, sseHandler, hasLandingPage }: GraphqlRouteOptions,
): Promise<void> {
  const { contextFor, authenticator, admission, corsOrigins } = dependencies;
  await app.register(async (scope) => {
    const contextOf = ({ id, caller, ip }: FastifyRequest): OperationContext => {
      if (!caller) throw UNAUTHENTICATED_PAGE_REQUEST_ERROR;
      return contextFor({ requestId: id, caller, ip });
    };
    const apolloHandler = fastifyApolloHandler(apollo, { context: async (request) => contextOf(request) });
    if (corsOrigins.length > 0) {
      await scope.register(fastifyCors, {
        origin: [...corsOrigins],
        methods: ['GET', 'POST'],
        maxAge: 600,
        exposedHeaders: ['x-request-id', 'retry-after'],
      });
    }
    scope.decorateRequest('caller', null);
    scope.addHook('onRequest', async (request, reply) => {
      await nextEventLoopTurn();
      // Only GraphQL requests are rejected under load: other routes, such as health checks, still respond.
      dependencies.eventLoopLagGuard.throwIfOverloaded();
      checkHeadersAndUrl(request);
      const { method, headers } = request;
      if (authenticator.isDisabled && !isLoopbackHost(headers.host)) throw FORBIDDEN_HOST_ERROR;
      // Without credentials, the GET of an event stream is a simple request: browsers send no CORS preflight before it.
      if (authenticator.isDisabled && method === 'GET' && hasForeignOrigin(headers, corsOrigins))
        throw FORBIDDEN_ORIGIN_ERROR;
      if (hasLandingPage && wantsLandingPage(request)) void reply.headers(LANDING_PAGE_HEADERS);
      else dependencies.bodyQuota.acquire(request, reply, (await authenticate(dependencies, request)).id);
    });
    sseHandler.addRoute(scope);
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql',
      handler: async function (request, reply) {
        const { method, caller, headers } = request;
        const { accept } = headers;
        const admitted = caller && (await admit(admission, request, caller));
        if (method !== 'POST' || !admitted) return apolloHandler.call(this, request, reply) as unknown;
        const createContext = () => contextOf(request);
        const response = await compiledCache.tryExecute({ ...admitted, accept, createContext });
        if (response) {
          void reply.type(response.contentType);
          return response.body;
        }
        const apolloResponseBody = (await apolloHandler.call(this, request, reply)) as unknown;
        if (reply.statusCode === 200)
          compiledCache.recordContentType(accept, reply.getHeader('content-type'));
        return apolloResponseBody;
      },
    });
  });
}

const FORBIDDEN_HOST_ERROR = new RequestError(
  403,
  'FORBIDDEN',
  'Authentication is off, so the Host header must name a loopback host, such as localhost.',
);

const FORBIDDEN_ORIGIN_ERROR = new RequestError(
  403,
  'FORBIDDEN',
  'Authentication is off, so the Origin header must name this gateway or an origin in CORS_ORIGINS.',
);

/**
 * Whether a header is repeated. Does not use headersDistinct, because its result would stay in memory as long as the
 * request.
 */
const isHeaderRepeated = (name: string, rawHeaders: readonly string[]): boolean =>
  rawHeaders.filter(
    (nameOrValue, index) =>
      index % 2 === 0 && nameOrValue.length === name.length && nameOrValue.toLowerCase() === name,
  ).length > 1;

function checkHeadersAndUrl({ raw, url, protocol, hostname }: FastifyRequest): void {
  for (const name of ['host', 'authorization'])
    if (isHeaderRepeated(name, raw.rawHeaders))
      throw badRequestError(`There is more than one ${name} header.`);
  if (!URL.canParse(url, `${protocol}://${hostname}/`))
    throw badRequestError('The URL or the Host header is invalid.');
}

/**
 * Whether a GET has an Accept header that begins with text/html, as when a browser opens the URL as a page. If the
 * landing page is on, such a request is not authenticated, because it gets that page. Apollo also reads the `q` values
 * of the header, so it may treat such a request as an operation. Apollo's CSRF check then rejects the request, or
 * contextOf() throws UNAUTHENTICATED_PAGE_REQUEST_ERROR, so nothing is executed without authentication.
 */
const wantsLandingPage = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && /^text\/html\b/.test(headers.accept ?? '');

async function authenticate(
  { authenticator, onUnauthenticated, connections }: GraphqlDependencies,
  request: FastifyRequest,
): Promise<Caller> {
  try {
    const caller = await authenticator.authenticate(request.headers.authorization);
    request.caller = caller;
    connections.setCaller(request.raw.socket, caller.id);
    return caller;
  } catch (error) {
    onUnauthenticated();
    throw error instanceof AccessError ? toRequestError(error) : error;
  }
}

/**
 * Runs the checks of Admission on a request, and replaces a persisted id with the document. Throws a RequestError if a
 * check fails. Returns null if the body is not a JSON object: Apollo then rejects the request.
 */
async function admit(
  admission: Admission,
  request: FastifyRequest,
  caller: Caller,
): Promise<AdmittedRequest | null> {
  const isGet = request.method === 'GET';
  const rawParams: unknown = isGet ? parseGetParams(request.url) : request.body;
  if (!isObject(rawParams)) return null;
  const admitted = await admission.admit(rawParams, caller);
  const { params } = admitted;
  if (params === rawParams) return admitted;
  if (isGet) request.raw.url = `/graphql?${encodeGetParams(params)}`;
  else request.body = params;
  return admitted;
}
