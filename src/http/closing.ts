import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const LATEST = Symbol('latest response');

/** A connection, and the response to what came over it last. */
interface Connection extends Socket {
  [LATEST]?: ServerResponse;
}

/**
 * Ends, at the shutdown, the connections that have nothing under way: those that wait for a request, the first or the
 * next, and those whose request has not come in whole. They would hold it up until their clients leave. The others end with
 * their response.
 */
export function closeConnectionsWhenClosing(app: FastifyInstance): void {
  const connections = new Set<Connection>();
  let closing = false;
  app.server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    if (closing) socket.destroy();
  });
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // Not until it has ended: a listener on every response costs a fifth of all that a small request does.
    (request.socket as Connection)[LATEST] = response;
  });
  app.addHook('preClose', (done) => {
    closing = true;
    for (const socket of connections) {
      const response = socket[LATEST];
      if (!response?.req.complete || response.writableFinished) socket.destroy();
      else if (!response.headersSent) response.setHeader('connection', 'close');
    }
    done();
  });
}
