// Minimal payment service: every create gets a new transaction, every lookup finds one.
// It verifies no signature and stores nothing, so that its own work is negligible.
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { serve } from './processes.mjs';

function answerTo(method, url) {
  const query = new URL(url, 'http://service').searchParams;
  const common = {
    status: 'processing',
    transaction_id: query.get('transaction_id') ?? randomUUID(),
  };
  if (url.includes('/payout/')) return { ...common, external_id: query.get('external_id') };
  return {
    ...common,
    // A complete response to a create, so that the gateway needs no lookup after it.
    ...(method === 'GET' && { channel: query.get('channel') }),
    amount: { currency: 'EUR', value: '10.00' },
    payment_method: { type: 'card' },
    redirect_url: 'https://pay.example/page',
    create_date: '2030-01-01T00:00:00.000000+00:00',
  };
}

await serve(async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const body = JSON.stringify(answerTo(request.method, request.url));
      response.writeHead(request.method === 'POST' ? 201 : 200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    ready: `http://127.0.0.1:${server.address().port}/`,
    answer: async () => null,
    stop: async () => server.closeAllConnections(),
  };
});
