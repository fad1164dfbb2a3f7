// The payment service of the benchmark. Every lookup finds a UPI payment, every create creates one. It counts
// requests and samples some with their signatures; `signatures` verifies them after a run, outside the measured time.
// Stand-alone: `node bench/gateways/service.mjs '{"port":4999}'`.
import { Buffer } from 'node:buffer';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';
import { serve } from '../journal/processes.mjs';
import { CREDENTIALS } from './credentials.mjs';

/** One of this many requests is sampled; maximum number of samples. */
const SAMPLE_EVERY = 97;
const MAX_SAMPLES = 1000;

const paymentText = (id, channel, method) =>
  `{"status":"processing","transaction_id":"${id}","amount":{"currency":"INR","value":"10.00"},` +
  `"redirect_url":"https://pay.example/page","channel":"${channel}","payment_method":${method},` +
  '"create_date":"2030-01-01T00:00:00.000000+00:00"}';
const REDIRECT = '{"type":"upi"}';
const SERVER_TO_SERVER =
  '{"type":"upi","email":"payer@example.com","first_name":"Asha","last_name":"Rao","phone":"919876543210",' +
  '"upi_id":"payee@upi","upi_link":"upi://pay?pa=payee@upi&am=10.00","state":"waiting_for_utr"}';

const lookedUp = (url) =>
  paymentText(
    /[?&]transaction_id=([^&]*)/.exec(url)?.[1] ?? randomUUID(),
    /[?&]channel=([^&]*)/.exec(url)?.[1],
    SERVER_TO_SERVER,
  );
const created = (body) => paymentText(randomUUID(), /"channel":"([^"]*)"/.exec(body)?.[1], REDIRECT);

/** Returns what is wrong with the signature of a request (specification section 5); null if it is valid. */
function faultOf({ url, headers, body, receivedAt }) {
  const { 'x-api-key': key, 'x-timestamp': timestamp, 'x-signature': signature } = headers;
  if (key !== CREDENTIALS.apiKey) return 'a wrong API key';
  if (!(Math.abs(Number(timestamp) - receivedAt / 1000) < 300)) return 'a timestamp outside of 5 minutes';
  const data = timestamp + (body ?? url.slice(url.indexOf('?') + 1));
  const expected = createHmac('sha256', CREDENTIALS.secretKey).update(data).digest('hex');
  return signature === expected ? null : 'a wrong signature';
}

function answer(response, status, text) {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

await serve(async ({ port = 0 }) => {
  const counts = { lookups: 0, creates: 0 };
  let kept = [];
  const keep = ({ url, headers }, body) => {
    if ((counts.lookups + counts.creates) % SAMPLE_EVERY === 0 && kept.length < MAX_SAMPLES)
      kept.push({ url, headers, body, receivedAt: Date.now() });
  };
  const create = (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      counts.creates += 1;
      keep(request, body);
      answer(response, 201, created(body));
    });
  };
  const server = createServer((request, response) => {
    if (request.method === 'POST') return create(request, response);
    counts.lookups += 1;
    keep(request);
    answer(response, 200, lookedUp(request.url));
  });
  server.keepAliveTimeout = 600_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const commands = {
    counts: () => counts,
    /** Verifies the requests sampled since the last call. */
    signatures() {
      const faults = kept.map(faultOf).filter(Boolean);
      const checked = kept.length;
      kept = [];
      return { checked, wrong: faults.length, first: faults[0] ?? null };
    },
  };
  const url = `http://127.0.0.1:${server.address().port}/`;
  if (!process.send) process.stdout.write(`listening on ${url}\n`);
  return {
    ready: url,
    answer: async ({ command }) => commands[command](),
    stop: async () => server.closeAllConnections(),
  };
});
