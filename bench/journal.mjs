// `npm run bench:journal`: time and CPU that the journal adds to a create, creates per second, and journal calls per
// lookup. Everything is measured in one run, with real sockets, files and databases. See docs/benchmarks.md.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build, isFresh } from '../scripts/build.mjs';
import { Caller } from './journal/caller.mjs';
import { openDisk } from './journal/disk.mjs';
import { median, ms, perSecond, spread, table } from './journal/stats.mjs';
import { countLookups } from './journal/lookups.mjs';
import { freshDatabase } from './journal/postgres.mjs';
import { start } from './journal/processes.mjs';
import { measureSize } from './journal/size.mjs';
import { readOptions } from '../scripts/options.mjs';

const ROUNDS = 10;
const CREATES_PER_ROUND = 60;
const WARM_UP = 300;
const CONCURRENCY = 64;
const THROUGHPUT_ROUNDS = 5;
const THROUGHPUT_MS = 3000;

const BARS = { addedMs: 1, perSecond: { SQLite: 1500, PostgreSQL: 3000 } };

const print = (text = '') => process.stdout.write(`${text}\n`);
const verdict = (met) => (met ? 'met' : 'NOT MET');

/** Measures rounds of single creates. Measurements alternate, so that disturbances affect all of them alike. */
async function measureLatency(measurements) {
  const rounds = new Map(measurements.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const samples = new Map(measurements.map(({ name }) => [name, []]));
    for (let turn = 0; turn < CREATES_PER_ROUND; turn += 1) {
      // The order rotates from turn to turn.
      for (let place = 0; place < measurements.length; place += 1) {
        const { name, once } = measurements[(place + turn) % measurements.length];
        samples.get(name).push(await once());
      }
    }
    for (const [name, sample] of samples) rounds.get(name).push(median(sample));
  }
  return rounds;
}

async function latency({ gateways, disk }) {
  for (const { caller } of gateways) for (let count = 0; count < WARM_UP; count += 1) await caller.create();
  const rounds = await measureLatency([
    ...gateways.map(({ name, caller }) => ({ name, once: () => caller.create() })),
    { name: 'append', once: async () => disk.append() },
    { name: 'commit', once: async () => disk.commit() },
  ]);
  const added = (name) => rounds.get(name).map((value, round) => value - rounds.get('none')[round]);
  const beyond = (name) => added(name).map((value, round) => value - rounds.get('append')[round]);
  const rows = [
    ['fdatasync of 4 KB appended', spread(rounds.get('append'), ms), '', '', ''],
    ['one commit of SQLite', spread(rounds.get('commit'), ms), '', '', ''],
    ['create without a journal', spread(rounds.get('none'), ms), '', '', ''],
  ];
  for (const { name } of gateways.filter((gateway) => gateway.journalUrl)) {
    const bar =
      name === 'SQLite' ? `≤ ${ms(BARS.addedMs)}: ${verdict(median(beyond(name)) <= BARS.addedMs)}` : 'none';
    rows.push([
      `create with ${name}`,
      spread(rounds.get(name), ms),
      spread(added(name), ms),
      spread(beyond(name), ms),
      bar,
    ]);
  }
  print('## One create after another, in milliseconds');
  print();
  print(table(['', 'median (rounds)', 'added by the journal', 'beyond the sync', 'target'], rows));
  print();
}

async function throughput({ gateways, journals }) {
  const measurements = [
    ...gateways.map(({ name, caller }) => ({
      name: `gateway, ${name === 'none' ? 'no journal' : name}`,
      run: () => caller.createMany(CONCURRENCY, THROUGHPUT_MS),
    })),
    ...journals.map(({ name, process: journal }) => ({
      name: `journal alone, ${name}`,
      bar: BARS.perSecond[name],
      run: () => journal.ask({ concurrency: CONCURRENCY, milliseconds: THROUGHPUT_MS }),
    })),
  ];
  const results = new Map(measurements.map(({ name }) => [name, []]));
  for (let round = 0; round <= THROUGHPUT_ROUNDS; round += 1) {
    for (const { name, run } of measurements) {
      const result = await run();
      // The first round warms up.
      if (round > 0) results.get(name).push(result);
    }
  }
  const ceiling = median(results.get('gateway, no journal').map(({ rate }) => rate));
  const rows = measurements.map(({ name, bar }) => {
    const rates = results.get(name).map(({ rate }) => rate);
    const cpu = results.get(name).flatMap(({ cpuMs }) => cpuMs ?? []);
    return [
      name,
      spread(rates, perSecond),
      cpu.length > 0 ? '' : `${Math.round((100 * median(rates)) / ceiling)} %`,
      cpu.length > 0 ? ms(median(cpu)) : '',
      String(results.get(name).reduce((sum, { refused = 0 }) => sum + refused, 0)),
      bar ? `≥ ${perSecond(bar)}: ${verdict(median(rates) >= bar)}` : '',
    ];
  });
  print(`## ${CONCURRENCY} creates at once`);
  print();
  print(table(['', 'per second', 'relative to no journal', 'CPU ms each', 'rejected', 'target'], rows));
  print();
}

