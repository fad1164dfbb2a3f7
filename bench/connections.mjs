// `npm run bench:connections`: time of a create and of a lookup over a distant TLS connection, and the share of creates whose
// response is lost with services that close connections. `-- --gateway <checkout>` measures the gateway of another checkout.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { start } from './journal/processes.mjs';
import { CLIENT_KEY } from './journal/client-key.mjs';
import { quantile, table } from './journal/stats.mjs';
import { readOptions } from '../scripts/options.mjs';

const { values } = readOptions({ options: { gateway: { type: 'string' }, seconds: { type: 'string' } } });
const checkout = path.resolve(values.gateway ?? path.join(import.meta.dirname, '..'));
const SECONDS = Number(values.seconds ?? 30);
const DELAY_MS = 20;
const CHANNEL = '7b3c1e52-4f0a-4a4e-9d5b-3f2b8f6f0a11';
const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
  __typename ... on PaymentSuccess { replayed payment { ... on PaymentResource { externalId } } } } }`;
const LOOKUP = `query ($channel: UUID!, $id: String!) {
  payment(channel: $channel, externalId: $id) { ... on PaymentResource { status } } }`;

const print = (text = '') => process.stdout.write(`${text}\n`);
const folder = mkdtempSync(path.join(tmpdir(), 'bench-connections-'));

function certificate() {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name));
  const options = [
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-days',
    '2',
    '-nodes',
  ];
  const opensslArgs = ['req', '-x509', '-newkey', 'rsa:2048', ...options, '-keyout', key, '-out', cert];
  execFileSync('openssl', opensslArgs, { stdio: 'ignore' });
  process.env.NODE_EXTRA_CA_CERTS = cert;
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

/** Starts a service and a gateway in front of it. */
async function open(options) {
  const service = await start('../connections/service-process.mjs', options);
  const journalUrl = `file:${path.join(folder, `${randomUUID()}.db`)}`;
  const program = path.join(checkout, 'bench/journal/gateway-process.mjs');
  const gateway = await start(path.relative(path.join(import.meta.dirname, 'journal'), program), {
    serviceUrl: service.ready,
    journalUrl,
  });
  const call = async (query, variables) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${CLIENT_KEY}` };
    const body = JSON.stringify({ query, variables });
    const response = await fetch(`${gateway.ready}/graphql`, { method: 'POST', headers, body });
    const { data, errors } = await response.json();
    return data?.createPayment ?? { __typename: errors?.[0].extensions.code ?? 'found' };
  };
  const create = (externalId = randomUUID()) =>
    call(CREATE, {
      input: {
        idempotencyKey: randomUUID(),
        channel: CHANNEL,
        externalId,
        amount: { currency: 'INR', value: '10.00' },
        method: { redirect: 'UPI' },
      },
    });
  const lookUp = (id) => call(LOOKUP, { channel: CHANNEL, id });
  const close = async () => {
    await gateway.stop();
    await service.stop();
  };
  return { create, lookUp, close };
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function distance(tls) {
  const rows = [];
  for (const pauseMs of [0, 300, 2000]) {
    const { create, lookUp, close } = await open({ tls, delayMs: DELAY_MS });
    const creates = [];
    const lookups = [];
    const id = randomUUID();
    await create(id);
    const calls = pauseMs > 500 ? 12 : 40;
    for (let n = 0; n < calls; n += 1) {
      creates.push(await timed(() => create()));
      lookups.push(await timed(() => lookUp(id)));
      await setTimeout(pauseMs);
    }
    await close();
    const [c, l] = [quantile(creates, 0.5), quantile(lookups, 0.5)];
    rows.push([`${pauseMs} ms`, c.toFixed(1), l.toFixed(1), (c / l).toFixed(2)]);
  }
  print(`One call after another, ${2 * DELAY_MS} ms of round trip and TLS, medians in ms:\n`);
  print(table(['pause', 'create', 'lookup', 'ratio'], rows));
}

async function losses() {
  const services = {
    'closes idle connections within 1 s at random': { closeIdleAfterMs: 1000 },
    'closes idle connections within 10 ms at random': { closeIdleAfterMs: 10 },
    'closes after 10 requests, unannounced': { closeAfterRequests: 10 },
    'closes after 100 requests, unannounced': { closeAfterRequests: 100 },
    'restarts every 2 s': { restartEveryMs: 2000 },
  };
  const rows = [];
  for (const [name, options] of Object.entries(services)) {
    const { create, close } = await open(options);
    const counts = { creates: 0, recovered: 0, unknown: 0, failed: 0 };
    const until = Date.now() + SECONDS * 1000;
    const caller = async () => {
      while (Date.now() < until) {
        const { __typename: type, replayed } = await create();
        counts.creates += 1;
        if (type === 'PaymentSuccess') counts.recovered += replayed ? 1 : 0;
        else if (type === 'OutcomeUnknownError') counts.unknown += 1;
        else counts.failed += 1;
        await setTimeout(Math.random() * 40);
      }
    };
    await Promise.all(Array.from({ length: 8 }, caller));
    await close();
    rows.push([name, ...Object.values(counts).map(String)]);
  }
  print(
    `\nEight callers, ${SECONDS} s for each service. recovered: the response was lost, and a lookup found the payment.\n`,
  );
  print(table(['service', 'creates', 'recovered', 'unknown', 'not sent'], rows));
}

await distance(certificate());
await losses();
