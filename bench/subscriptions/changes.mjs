// Delay from a change to the subscriber: a change found by a lookup, and one announced by a callback.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Caller } from '../journal/caller.mjs';
import { sleep } from './clock.mjs';
import { CHANNEL, idsOf, NEW, payments } from './payments.mjs';
import { constantPace, oneEach, startSubscribers, startGateway } from './harness.mjs';
import { QUERY, variablesFor } from './subscription.mjs';

const CREATE = `mutation Create($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    ... on PaymentSuccess { payment { ... on PaymentResource { transactionId } } }
    ... on UserError { message }
  }
}`;

/** Interval that is longer than the gateway delays lookups after callbacks of one payment. */
const APART_MS = 700;
/** Interval between two changes of the same payment. */
const SOON_MS = 100;

/** Returns a free port, because PUBLIC_URL has to be known before the gateway listens. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return String(port);
}

async function openStage(service, { watchers }) {
  const PORT = await freePort();
  const settings = { PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}`, ...constantPace('1h') };
  const gateway = await startGateway(service, 'changes', settings);
  return { gateway, caller: new Caller(gateway.url, 1), watchers };
}

/** Measures the ms from the service's response to another client's query until the last subscriber has the change. */
async function seenChanges(service, { caller, gateway, watchers, changes }) {
  const [id] = idsOf(1);
  const crowd = await startSubscribers(gateway.url, 'webSocket', oneEach(watchers, [id]));
  await crowd.open();
  const sample = [];
  for (let turn = 0; turn < changes; turn += 1) {
    const { version } = await service.ask({ command: 'change', id });
    await caller.ask(QUERY, variablesFor(id));
    const lastAt = await crowd.last(version);
    const { sentAt } = await service.ask({ command: 'answered', version });
    sample.push(lastAt - sentAt);
  }
  await crowd.check();
  return { sample, crowd };
}

export async function createPayment(caller) {
  const input = {
    idempotencyKey: randomUUID(),
    channel: CHANNEL,
    amount: { currency: 'EUR', value: '10.00' },
    externalId: randomUUID(),
    method: { redirect: 'CARD' },
  };
  const { createPayment: result } = await caller.ask(CREATE, { input });
  return result.payment.transactionId;
}

/** Changes a payment and lets the service send its callback. */
const change = (service, id) => service.ask({ command: 'change', id, callBack: true });

/** Returns the milliseconds from the callback to the subscriber, less the service's response time. */
async function lateness(service, crowd, { version, at }) {
  const arrivedAt = await crowd.one(version);
  const { receivedAt, sentAt } = await service.ask({ command: 'answered', version });
  return arrivedAt - at - (sentAt - receivedAt);
}

/** Measures announced changes: of one payment after another, of each again shortly after, and of all at once. */
async function hintedChanges(service, { caller, gateway, hints }) {
  const ids = [];
  for (let made = 0; made < hints; made += 1) ids.push(await createPayment(caller));
  const crowd = await startSubscribers(gateway.url, 'webSocket', oneEach(hints, ids));
  await crowd.open();
  await sleep(APART_MS);
  const single = [];
  const again = [];
  for (const id of ids) {
    single.push(await lateness(service, crowd, await change(service, id)));
    await sleep(SOON_MS);
    again.push(await lateness(service, crowd, await change(service, id)));
  }
  await sleep(APART_MS);
  const hinted = [];
  for (const id of ids) hinted.push(await change(service, id));
  const together = [];
  for (const each of hinted) together.push(await lateness(service, crowd, each));
  await crowd.check();
  await crowd.stop();
  return { single, again, together };
}

export async function measureChanges(service, sizes) {
  await service.ask({ command: 'seed', payments: payments(1, NEW) });
  const stage = { ...(await openStage(service, sizes)), ...sizes };
  const { sample: seen, crowd } = await seenChanges(service, stage);
  // The other subscribers stay connected, so that the gateway is not idle.
  const hinted = await hintedChanges(service, stage);
  await crowd.stop();
  await stage.caller.close();
  await stage.gateway.stop();
  return { seen, ...hinted };
}
