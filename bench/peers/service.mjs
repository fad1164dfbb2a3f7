// Service client of mercurius and yoga: undici's pool with keep-alive, every request signed.
import { Pool } from 'undici';
import { settings } from './settings.mjs';
import { signed } from './signature.mjs';

const { origin, pathname } = new URL('api/v1/payment/', settings.serviceUrl);
const pool = new Pool(origin);

async function answerOf({ statusCode, body }, expected) {
  if (statusCode === expected) return body.json();
  await body.dump();
  throw new Error(`The payment service responded with HTTP status ${statusCode}.`);
}

async function look(query) {
  const path = `${pathname}?${query}`;
  return answerOf(await pool.request({ method: 'GET', path, headers: signed(query) }), 200);
}

/** In-flight lookups; concurrent requests for the same payment share one. */
const inFlight = new Map();

export function lookUp(channel, transactionId) {
  const query = `channel=${encodeURIComponent(channel)}&transaction_id=${encodeURIComponent(transactionId)}`;
  const already = inFlight.get(query);
  if (already) return already;
  const looking = look(query).finally(() => inFlight.delete(query));
  inFlight.set(query, looking);
  return looking;
}

export async function create(request) {
  const body = JSON.stringify(request);
  const headers = { ...signed(body), 'content-type': 'application/json' };
  return answerOf(await pool.request({ method: 'POST', path: pathname, headers, body }), 201);
}
