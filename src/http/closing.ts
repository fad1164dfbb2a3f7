import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Ends, at the shutdown, the connections that have nothing under way: those that wait for a request, the first or the
 * next, and those whose request has not come in whole. They would hold it up until their clients leave.
 */
export function closeConnectionsWhenClosing(app: FastifyInstance): void {
  const waiting = new Set<Socket>();
  const receiving = new Set<Socket>();
  let closing = false;
  app.server.on('connection', (socket: Socket) => {
    waiting.add(socket);
    socket.once('close', () => {
      waiting.delete(socket);
      receiving.delete(socket);
    });
    if (closing) socket.destroy();
  });
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    waiting.delete(socket);
    response.once('close', () => !socket.destroyed && waiting.add(socket));
    if (request.complete) return;
    receiving.add(socket);
    request.once('end', () => receiving.delete(socket));
  });
  app.addHook('preClose', (done) => {
    closing = true;
    [...waiting, ...receiving].forEach((socket) => socket.destroy());
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) void reply.header('connection', 'close');
    done();
  });
}
