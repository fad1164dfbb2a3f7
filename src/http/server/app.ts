import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Logger } from 'pino';
import type { Connections } from './connections';
import type { EventLoopLag } from './event-loop-lag';
import { INTERNAL_ERROR } from '../graphql/graphql-errors';
import { readJsonBodies } from './json-body';
import type { PublicCode } from '../graphql/error-codes';
import { RequestError, overloaded } from '../graphql/http-error';
import { SAFE_HEADERS } from './security-headers';
import { errorLocation } from '../graphql/error-location';
import { requestContext } from './request-context';

/** More than any honest operation needs. */
const BODY_LIMIT_BYTES = 100 * 1024;

interface AppOptions {
  log: Logger;
  /** Proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[];
  /** How long a client may take to send a request, in milliseconds. */
  clientTimeoutMs: number;
  connections: Connections;
}

/** Whether a client asks for a WebSocket where there is one. */
const wantsWebSocket = ({ url = '', headers }: IncomingMessage): boolean =>
  /^websocket$/i.test(headers.upgrade ?? '') && /^\/graphql(\?|$)/.test(url);

/** How long a connection may wait for its next request, in milliseconds. Longer than proxies keep theirs. */
const KEEP_ALIVE_MS = 72_000;

type ServerOptions = Pick<AppOptions, 'clientTimeoutMs' | 'connections'>;

/** The HTTP server below Fastify: with limits of time, and of connections. */
function createHttpServer(handler: RequestListener, { clientTimeoutMs, connections }: ServerOptions): Server {
  const server: Server = createServer(
    {
      requestTimeout: clientTimeoutMs,
      // Also for connections on which nothing is sent at all.
      headersTimeout: clientTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, clientTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Some clients offer to speak HTTP/2 in every request: they are answered as if they had not.
      shouldUpgradeCallback: (request) => {
        const isUpgrade = server.listenerCount('upgrade') > 0 && wantsWebSocket(request);
        if (isUpgrade) connections.upgraded(request.socket);
        return isUpgrade;
      },
    },
    (request, response) => connections.serve(request, response, handler),
  );
  connections.guard(server);
  return server;
}

/** A bare web server: request ids, safe headers, limits of time and size, and every fault of HTTP as a GraphQL error. */
export function createApp({
  log,
  trustedProxies,
  clientTimeoutMs,
  connections,
}: AppOptions): FastifyInstance {
  const app: FastifyInstance = fastify({
    // Fastify's own log lines hold URLs, and with them the variables of GET requests.
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: () => randomUUID(),
    serverFactory: (handler) => createHttpServer(handler, { clientTimeoutMs, connections }),
    // Addresses that fit no route, such as one that is too long: Fastify would quote them.
    frameworkErrors: (error, request, reply) => {
      const status = error.statusCode ?? 400;
      void prepareReply(request, reply)
        .code(status)
        .send(httpFault(OTHER_FAULT, request.id, status));
    },
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // Fastify's own response is no GraphQL error: see graceful-shutdown.ts.
    return503OnClosing: false,
    // An address that cannot be decoded is one where nothing is.
    rewriteUrl: ({ url = '/' }) => (isDecodable(url) ? url : '/'),
  });
  app.addHook('onRequest', (request, reply, done) => {
    prepareReply(request, reply);
    requestContext.run({ requestId: request.id }, done);
  });
  readJsonBodies(app);
  app.setErrorHandler((error: FastifyError | RequestError, request, reply) => {
    void reply.type(answerType(request.headers.accept));
    if (error instanceof RequestError)
      return reply.code(error.facts.status).headers(error.headers).send(error.body(request.id));
    const status = error.statusCode ?? 500;
    if (status >= 500)
      log.error({ requestId: request.id, code: error.code, ...errorLocation(error) }, 'request failed');
    return reply.code(status).send(httpFault(HTTP_FAULTS[status] ?? OTHER_FAULT, request.id, status));
  });
  app.setNotFoundHandler((request, reply) => reply.code(404).send(httpFault(NOTHING_HERE, request.id)));
  return app;
}

const GRAPHQL_RESPONSE = 'application/graphql-response+json';

/** Clients that know the type of GraphQL over HTTP read the errors of an answer whose status is not 200. */
const answerType = (accept = ''): string =>
  `${accept.includes(GRAPHQL_RESPONSE) ? GRAPHQL_RESPONSE : 'application/json'}; charset=utf-8`;

function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url.replace(/[?#].*$/s, ''));
    return true;
  } catch {
    return false;
  }
}

/** What throws a Refusal while the process is too late with its work to take on more; `refused` hears of it. */
export const loadCheck =
  (lag: EventLoopLag, refused: () => void): (() => void) =>
  () => {
    if (!lag.isTooHigh()) return;
    refused();
    throw overloaded();
  };

const NOTHING_HERE = 'There is nothing at this address; the gateway is at /graphql.';

/** What every answer has: nothing here is the same for everybody or for long. */
const prepareReply = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.headers(SAFE_HEADERS).header('x-request-id', request.id).header('cache-control', 'no-store');

const OTHER_FAULT = 'The request cannot be served.';

/** Fastify's own messages quote the body: these do not. */
const HTTP_FAULTS: Readonly<Record<number, string>> = {
  400: 'The body is not valid JSON.',
  413: `The body is too large: at most ${BODY_LIMIT_BYTES} bytes.`,
  415: 'The body must be JSON: content-type application/json.',
  500: INTERNAL_ERROR,
};

const codeOfStatus = (status: number): PublicCode =>
  status >= 500 ? (status === 503 ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_SERVER_ERROR') : 'BAD_REQUEST';

const httpFault = (message: string, requestId: string, status = 400) => ({
  errors: [
    {
      message,
      extensions: {
        code: codeOfStatus(status),
        retryable: status === 503,
        requestId,
      },
    },
  ],
});
