import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { nextEventLoopTurn } from '../../shared/next-turn';

/** A connection is kept for bodies up to this size, which are discarded. */
const SMALL_BODY_BYTES = 64 * 1024;

/** Captures what follows /callbacks/. Some clients send an absolute URL. */
const CALLBACK_URL = /^(?:https?:\/\/[^/?#]*)?\/callbacks\/([^?#]*)/;

interface CallbackOptions {
  /** Called with the token of the URL, which may be forged. Returns at once and never throws. */
  onCallback(token: string): void;
}

/**
 * Adds /callbacks/<token>, by which the payment service reports changes. Callers are not authenticated: every request by
 * any method gets the same empty response, and its body is not read. Must be added before routes and scopes with hooks.
 */
export function addCallbacks(app: FastifyInstance, { onCallback: hint }: CallbackOptions): void {
  // A hook, because it responds before the body arrives, and to methods and paths (`%zz`) that no route can have.
  app.addHook('onRequest', (request, reply, done) => {
    const token = CALLBACK_URL.exec(request.originalUrl)?.[1];
    if (token === undefined) return done();
    if (token !== '' && !token.includes('/')) hint(token);
    if (!isSmall(request.headers)) void reply.header('connection', 'close');
    // Malformed data behind the request is parsed first, and then gets the only response.
    void nextEventLoopTurn().then(() => reply.code(204).send());
  });
}

const isSmall = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SMALL_BODY_BYTES;
