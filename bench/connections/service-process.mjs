// A payment service whose way of closing connections can be chosen; over TLS and behind a delay if requested.
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, createServer as createTcp } from 'node:net';
import { clearInterval, setInterval } from 'node:timers';
import { serve } from '../journal/processes.mjs';

const CREATE_DATE = () => `${new Date().toISOString().slice(0, -1)}000+00:00`;

function answer(response, status, payment) {
  const text = JSON.stringify(payment);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** Forwards connections, and delays each direction by `ms`. The first byte waits for one more round trip, as TCP does. */
async function delayed(port, ms) {
  const pipe = (from, to, openAt = 0) => {
    from.on('data', (bytes) => setTimeout(() => to.write(bytes), Math.max(ms, openAt - Date.now())));
    from.on('end', () => setTimeout(() => to.end(), ms));
    from.on('close', () => setTimeout(() => to.destroy(), ms));
    from.on('error', () => undefined);
  };
  const proxy = createTcp({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true });
    pipe(near, far, Date.now() + 3 * ms);
    pipe(far, near);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy.address().port;
}

await serve(
  async ({ tls, delayMs = 0, closeIdleAfterMs = 0, closeAfterRequests = 0, restartEveryMs = 0 }) => {
    const byExternalId = new Map();
    let creates = 0;
    const handle = (request, response) => {
      const { socket } = request;
      socket.requests = (socket.requests ?? 0) + 1;
      clearTimeout(socket.closing);
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        if (request.method === 'POST') {
          const { channel, external_id: externalId, amount } = JSON.parse(body);
          creates += 1;
          byExternalId.set(externalId, {
            status: 'processing',
            transaction_id: randomUUID(),
            external_id: externalId,
            amount,
            channel,
            redirect_url: 'https://pay.example/page',
            payment_method: { type: 'upi' },
            create_date: CREATE_DATE(),
          });
          answer(response, 201, byExternalId.get(externalId));
        } else {
          const query = new URL(request.url, 'http://localhost').searchParams;
          const found = byExternalId.get(query.get('external_id'));
          if (found) answer(response, 200, found);
          else answer(response, 404, { error: 'not found' });
        }
        // Closes the connection without an announcement, as a crash or a proxy does.
        if (closeAfterRequests && socket.requests >= closeAfterRequests)
          response.on('finish', () => socket.end());
        if (closeIdleAfterMs)
          socket.closing = setTimeout(() => socket.destroy(), Math.random() * closeIdleAfterMs);
      });
    };
    const server = tls ? createHttps(tls, handle) : createHttp(handle);
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    const restart = async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      server.listen(port, '127.0.0.1');
    };
    const restarts = restartEveryMs ? setInterval(() => void restart(), restartEveryMs) : undefined;
    const entry = delayMs > 0 ? await delayed(port, delayMs) : port;
    return {
      ready: `${tls ? 'https' : 'http'}://${tls ? 'localhost' : '127.0.0.1'}:${entry}/`,
      answer: async () => creates,
      stop: async () => {
        clearInterval(restarts);
        server.closeAllConnections();
      },
    };
  },
);
