import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { nextEventLoopTurn } from '../../shared/next-turn';

/** As much as a connection is kept for after the answer: what comes is thrown away. */
const SMALL_BODY_BYTES = 64 * 1024;

/** What follows /callbacks/, as it was written; some clients name the host before it. */
const BELOW_CALLBACKS = /^(?:https?:\/\/[^/?#]*)?\/callbacks\/([^?#]*)/;

interface CallbackOptions {
  /** Told what stands in a token's place, good or forged. Returns at once and never throws. */
  hint(token: string): void;
}

/**
 * Adds /callbacks/<token>, where the payment service says that something changed. Nobody knows who really calls, so
 * everybody gets the same empty answer, by any method, and nothing of what is sent is read. Has to be added before
 * routes and scopes, whose hooks would else come first.
 */
export function addCallbacks(app: FastifyInstance, { hint }: CallbackOptions): void {
  // A hook and no route: it answers before a body is awaited, and also where no route can be (unusual methods, `%zz`).
  app.addHook('onRequest', (request, reply, done) => {
    const below = BELOW_CALLBACKS.exec(request.originalUrl)?.[1];
    if (below === undefined) return done();
    if (below !== '' && !below.includes('/')) hint(below);
    if (!isSmall(request.headers)) void reply.header('connection', 'close');
    // What has come with it, and is no HTTP, is found first: it gets the one answer then.
    void nextEventLoopTurn().then(() => reply.code(204).send());
  });
}

const isSmall = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SMALL_BODY_BYTES;
