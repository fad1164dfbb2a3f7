import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Ends, at the shutdown, the connections that have nothing under way: those that wait for a request, the first or the
 * next, and those whose request has not come in whole. They would hold it up until their clients leave.
 */
export function closeConnectionsWhenClosing(app: FastifyInstance): void {
  const connections = new Set<Socket>();
  const underWay = new Map<Socket, IncomingMessage>();
  let closing = false;
  app.server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    if (closing) socket.destroy();
  });
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    underWay.set(socket, request);
    // A client may have sent the next one already.
    response.once('close', () => underWay.get(socket) === request && underWay.delete(socket));
  });
  app.addHook('preClose', (done) => {
    closing = true;
    for (const socket of connections) if (!underWay.get(socket)?.complete) socket.destroy();
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) void reply.header('connection', 'close');
    done();
  });
}
