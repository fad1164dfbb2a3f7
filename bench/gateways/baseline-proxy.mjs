// The baseline: a minimal proxy that signs a request and relays the service's JSON. A gateway cannot do less work.
import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import process from 'node:process';
import { Pool } from 'undici';

const { PORT, SERVICE_BASE_URL, SERVICE_API_KEY, SERVICE_SECRET_KEY } = process.env;
const service = new Pool(new URL(SERVICE_BASE_URL).origin);
const PAYMENT = `${new URL(SERVICE_BASE_URL).pathname}api/v1/payment/`;
const TINY = '{"data":{"__typename":"Query"}}';

function signed(data) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    'x-api-key': SERVICE_API_KEY,
    'x-timestamp': timestamp,
    'x-signature': createHmac('sha256', SERVICE_SECRET_KEY).update(timestamp).update(data).digest('hex'),
  };
}

function answer(response, status, bytes) {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}

async function relay(response, options) {
  const { statusCode, body } = await service.request(options);
  answer(response, statusCode, await body.bytes());
}

function create(request, response) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const headers = { 'content-type': 'application/json', ...signed(body) };
    relay(response, { method: 'POST', path: PAYMENT, headers, body }).catch(() => response.destroy());
  });
}

function lookUp(query, response) {
  relay(response, { method: 'GET', path: `${PAYMENT}?${query}`, headers: signed(query) }).catch(() =>
    response.destroy(),
  );
}

createServer((request, response) => {
  if (request.method === 'POST') return create(request, response);
  const mark = request.url.indexOf('?');
  if (mark < 0) return answer(response, 200, Buffer.from(TINY));
  lookUp(request.url.slice(mark + 1), response);
}).listen(Number(PORT), '127.0.0.1', () => process.stdout.write('listening\n'));