async function lookups({ serviceUrl, journalUrl }) {
  const gateway = await start('gateway-process.mjs', { serviceUrl, journalUrl, count: true });
  const caller = new Caller(gateway.ready, 1);
  const counted = await countLookups(caller, gateway);
  await caller.close();
  await gateway.stop();
  const rows = counted.map(({ name, calls, met }) => {
    const words = Object.entries(calls).map(([call, count]) => `${count} × ${call}`);
    return [name, words.join(', ') || 'nothing', verdict(met)];
  });
  print('## Journal calls per lookup');
  print();
  print(table(['lookup', 'calls', 'none, or one per payout'], rows));
}

function printMachine(postgres) {
  const [cpu] = os.cpus();
  const sqlite = process.versions.sqlite;
  print(
    `${os.availableParallelism()} cores (${cpu.model.trim()}), ${Math.round(os.totalmem() / 2 ** 30)} GB, ` +
      `${os.type()} ${os.release()}, Node.js ${process.versions.node}, SQLite ${sqlite}, ` +
      `PostgreSQL ${postgres?.version ?? '(none)'}; load average before: ${os.loadavg()[0].toFixed(1)}`,
  );
  print();
}

async function run(folder, postgres) {
  printMachine(postgres);
  const stores = [{ name: 'SQLite', urlOf: (use) => `file:${path.join(folder, `${use}.db`)}` }];
  if (postgres) stores.push({ name: 'PostgreSQL', urlOf: () => postgres.url });
  const service = await start('service-process.mjs', {});
  const serviceUrl = service.ready;
  const startGateway = async ({ name, journalUrl }) => {
    const gateway = await start('gateway-process.mjs', { serviceUrl, journalUrl });
    return { name, journalUrl, process: gateway, caller: new Caller(gateway.ready, CONCURRENCY) };
  };
  const gateways = [await startGateway({ name: 'none' })];
  const journals = [];
  for (const { name, urlOf } of stores) {
    gateways.push(await startGateway({ name, journalUrl: urlOf('gateway') }));
    journals.push({ name, process: await start('journal-process.mjs', { journalUrl: urlOf('alone') }) });
  }
  const disk = openDisk(folder);
  await latency({ gateways, disk });
  disk.close();
  await throughput({ gateways, journals });
  await lookups({ serviceUrl, journalUrl: stores[0].urlOf('lookups') });
  for (const { caller } of gateways) await caller.close();
  for (const { process: part } of [...gateways, ...journals, { process: service }]) await part.stop();
}

/** `--rows N`: a journal of N rows in PostgreSQL, and of N / 4 in SQLite, beside one of 10,000. */
async function runSizes(folder, postgres, rows) {
  printMachine(postgres);
  const small = postgres && (await freshDatabase());
  try {
    if (postgres)
      await measureSize({ name: 'PostgreSQL', rows, largeUrl: postgres.url, smallUrl: small.url });
  } finally {
    await small?.drop();
  }
  const [largeUrl, smallUrl] = ['large', 'small'].map((name) => `file:${path.join(folder, `${name}.db`)}`);
  await measureSize({ name: 'SQLite', rows: Math.ceil(rows / 4), largeUrl, smallUrl });
}

const { values } = readOptions({ options: { rows: { type: 'string' } } });
if (!isFresh() && !build()) process.exit(1);
const postgres = await freshDatabase();
if (!postgres)
  print('SKIPPED: PostgreSQL is not measured, because it cannot be reached (see TEST_DATABASE_URL).\n');
// The folder is on the disk of the default journal, because a temporary folder may be in memory.
const data = path.resolve(import.meta.dirname, '..', 'data');
mkdirSync(data, { recursive: true });
const folder = mkdtempSync(path.join(data, 'bench-'));
try {
  if (values.rows) await runSizes(folder, postgres, Number(values.rows));
  else await run(folder, postgres);
} finally {
  rmSync(folder, { recursive: true, force: true });
  await postgres?.drop();
}
