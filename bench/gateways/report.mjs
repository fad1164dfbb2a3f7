// Markdown tables of the figures.
import { median, ms, perSecond, spread, table } from '../journal/stats.mjs';
import { bars, floorsOf, ratio } from './thresholds.mjs';

const WORKLOADS = `\`one\`: a payment by transactionId, every request another id, 50 connections. \`hot\`: the same, all requesting one id.
\`page\`: 100 payments of 10 ids in one operation, 10 connections (ratio to the floor's ten calls). \`create\`: createPayment in the
redirect flow, 50 connections; \`create alone\`: one after another. \`tiny\`: \`{ __typename }\`, 50 connections.`;

const figures = (rounds, figure) => rounds.map((round) => round[figure]);
const micro = (value) => perSecond(1000 * value);
const whole = (value) => value.toFixed(0);

/** Returns a table with a row per gateway and a column per workload. */
function workTable({ gateways, rounds }, cellOf) {
  const works = Object.keys(rounds);
  const rows = gateways
    .filter(({ name }) => works.some((work) => rounds[work][name]))
    .map(({ name }) => [
      name,
      ...works.map((work) => (rounds[work][name] ? cellOf(work, rounds[work][name]) : '')),
    ]);
  return table(['', ...works.map((work) => `\`${work}\``)], rows);
}

function processorTime(results) {
  return workTable(results, (work, rounds) => {
    const toFloor = ratio(rounds, floorsOf(results.rounds, work), 'cpuMs');
    const time = spread(figures(rounds, 'cpuMs'), micro);
    return toFloor === undefined ? time : `${time}, ${toFloor.toFixed(2)} ×`;
  });
}

const throughput = (results) =>
  workTable(results, (_work, rounds) => {
    const requests = perSecond(median(figures(rounds, 'perSecond')));
    return `${requests}/s, p99 ${ms(median(figures(rounds, 'p99')))}`;
  });

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
  if (results.rounds) {
    parts.push(
      WORKLOADS,
      'Processor time of one request in µs, and its ratio to the floor:',
      processorTime(results),
    );
    parts.push('Requests per second, and the 99th percentile of their duration in ms:', throughput(results));
  }
  if (results.syncMs !== undefined)
    parts.push(`One sync of the disk took ${spread(results.syncMs, ms)} ms; a create waits for one.`);
  parts.push(...refusals(results.rounds ?? {}));
  if (results.starts || results.memory) parts.push('Starting, and memory:', processTable(results));
  parts.push('Targets:', barsTable(results));
  return parts.join('\n\n');
}
