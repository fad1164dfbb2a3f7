// Markdown tables of the figures.
import { median, ms, perSecond, spread, table } from '../journal/stats.mjs';
import { bars, floorsOf, ratio } from './thresholds.mjs';

const TITLES = {
  one: '`one`: a payment by transactionId, every request another id, 50 connections',
  hot: '`hot`: the same, all 50 connections requesting one id',
  page: '`page`: 100 payments of 10 ids in one operation, 10 connections',
  create: '`create`: createPayment in the redirect flow, 50 connections',
  'create alone': '`create`, one after another',
  tiny: '`tiny`: `{ __typename }`, 50 connections',
};

const figures = (rounds, figure) => rounds.map((round) => round[figure]);
const micro = (value) => perSecond(1000 * value);
const whole = (value) => value.toFixed(0);

function workTable(all, work) {
  const floors = floorsOf(all, work);
  const rows = Object.entries(all[work]).map(([name, rounds]) => {
    const toFloor = ratio(rounds, floors, 'cpuMs');
    return [
      name,
      spread(figures(rounds, 'cpuMs'), micro),
      toFloor === undefined ? '' : `${toFloor.toFixed(2)} ×`,
      spread(figures(rounds, 'perSecond'), perSecond),
      ms(median(figures(rounds, 'p50'))),
      spread(figures(rounds, 'p99'), ms),
      ms(median(figures(rounds, 'calls'))),
      `${whole(median(figures(rounds, 'usedPercent')))} %`,
    ];
  });
  return table(
    [
      '',
      'CPU µs each',
      work === 'page' ? "of the floor's ten calls" : 'of the floor',
      'per second',
      'p50 ms',
      'p99 ms',
      'service calls each',
      'of its core',
    ],
    rows,
  );
}

function processTable({ starts = {}, memory = {} }) {
  const names = [...new Set([...Object.keys(starts), ...Object.keys(memory)])];
  const rows = names.map((name) => {
    const { held, requests } = memory[name] ?? {};
    return [
      name,
      starts[name] ? spread(starts[name], whole) : '',
      held ? whole(held[0]) : '',
      held ? whole(held.at(-1)) : '',
      held ? requests.toLocaleString('en') : '',
    ];
  });
  return table(['', 'start to first response, ms', 'MB then', 'MB after requests', 'requests'], rows);
}

export function barsTable(results) {
  const rows = bars(results).map(({ what, wanted, value, met }) => [
    what,
    wanted,
    value,
    met ? 'met' : 'NOT MET',
  ]);
  return table(['', 'bar', 'measured', ''], rows);
}

/** Returns a line with the number of creates that were rejected because the journal timed out; empty if none were. */
function refusals(rounds) {
  const all = Object.values(rounds).flatMap((ofWork) => Object.values(ofWork).flat());
  const refused = all.reduce((sum, round) => sum + (round.refused ?? 0), 0);
  return refused === 0
    ? []
    : [`${refused} creates were rejected because the journal timed out; they are not counted.`];
}

/** Returns all tables, each with an introductory line. */
export function tables(results) {
  const parts = [];
  for (const work of Object.keys(results.rounds ?? {}))
    parts.push(`${TITLES[work]}:`, workTable(results.rounds, work));
  if (results.syncMs !== undefined)
    parts.push(`One sync of the disk took ${spread(results.syncMs, ms)} ms; a create waits for two.`);
  parts.push(...refusals(results.rounds ?? {}));
  if (results.starts || results.memory) parts.push('Starting, and memory:', processTable(results));
  parts.push('Targets:', barsTable(results));
  return parts.join('\n\n');
}
