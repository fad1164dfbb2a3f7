// A service with a fixed response time that counts lookups per gateway and changes a payment on command. It verifies no
// signature.
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import { clearInterval, setInterval } from 'node:timers';
import { serve } from '../journal/processes.mjs';
import { now } from './clock.mjs';

const timeOf = (ms) => new Date(ms).toISOString().replace('Z', '000+00:00');

function bodyOf({ id, status, createdAt, version }, channel) {
  return JSON.stringify({
    status,
    transaction_id: id,
    channel,
    amount: { currency: 'EUR', value: '10.00', ...(status === 'mispaid' && { received: '9.00' }) },
    payment_method: { type: 'card' },
    redirect_url: `https://pay.example/page?version=${version}`,
    create_date: timeOf(createdAt),
  });
}

/** Sends a callback as the service would. */
function call(url) {
  const sent = ask(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
  sent.on('response', (response) => response.resume());
  sent.end('{}');
}

await serve(async ({ latencyMs }) => {
  const known = new Map();
  /** Lookups by gateway, each of which uses its own path. */
  const counts = {};
  /** Times of the first request for a version of a payment and of its response. */
  const answered = new Map();
  let lastVersion = 0;
  let changing;

  const find = (query) => known.get(query.get('transaction_id'));
  const create = (text, channel) => {
    const { callback_url: callbackUrl } = JSON.parse(text);
    const payment = { id: randomUUID(), status: 'pending', createdAt: Date.now(), version: 0, callbackUrl };
    known.set(payment.id, payment);
    return { status: 201, body: bodyOf(payment, channel) };
  };
  const lookUp = (url, receivedAt) => {
    const { pathname, searchParams } = new URL(url, 'http://service');
    const gateway = pathname.split('/')[1];
    counts[gateway] = (counts[gateway] ?? 0) + 1;
    const payment = find(searchParams);
    if (!payment) return { status: 404, body: '{}' };
    const { version } = payment;
    if (!answered.has(version)) answered.set(version, { receivedAt, sentAt: now() });
    return { status: 200, body: bodyOf(payment, searchParams.get('channel')) };
  };

  const server = createServer((request, response) => {
    const receivedAt = now();
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () =>
      setTimeout(() => {
        const { status, body } = request.method === 'POST' ? create(text) : lookUp(request.url, receivedAt);
        response.writeHead(status, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        });
        response.end(body);
      }, latencyMs),
    );
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const commands = {
    seed({ payments }) {
      known.clear();
      for (const { id, status, ageMs } of payments)
        known.set(id, { id, status, createdAt: Date.now() - ageMs, version: 0 });
    },
    counts: () => counts,
    /** Creates a new version of a payment, with a status if one is given. Sends a callback if requested. */
    change({ id, callBack, status }) {
      const payment = known.get(id);
      payment.status = status ?? payment.status;
      payment.version = lastVersion += 1;
      const at = now();
      if (callBack) call(payment.callbackUrl);
      return { version: payment.version, at };
    },
    /** Changes one payment after another from now on; stops if no interval is given. */
    keepChanging({ everyMs }) {
      clearInterval(changing);
      if (!everyMs) return;
      const ids = [...known.keys()];
      let place = 0;
      changing = setInterval(() => {
        // Payments with adjacent numbers have similar age and state, so every seventh is changed.
        place = (place + 7) % ids.length;
        commands.change({ id: ids[place] });
      }, everyMs);
    },
    answered: ({ version }) => answered.get(version) ?? null,
  };
  return {
    ready: `http://127.0.0.1:${server.address().port}/`,
    answer: async ({ command, ...rest }) => commands[command](rest) ?? null,
    stop: async () => {
      clearInterval(changing);
      server.closeAllConnections();
    },
  };
});
