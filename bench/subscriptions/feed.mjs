// Delay from a change, which a query to one gateway finds, to subscribers of `changes` at another gateway with the same
// PostgreSQL journal.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { freshDatabase } from '../journal/postgres.mjs';
import { Caller } from '../journal/caller.mjs';
import { createPayment } from './changes.mjs';
import { now, sleep } from './clock.mjs';
import { constantPace, startGateway } from './harness.mjs';
import { CHANNEL } from './payments.mjs';
import { AUTHORIZATION, QUERY, variablesFor } from './subscription.mjs';

const SUBSCRIPTION = `subscription Changes($channel: UUID!) {
  changes(channel: $channel) { ... on PaymentChange { transactionId status } }
}`;
/** Interval between two changes that are measured one by one. */
const APART_MS = 50;
const CONNECTIONS = 50;

/** Subscribes to all changes. Returns a function that resolves with the time at which a change of a payment arrived. */
async function subscribe(url) {
  const arrivedAt = new Map();
  const waiting = new Map();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
  });
  const acknowledged = Promise.withResolvers();
  socket.on('message', (data) => {
    const at = now();
    const { type, payload } = JSON.parse(data.toString());
    if (type === 'connection_ack') acknowledged.resolve();
    if (type === 'error') throw new Error(JSON.stringify(payload));
    if (type !== 'next') return;
    const { transactionId, status } = payload.data.changes;
    if (status !== 'COMPLETED') return;
    arrivedAt.set(transactionId, at);
    waiting.get(transactionId)?.();
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: AUTHORIZATION } }));
  await acknowledged.promise;
  const payload = { query: SUBSCRIPTION, variables: { channel: CHANNEL } };
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
  return {
    arrival: async (id) => {
      if (!arrivedAt.has(id)) await new Promise((resolve) => waiting.set(id, resolve));
      return arrivedAt.get(id);
    },
    close: () => socket.terminate(),
  };
}

/** Returns the milliseconds from the service's response until the last subscriber has the change. */
async function delayOf(service, subscribers, { id, version }) {
  const arrivals = await Promise.all(subscribers.map(({ arrival }) => arrival(id)));
  const { sentAt } = await service.ask({ command: 'answered', version });
  return Math.max(...arrivals) - sentAt;
}

/** Measures changes one by one, and changes of all payments at once. Returns null if there is no PostgreSQL. */
export async function measureFeed(service, { subscribers: subscriberCount, changes }) {
  const database = await freshDatabase();
  if (database === null) return null;
  const settings = { DATABASE_URL: database.url, ...constantPace('1h') };
  // Both with the same URL of the service, which is part of the identity of a payment in the journal.
  const first = await startGateway(service, 'feed', settings);
  const second = await startGateway(service, 'feed', settings);
  const caller = new Caller(first.url, CONNECTIONS);
  const complete = async (id) => {
    const { version } = await service.ask({ command: 'change', id, status: 'completed' });
    return { id, version };
  };
  const subscribers = [];
  for (let opened = 0; opened < subscriberCount; opened += 1) subscribers.push(await subscribe(second.url));
  try {
    const ids = [];
    for (let made = 0; made < 2 * changes; made += 1) ids.push(await createPayment(caller));
    const single = [];
    for (const id of ids.slice(0, changes)) {
      await sleep(APART_MS);
      const change = await complete(id);
      await caller.ask(QUERY, variablesFor(id));
      single.push(await delayOf(service, subscribers, change));
    }
    const changed = [];
    for (const id of ids.slice(changes)) changed.push(await complete(id));
    await Promise.all(changed.map(({ id }) => caller.ask(QUERY, variablesFor(id))));
    const together = [];
    for (const change of changed) together.push(await delayOf(service, subscribers, change));
    return { single, together };
  } finally {
    for (const subscriber of subscribers) subscriber.close();
    await caller.close();
    await first.stop();
    await second.stop();
    await database.drop();
  }
}
