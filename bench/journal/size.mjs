// A journal of many rows beside one of 10,000: begin and settle, bytes of a row, purge, list, count of unknowns, start.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { cycle } from './cycle.mjs';
import { median, ms, perSecond, quantile, spread, table } from './stats.mjs';

const require = createRequire(import.meta.url);

const SMALL = 10_000;
const CONCURRENCY = 8;
const ROUNDS = 7;
const ROUND_MS = 3000;
const WARM_UP_MS = 3000;
const PURGED_ROWS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Groups of a service with 100 clients on 10 channels. */
const GROUPS = 1000;
/** One of this many attempts is unknown. */
const UNKNOWN_EVERY = 100_000;

const print = (text = '') => process.stdout.write(`${text}\n`);
const fileOf = (url) => url.slice('file:'.length);
const SERVICE = 'http://127.0.0.1:4001/';

const COLUMNS = `group_id, id, key, fingerprint, external_id, external_id_hash, method, currency, value, started_at,
  state, settled_at, transaction_id, transaction_hash, status, lease_until, next_check_at`;

/** Returns the values of row `n`: settled at regular intervals within the last 20 days, or unknown. */
function values({ bytes, random32, total, now }) {
  const isUnknown = `n % ${UNKNOWN_EVERY} = 0`;
  const startedAt = `${now} - 20 * ${DAY_MS} + CAST(n AS BIGINT) * ${20 * DAY_MS} / ${total}`;
  const ifSettled = (value) => `CASE WHEN ${isUnknown} THEN NULL ELSE ${value} END`;
  return `1 + n % ${GROUPS}, ${bytes}, ${bytes}, ${bytes}, ${bytes}, ${random32}, 'card', 'EUR', '10.00', ${startedAt},
    CASE WHEN ${isUnknown} THEN 'u' ELSE 's' END, ${ifSettled(`${startedAt} + 500`)}, ${ifSettled(bytes)},
    ${ifSettled(random32)}, ${ifSettled("'COMPLETED'")}, CASE WHEN ${isUnknown} THEN 0 END,
    CASE WHEN ${isUnknown} THEN ${now} + ${DAY_MS} END`;
}

const BATCH = 500_000;
/** Larger journals of PostgreSQL are filled before their indexes are built. */
const MAX_INDEXED_ROWS = 1_000_000;

async function fillPostgres(url, rows, now) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await fillOver(client, rows, now);
  } finally {
    await client.end();
  }
}

async function fillOver(client, rows, now) {
  await client.query(`INSERT INTO attempt_groups (service, client, channel, kind)
    SELECT '${SERVICE}', 'client ' || (n % 100), 'channel ' || (n / 100), 'payment' FROM generate_series(0, ${GROUPS - 1}) AS n`);
  const row = values({
    bytes: 'uuid_send(gen_random_uuid())',
    random32: '(random() * 4294967295 - 2147483648)::integer',
    total: `${rows}::bigint`,
    now: `${now}::bigint`,
  }).replaceAll("'u' ELSE 's' END", `'u'::"char" ELSE 's'::"char" END`);
  await client.query("SET synchronous_commit = off; SET maintenance_work_mem = '1GB'");
  // Random insertion into large indexes would take hours. Indexes that are built afterwards have fuller pages.
  const { rows: indexes } =
    rows > MAX_INDEXED_ROWS
      ? await client.query(
          "SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE tablename = 'stored_attempts'",
        )
      : { rows: [] };
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  for (let from = 1; from <= rows; from += BATCH) {
    const to = Math.min(rows, from + BATCH - 1);
    await client.query(
      `INSERT INTO stored_attempts (${COLUMNS}) SELECT ${row} FROM generate_series(${from}, ${to}) AS n`,
    );
  }
  for (const { sql } of indexes) await client.query(sql);
  await client.query('VACUUM ANALYZE stored_attempts');
  await client.query('CHECKPOINT');
  const { rows: sizes } =
    await client.query(`SELECT pg_relation_size('stored_attempts')::float / ${rows} AS heap,
    pg_indexes_size('stored_attempts')::float / ${rows} AS indexes`);
  return sizes[0];
}

