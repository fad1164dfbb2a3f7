import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Logger } from 'pino';
import { decodeUtf8, hasDuplicateFields } from '../../shared/json-text';
import { noJsonSchemas } from '../../shared/no-json-schemas';
import { errorNameAndFrames, INTERNAL_ERROR_MESSAGE } from '../graphql/graphql-errors';
import { badRequestError, RequestError } from '../graphql/http-error';
import { isPercentEncodedUtf8 } from '../graphql/request-params';
import type { Connections } from './connections';
import { requestContext } from './request-context';
import { DEFAULT_HEADERS } from './security-headers';

export const MAX_REQUEST_BODY_BYTES = 100 * 1024;
/** How long an idle connection stays open, in ms. Longer than in common proxies, so that the proxy closes it first. */
const IDLE_CONNECTION_TIMEOUT_MS = 72_000;

interface AppOptions {
  log: Logger;
  /** Addresses and networks of proxies whose X-Forwarded-For header is trusted. */
  trustedProxies: readonly string[];
  /** How long a client may take to send a request, in milliseconds. */
  clientTimeoutMs: number;
  connections: Connections;
}

const wantsWebSocket = ({ url = '', headers }: IncomingMessage): boolean =>
  /^websocket$/i.test(headers.upgrade ?? '') && /^\/graphql(\?|$)/.test(url);

function createHttpServer(handler: RequestListener, { clientTimeoutMs, connections }: AppOptions): Server {
  const server: Server = createServer(
    {
      requestTimeout: clientTimeoutMs,
      headersTimeout: clientTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, clientTimeoutMs),
      keepAliveTimeout: IDLE_CONNECTION_TIMEOUT_MS,
      // Upgrade only to a WebSocket at /graphql. Ignore other offers: some clients offer HTTP/2 in every request.
      shouldUpgradeCallback: (request) => {
        const isUpgrade = server.listenerCount('upgrade') > 0 && wantsWebSocket(request);
        if (isUpgrade) connections.markUpgraded(request.socket);
        return isUpgrade;
      },
    },
    (request, response) => connections.serveInOrder(request, response, handler),
  );
  connections.attachTo(server);
  return server;
}

/** Creates a web server without routes, with request ids, security headers, timeouts, limits and error responses. */
export function createApp(options: AppOptions): FastifyInstance {
  const { log, trustedProxies } = options;
  const app: FastifyInstance = fastify({
    // Fastify would log URLs, which contain the variables of GET requests.
    logger: false,
    schemaController: noJsonSchemas,
    bodyLimit: MAX_REQUEST_BODY_BYTES,
    genReqId: () => randomUUID(),
    serverFactory: (handler) => createHttpServer(handler, options),
    // Handle URLs that Fastify cannot route. Fastify's own response would quote the URL.
    frameworkErrors: (error, request, reply) =>
      void sendError(request, setDefaultHeaders(request, reply), errorForStatus(error.statusCode ?? 400)),
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // Let GracefulShutdown respond during a shutdown, because Fastify's response is not a GraphQL error.
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => (isPercentEncodedUtf8(url.replace(/[?#].*$/s, '')) ? url : '/'),
  });
  app.addHook('onRequest', (request, reply, done) => {
    setDefaultHeaders(request, reply);
    requestContext.run({ requestId: request.id }, done);
  });
  addJsonBodyParser(app);
  app.setErrorHandler((error: FastifyError | RequestError, request, reply) => {
    if (error instanceof RequestError) return sendError(request, reply, error);
    const status = error.statusCode ?? 500;
    if (status >= 500)
      log.error(
        { requestId: request.id, code: error.code, ...errorNameAndFrames(error) },
        'unexpected error in an HTTP request; the caller got INTERNAL_SERVER_ERROR',
      );
    return sendError(request, reply, errorForStatus(status));
  });
  app.setNotFoundHandler((request, reply) => sendError(request, reply, errorForStatus(404)));
  return app;
}

/** Whether a content type names no charset, or names UTF-8. JSON is always in UTF-8 (RFC 8259, 8.1). */
const isUtf8ContentType = (contentType = ''): boolean =>
  !/charset/i.test(contentType) ||
  !/charset/i.test(contentType.replace(/;\s*charset=("?)utf-?8\1\s*(?=;|$)/gi, ''));

/**
 * Adds the parser of request bodies. It accepts JSON in UTF-8 without duplicate names, and ignores a byte order mark
 * (RFC 8259, 8.1).
 */
function addJsonBodyParser(app: FastifyInstance): void {
  const parseJsonBody = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bodyBytes, done) => {
    if (!isUtf8ContentType(request.headers['content-type'])) return done(NOT_UTF8_ERROR);
    if (!isUtf8(bodyBytes)) return done(badRequestError('The body is not valid UTF-8.'));
    const bodyText = decodeUtf8(bodyBytes);
    void parseJsonBody(request, bodyText, (error, parsedBody: unknown) => {
      if (!error && hasDuplicateFields(bodyText, parsedBody))
        return done(badRequestError('The body has a JSON object with a duplicate name.'));
      done(error, parsedBody);
    });
  });
}

const NOT_UTF8_ERROR = new RequestError(
  415,
  'BAD_REQUEST',
  'The body must be in UTF-8: content-type application/json without another charset.',
);

const sendError = (request: FastifyRequest, reply: FastifyReply, error: RequestError): FastifyReply =>
  reply
    .code(error.status)
    .headers(error.headers)
    .type(errorContentType(request.headers.accept))
    .send(error.responseBody(request.id));

const GRAPHQL_RESPONSE_MEDIA_TYPE = 'application/graphql-response+json';

const errorContentType = (acceptHeader = ''): string =>
  `${acceptHeader.includes(GRAPHQL_RESPONSE_MEDIA_TYPE) ? GRAPHQL_RESPONSE_MEDIA_TYPE : 'application/json'}; charset=utf-8`;

const setDefaultHeaders = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.headers(DEFAULT_HEADERS).header('x-request-id', request.id).header('cache-control', 'no-store');

/** Error messages by HTTP status. They replace Fastify's messages, which may quote the body. */
const MESSAGE_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'The body is not valid JSON.',
  404: 'Not found. The GraphQL endpoint is /graphql.',
  413: `The body is too large: at most ${MAX_REQUEST_BODY_BYTES} bytes.`,
  415: 'The body must be JSON: content-type application/json.',
  500: INTERNAL_ERROR_MESSAGE,
};

const errorForStatus = (status: number): RequestError =>
  new RequestError(
    status,
    status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_REQUEST',
    MESSAGE_BY_STATUS[status] ?? `The request was rejected with HTTP status ${status}.`,
  );
