// Subscribers: any number in one process, each on its own connection or all on one. They implement the protocols
// themselves, so that thousands fit into a process and use little CPU.
import { Agent, request } from 'node:http';
import { clearTimeout, setTimeout } from 'node:timers';
import { WebSocket } from 'ws';
import { serve } from '../journal/processes.mjs';
import { now, sleep } from './clock.mjs';
import { AUTHORIZATION, SUBSCRIPTION, variablesFor } from './subscription.mjs';

/** Number of connections that are opened at the same time. */
const OPENING_AT_ONCE = 40;
const MAX_REPORTED_FAULTS = 5;
/** Timeout for the arrival of a change. */
const CHANGE_TIMEOUT_MS = 20_000;

const INIT = JSON.stringify({ type: 'connection_init', payload: { authorization: AUTHORIZATION } });
const subscribe = (id, transactionId) =>
  JSON.stringify({
    id: String(id),
    type: 'subscribe',
    payload: { query: SUBSCRIPTION, variables: variablesFor(transactionId) },
  });

/** Received results: their number and, for each version, how many have arrived and when the last one did. */
class Arrivals {
  results = 0;
  faults = [];
  #versions = new Map();
  #waiting = [];

  /** Records a received message. */
  take(text) {
    const arrivedAt = now();
    if (text.includes('"errors"') || text.includes('"type":"error"')) this.fault(text);
    const version = Number(/version=(\d+)/.exec(text)?.[1] ?? 0);
    this.results += 1;
    const { count } = this.#versions.get(version) ?? { count: 0 };
    this.#versions.set(version, { count: count + 1, lastAt: arrivedAt });
    this.#waiting = this.#waiting.filter((check) => !check());
  }

  fault(text) {
    this.faults.push(text.slice(0, 300));
  }

  /** Resolves with the time at which `expected` subscribers have received a version; throws on timeout. */
  async last(version, expected) {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`Version ${version} did not arrive in time.`)),
        CHANGE_TIMEOUT_MS,
      );
      const check = () => {
        const hasArrived = (this.#versions.get(version)?.count ?? 0) >= expected;
        if (hasArrived) resolve(clearTimeout(timer));
        return hasArrived;
      };
      if (!check()) this.#waiting.push(check);
    });
    return this.#versions.get(version).lastAt;
  }
}

await serve(async () => {
  const arrivals = new Arrivals();
  let connections = [];
  let closing = false;

  /** Opens a WebSocket that subscribes to these payments. Resolves when each has its first result. */
  const webSocket = (url, transactionIds) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
        perMessageDeflate: false,
      });
      let results = 0;
      socket.on('open', () => socket.send(INIT));
      socket.on('message', (data) => {
        const text = data.toString();
        if (text.includes('"type":"connection_ack"'))
          return transactionIds.forEach((id, place) => socket.send(subscribe(place, id)));
        arrivals.take(text);
        results += 1;
        if (results === transactionIds.length) resolve();
      });
      socket.on('error', reject);
      socket.on('close', (code, reason) => {
        if (!closing) arrivals.fault(`closed: ${code} ${reason}`);
        reject(new Error(`closed: ${code} ${reason}`));
      });
      connections.push({ end: () => socket.terminate() });
    });

  const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  /** Opens an event stream; resolves at its first result. */
  const eventStream = (url, [transactionId]) =>
    new Promise((resolve, reject) => {
      const headers = {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: AUTHORIZATION,
      };
      const streamRequest = request(
        `${url}/graphql/stream`,
        { method: 'POST', agent, headers },
        (response) => {
          let unread = '';
          response.on('data', (chunk) => {
            const events = (unread + chunk).split('\n\n');
            unread = events.pop();
            for (const event of events.filter((text) => text.startsWith('event: next'))) {
              arrivals.take(event);
              resolve();
            }
          });
          response.on('error', () => undefined);
          response.on('close', () => {
            if (!closing) arrivals.fault('a stream ended');
          });
        },
      );
      streamRequest.on('error', reject);
      streamRequest.end(JSON.stringify({ query: SUBSCRIPTION, variables: variablesFor(transactionId) }));
      connections.push({ end: () => streamRequest.destroy() });
    });

  const WAYS = { webSocket, eventStream };

  const commands = {
    /** Opens a connection for each list of payments, spread over `overMs`. */
    async open({ url, way, lists, overMs }) {
      closing = false;
      const beginAt = now();
      let begun = 0;
      const next = async () => {
        while (begun < lists.length) {
          const place = begun++;
          await sleep(beginAt + (overMs * place) / lists.length - now());
          await WAYS[way](url, lists[place]);
        }
      };
      await Promise.all(Array.from({ length: OPENING_AT_ONCE }, next));
    },
    last: ({ version, expected }) => arrivals.last(version, expected),
    results: () => arrivals.results,
    faults: () => ({ count: arrivals.faults.length, some: arrivals.faults.slice(0, MAX_REPORTED_FAULTS) }),
    async close() {
      closing = true;
      for (const connection of connections) connection.end();
      connections = [];
    },
  };
  return {
    ready: null,
    answer: async ({ command, ...rest }) => (await commands[command](rest)) ?? null,
    stop: () => commands.close(),
  };
});