function fillSqlite(url, rows, now) {
  const database = new DatabaseSync(fileOf(url));
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
  database.exec(`WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${GROUPS - 1})
    INSERT INTO attempt_groups (service, client, channel, kind)
    SELECT '${SERVICE}', 'client ' || (n % 100), 'channel ' || (n / 100), 'payment' FROM numbers`);
  const row = values({ bytes: 'randomblob(16)', random32: 'random() >> 32', total: rows, now });
  for (let from = 1; from <= rows; from += BATCH) {
    const to = Math.min(rows, from + BATCH - 1);
    database.exec(`WITH RECURSIVE numbers (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${to})
      INSERT INTO stored_attempts (${COLUMNS}) SELECT ${row} FROM numbers`);
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const [{ bytes }] = database
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
    .all();
  database.close();
  return { heap: bytes / rows, indexes: null };
}

const fill = (url, rows, now) => (url.startsWith('file:') ? fillSqlite : fillPostgres)(url, rows, now);

/** Runs cycles for a time; returns the durations of begins and settles in ms. */
async function cycles(journal, milliseconds) {
  const sample = { begin: [], settle: [], refused: 0 };
  const startedAt = performance.now();
  const loop = async () => {
    while (performance.now() - startedAt < milliseconds) {
      await cycle(journal, (name, took) => sample[name].push(took)).catch((error) => {
        if (error.name !== 'JournalUnavailable') throw error;
        sample.refused += 1;
      });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  return sample;
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Starts the purge as a gateway does, but without its first delay. Returns a function that stops it. */
function startPurge(journal, expiredBefore) {
  const { startRetentionJob } = require('../../dist/core/recovery/retention-job.js');
  const { systemClock } = require('../../dist/shared/clock.js');
  const { systemRuntime } = require('../../dist/shared/runtime.js');
  const clock = {
    isSynchronized: true,
    now: () => Date.now(),
    after: (delayMs, work) => systemClock.after(delayMs >= 10_000 ? 0 : delayMs, work),
  };
  const keepMs = Date.now() - expiredBefore;
  const job = startRetentionJob({
    journalSession: { journal, clock, runtime: systemRuntime, warn: () => {} },
    clockGuard: { isSteady: () => true },
    config: { journal: { keepMs }, changeSettings: { followAfterCreateMs: 0, keepMs } },
  });
  return () => job.stop();
}

async function measurePurge(journal, { now, rows }) {
  const expiredBefore = now - 20 * DAY_MS + Math.round((PURGED_ROWS * 20 * DAY_MS) / rows);
  const before = await cycles(journal, 3 * ROUND_MS);
  const startedAt = performance.now();
  let lastDeletionAt = startedAt;
  let deleted = 0;
  const watched = new Proxy(journal, {
    get: (target, name) => {
      if (name !== 'purgeStep') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
      return async (step) => {
        const progress = await target.purgeStep(step);
        deleted += progress?.deletedCount ?? 0;
        if (progress?.deletedCount) lastDeletionAt = performance.now();
        return progress;
      };
    },
  });
  const stop = startPurge(watched, expiredBefore);
  const during = await cycles(journal, 3 * ROUND_MS);
  await stop();
  const seconds = (lastDeletionAt - startedAt) / 1000;
  const p99 = ({ begin }) => quantile(begin, 0.99);
  return { rate: deleted / seconds, deleted, before: p99(before), during: p99(during) };
}

/** Measures a journal with `rows` rows beside one with 10,000. */
export async function measureSize({ name, rows, largeUrl, smallUrl }) {
  const { openJournal } = require('../../dist/datasources/journal/create-journal.js');
  const now = Date.now();
  for (const url of [smallUrl, largeUrl]) {
    const created = await openJournal(url, 60_000);
    await created.ping();
    await created.close();
  }
  await fill(smallUrl, SMALL, now);
  const fillSeconds = { value: 0 };
  fillSeconds.value = (await timed(async () => (fillSeconds.size = await fill(largeUrl, rows, now)))) / 1000;
  const { heap, indexes } = fillSeconds.size;
  const journals = {};
  const opened = {};
  for (const [which, url] of Object.entries({ small: smallUrl, large: largeUrl })) {
    opened[which] = await timed(async () => {
      journals[which] = await openJournal(url);
      await journals[which].ping();
      await journals[which].readFenceState();
    });
    await cycles(journals[which], WARM_UP_MS);
  }
  const results = { small: [], large: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const which of round % 2 ? ['small', 'large'] : ['large', 'small'])
      results[which].push(await cycles(journals[which], ROUND_MS));
  const rounds = (which, part, share) => results[which].map((sample) => quantile(sample[part], share));
  const rowOf = (part, share) => {
    const [small, large] = ['small', 'large'].map((which) => rounds(which, part, share));
    const title = `${part}, p${share * 100}`;
    const ratio = (median(large) / median(small)).toFixed(2);
    return [title, spread(small, ms), spread(large, ms), `${ratio} ×`];
  };
  const { large, small } = journals;
  const page = { service: SERVICE, client: 'client 1', channel: 'channel 1', limit: 50 };
  const calls = {
    'list of 50': (journal) => journal.list(page),
    'list of 50 with an outcome that has none': (journal) => journal.list({ ...page, outcome: 'rejected' }),
    'count of unknowns': (journal) => journal.countUnknown(SERVICE),
    'search by key for an operator': (journal) => journal.findAny(SERVICE, randomUUID()),
    'lookup of a transaction': (journal) => journal.findByTransaction(SERVICE, 'payment', randomUUID()),
  };
  const others = [];
  for (const [title, call] of Object.entries(calls)) {
    const times = { small: [], large: [] };
    for (let count = 0; count < 15; count += 1)
      for (const which of ['small', 'large'])
        times[which].push(await timed(() => call(journals[which]).catch(() => undefined)));
    const ratio = (median(times.large) / median(times.small)).toFixed(2);
    others.push([title, spread(times.small, ms), spread(times.large, ms), `${ratio} ×`]);
  }
  const purge = await measurePurge(large, { now, rows });
  await large.close();
  await small.close();
  print(`## ${name}: ${perSecond(rows)} rows beside ${perSecond(SMALL)}, ${CONCURRENCY} at once`);
  print();
  const bytes =
    indexes === null
      ? `${Math.round(heap)}`
      : `${Math.round(heap + indexes)} (table ${Math.round(heap)}, indexes ${Math.round(indexes)})`;
  print(`Bytes per row: ${bytes}. Written in ${Math.round(fillSeconds.value)} s. Times in milliseconds.`);
  print();
  const head = ['', perSecond(SMALL), perSecond(rows), 'ratio'];
  const latency = [rowOf('begin', 0.5), rowOf('begin', 0.99), rowOf('settle', 0.5), rowOf('settle', 0.99)];
  const start = [
    'opening',
    ms(opened.small),
    ms(opened.large),
    `${(opened.large / opened.small).toFixed(2)} ×`,
  ];
  print(table(head, [...latency, ...others, start]));
  print();
  print(
    `Purge of ${perSecond(purge.deleted)} rows: ${perSecond(purge.rate)} per second; p99 of begin ` +
      `${ms(purge.before)} before and ${ms(purge.during)} during the purge.`,
  );
  print();
}
