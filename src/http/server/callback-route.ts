import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { nextEventLoopTurn } from '../../shared/next-turn';

/**
 * Maximum content-length in bytes of a callback whose connection stays open for more requests. If the body is larger,
 * or its length is unknown, the connection is closed after the response. Bodies are discarded.
 */
const MAX_KEEP_ALIVE_BODY_BYTES = 64 * 1024;

/** Captures the path after /callbacks/. Also matches absolute URLs, which some clients send in the request line. */
const CALLBACK_URL_PATTERN = /^(?:https?:\/\/[^/?#]*)?\/callbacks\/([^?#]*)/;

/**
 * Adds /callbacks/<token>, to which the payment service reports changes of transactions. Requests are not
 * authenticated: all get the same empty response, and no body is read. Must be called before routes and scopes are
 * added.
 * @param onCallback receives the token of the URL, which may be forged; must return immediately and never throw
 */
export function addCallbackRoute(app: FastifyInstance, onCallback: (callbackToken: string) => void): void {
  // Use a hook: a hook responds before the body arrives, and to methods and paths (such as `%zz`) without a route.
  app.addHook('onRequest', (request, reply, done) => {
    const callbackToken = CALLBACK_URL_PATTERN.exec(request.originalUrl)?.[1];
    if (callbackToken === undefined) return done();
    if (callbackToken !== '' && !callbackToken.includes('/')) onCallback(callbackToken);
    if (!hasSmallBody(request.headers)) void reply.header('connection', 'close');
    // Wait until Node.js has parsed the next bytes. If they are malformed, only the error of Node.js must be sent.
    void nextEventLoopTurn().then(() => reply.code(204).send());
  });
}

const hasSmallBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) <= MAX_KEEP_ALIVE_BODY_BYTES;
