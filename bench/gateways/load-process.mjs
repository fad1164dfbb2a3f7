// The load generator, in its own process: N connections, each of which sends its next request after a response.
// Every response is checked, so that errors are not measured as successes; creates that were rejected because the disk
// stalled are counted.
import { performance } from 'node:perf_hooks';
import { serve } from '../journal/processes.mjs';
import { quantile } from '../journal/stats.mjs';
import { Connection, requestText } from './connection.mjs';
import { HOT_ID, idOf } from './workloads.mjs';
import { entryOf } from './targets.mjs';

/** Of this many responses, one is parsed and checked completely. */
const CHECK_EVERY = 200;
const PAGE = 100;
const DISTINCT = 10;

/** Returns the ids of a page: 100 positions with 10 distinct ids in mixed order. Each page has its own ids. */
const pageIds = (number) =>
  Array.from({ length: PAGE }, (_, place) => idOf(number * DISTINCT + ((place * 7) % DISTINCT)));

const constant = (request) => {
  const text = requestText(request);
  return () => ({ text });
};
const withId = (ask) => (number) => {
  const id = idOf(number);
  return { text: requestText(ask(id)), id };
};

/** Request of each workload by its sequence number, and the id that the response must contain. */
const WORKS = {
  one: ({ one }) => withId(one),
  hot: ({ hot }) => constant(hot(HOT_ID)),
  page:
    ({ page }) =>
    (number) => ({ text: requestText(page(pageIds(number))), id: idOf(number * DISTINCT) }),
  create:
    ({ create }) =>
    (number) => ({ text: requestText(create(number)) }),
  tiny: ({ tiny }) => constant(tiny()),
};

const fault = (words, answer) => new Error(`${words}: ${answer.status} ${answer.text.slice(0, 1000)}`);

/** Whether a create was rejected before anything was sent, as when the journal times out. */
const isRefused = (work, { text }) =>
  work === 'create' && text.includes("The gateway's journal is unavailable;");

function check(answer, { id, work, entry, whole }) {
  if (answer.status >= 300 || answer.text.includes('"errors":')) throw fault('Error response', answer);
  if (id && !answer.text.includes(id)) throw fault('Response about another payment', answer);
  if (!whole) return;
  try {
    entry.check(work, JSON.parse(answer.text));
  } catch (error) {
    throw fault(error.message, answer);
  }
}

async function run({ name, port, work, connections, from, milliseconds = Infinity, requests = Infinity }) {
  const entry = await entryOf(name);
  const make = WORKS[work](entry.requests);
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const took = [];
  let sent = 0;
  let refused = 0;
  const startedAt = performance.now();
  const loop = async (connection) => {
    while (sent < requests && performance.now() - startedAt < milliseconds) {
      const number = sent;
      sent += 1;
      const { text, id } = make(from + number);
      const askedAt = performance.now();
      const answer = await connection.ask(text);
      if (isRefused(work, answer)) {
        refused += 1;
        continue;
      }
      took.push(performance.now() - askedAt);
      check(answer, { id, work, entry, whole: number % CHECK_EVERY === 0 });
    }
  };
  try {
    await Promise.all(open.map(loop));
  } finally {
    open.forEach((connection) => connection.close());
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return { requests: took.length, refused, seconds, p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
}

await serve(async () => ({ ready: null, answer: run, stop: async () => {} }));
