// `npm run bench:subscriptions`: cost of live updates and delay from a change to the subscriber. Everything is measured in
// one run, with real sockets and processes. `-- --scale 0.02` uses a fiftieth of the subscribers; positional arguments
// select parts: `-- memory changes`. See docs/benchmarks.md.
import os from 'node:os';
import process from 'node:process';
import { build, isFresh } from '../scripts/build.mjs';
import { median, quantile, spread, table } from './journal/stats.mjs';
import { measureCalls } from './subscriptions/calls.mjs';
import { measureChanges } from './subscriptions/changes.mjs';
import { measureFeed } from './subscriptions/feed.mjs';
import { measureMemory } from './subscriptions/memory.mjs';
import { MIXED } from './subscriptions/payments.mjs';
import { measurePolling } from './subscriptions/polling.mjs';
import { constantPace, startService } from './subscriptions/harness.mjs';
import { readOptions } from '../scripts/options.mjs';

const BARS = { callsApart: 0.05, memoryKb: 20, seenMs: 250, hintedMs: 150, feedMs: 250 };

const { values, positionals } = readOptions({
  options: { scale: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const scaled = (count) => Math.max(10, Math.round(count * Number(values.scale)));
const WATCHERS = scaled(10_000);
const PAYMENTS = scaled(1000);
const OF_ONE_PAYMENT = scaled(1000);
const AGAINST_POLLERS = scaled(500);
const CHANGES = 100;
const HINTS = 150;
const FEED_SUBSCRIBERS = 3;
const FEED_CHANGES = scaled(300);
const ROUND_MS = 10_000;

const print = (text = '') => process.stdout.write(`${text}\n`);
const verdict = (met) => (met ? 'met' : 'NOT MET');
const whole = (value) => Math.round(value).toLocaleString('en');
const tenth = (value) => value.toFixed(1);
const rounds = (sides, figure, format) =>
  spread(
    sides.map((side) => side[figure]),
    format,
  );
const sum = (sides, figure) => sides.reduce((total, side) => total + side[figure], 0);
const factor = (many, few) => `${tenth(many / few)} times`;

async function calls(service) {
  const common = { watchers: WATCHERS, paymentCount: PAYMENTS, mix: MIXED, roundMs: ROUND_MS };
  const schedules = [
    ['every 5 s', { name: 'constant', settings: constantPace('5s') }],
    ['the default', { name: 'default', settings: {} }],
  ];
  const rows = [];
  for (const [pace, how] of schedules) {
    const { many, single } = await measureCalls(service, { ...common, ...how });
    const ratio = sum(many, 'lookups') / sum(single, 'lookups');
    const row = (watchers, side, ...last) => [
      pace,
      whole(watchers),
      rounds(side, 'lookups', tenth),
      rounds(side, 'results', tenth),
      `${rounds(side, 'cpuPercent', tenth)} %`,
      ...last,
    ];
    const met = Math.abs(ratio - 1) <= BARS.callsApart;
    rows.push(row(PAYMENTS, single, '', ''));
    rows.push(row(WATCHERS, many, `${(100 * ratio).toFixed(1)} %`, `95–105 %: ${verdict(met)}`));
  }
  print(`## Subscribers of ${whole(PAYMENTS)} payments, per second`);
  print();
  print(
    table(['payments', 'subscribers', 'service calls', 'results', 'CPU', 'ratio to single', 'target'], rows),
  );
}

async function memory(service) {
  const ways = await measureMemory(service, { watchers: WATCHERS, paymentCount: PAYMENTS });
  const rows = ways.map(({ name, rss, heapUsed, external }) => [
    name,
    tenth(rss),
    tenth(heapUsed),
    tenth(external),
    `≤ ${BARS.memoryKb}: ${verdict(rss <= BARS.memoryKb)}`,
  ]);
  print(`## Memory per subscriber in KB, ${whole(WATCHERS)} idle subscribers`);
  print();
  print(table(['connections', 'RSS', 'heap', 'external', 'target'], rows));
}

const DELAY_COLUMNS = ['', 'changes', 'median', 'p99', 'maximum', 'target'];
const delayRow = (name, sample, barMs) => {
  const p99 = quantile(sample, 0.99);
  const bar = barMs ? `p99 ≤ ${barMs}: ${verdict(p99 <= barMs)}` : 'none';
  return [name, whole(sample.length), tenth(median(sample)), tenth(p99), tenth(Math.max(...sample)), bar];
};

async function changes(service) {
  const measured = await measureChanges(service, {
    watchers: OF_ONE_PAYMENT,
    changes: CHANGES,
    hints: HINTS,
  });
  print('## From a change to its subscribers, in milliseconds');
  print();
  print(
    table(DELAY_COLUMNS, [
      delayRow(`found by a query, to the last of ${whole(OF_ONE_PAYMENT)}`, measured.seen, BARS.seenMs),
      delayRow("announced by a callback, beyond the lookup's time", measured.single, BARS.hintedMs),
      delayRow('announced 100 ms after another of the same payment', measured.again, BARS.hintedMs),
      delayRow(`announced, ${HINTS} payments at once`, measured.together),
    ]),
  );
}

async function feed(service) {
  const measured = await measureFeed(service, { subscribers: FEED_SUBSCRIBERS, changes: FEED_CHANGES });
  print('## From a change to the subscribers of `changes` at another gateway on PostgreSQL, in milliseconds');
  print();
  if (measured === null) return print('SKIPPED: PostgreSQL cannot be reached (see TEST_DATABASE_URL).');
  const { single, together } = measured;
  print(
    table(DELAY_COLUMNS, [
      delayRow('found by a query, one by one', single, BARS.feedMs),
      delayRow(`found by queries, ${whole(together.length)} at once`, together, BARS.feedMs),
    ]),
  );
}

async function polling(service) {
  const { watching, asking, refused } = await measurePolling(service, {
    clients: AGAINST_POLLERS,
    paymentCount: Math.ceil(AGAINST_POLLERS / 10),
    mix: MIXED,
    roundMs: ROUND_MS,
  });
  const row = (name, side) => [
    name,
    rounds(side, 'lookups', tenth),
    rounds(side, 'results', tenth),
    `${rounds(side, 'cpuPercent', tenth)} %`,
  ];
  const of = (figure) => factor(sum(asking, figure), sum(watching, figure));
  print(
    `## ${whole(AGAINST_POLLERS)} subscribers and ${whole(AGAINST_POLLERS)} clients that poll once a second, per second`,
  );
  print();
  print(
    table(
      ['', 'service calls', 'results', 'CPU'],
      [
        row('subscribing', watching),
        row('polling', asking),
        ['polling / subscribing', of('lookups'), '', of('cpuPercent')],
      ],
    ),
  );
  if (refused > 0) print(`\n${whole(refused)} polls were rejected.`);
}

function printMachine() {
  const [cpu] = os.cpus();
  print(
    `${os.availableParallelism()} cores (${cpu.model.trim()}), ${Math.round(os.totalmem() / 2 ** 30)} GB, ` +
      `${os.type()} ${os.release()}, Node.js ${process.versions.node}; ` +
      `load average before: ${os.loadavg()[0].toFixed(1)}`,
  );
}

const PARTS = { calls, memory, changes, feed, polling };

if (!isFresh() && !build()) process.exit(1);
printMachine();
for (const name of positionals.length > 0 ? positionals : Object.keys(PARTS)) {
  const service = await startService();
  print();
  await PARTS[name](service);
  await service.stop();
}
