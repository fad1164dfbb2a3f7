// Targets of the gateway, as ratios to the baseline in the same rounds.
import { median, ms } from '../journal/stats.mjs';

const OWN = 'paygraph';
const BARS = {
  oneAim: 1.25,
  one: 1.6,
  page: 3,
  hotCalls: 0.05,
  createCpu: 4,
  createTime: 2.5,
  p99: 1.5,
  startMs: 1500,
  growth: 1.1,
};

const times = (value) => `${value.toFixed(2)} ×`;
const percent = (value) => `${(100 * value).toFixed(1)} %`;

/** Returns the median over the rounds of our figure divided by the baseline's; undefined if one is not measured. */
export function ratio(ours, floors, figure) {
  if (!ours || !floors) return undefined;
  return median(ours.map((round, place) => round[figure] / floors[place][figure]));
}

/** Distinct payments of a page. The baseline has no page, so a page is compared with this many of its single calls. */
const CALLS_OF_PAGE = 10;

/** Returns the rounds of the baseline that a workload is compared with. */
export function floorsOf(rounds, work) {
  if (work !== 'page') return rounds[work]?.floor;
  return rounds.one?.floor?.map(({ cpuMs }) => ({ cpuMs: CALLS_OF_PAGE * cpuMs }));
}

/** Returns the memory growth from the second part on, because the first part also loads and compiles code. */
export function growth({ held }) {
  const [, , ...settled] = held;
  const third = Math.max(1, Math.floor(settled.length / 3));
  return median(settled.slice(-third)) / median(settled.slice(0, third));
}

const bar = (what, wanted, value, format, met) =>
  value === undefined || Number.isNaN(value) ? null : { what, wanted, value: format(value), met: met(value) };

const ofRounds = ({ rounds = {} }, work) => ({ ours: rounds[work]?.[OWN], floors: floorsOf(rounds, work) });

function ofLookups(results) {
  const one = ofRounds(results, 'one');
  const page = ofRounds(results, 'page');
  const hot = ofRounds(results, 'hot');
  const cpuOfOne = ratio(one.ours, one.floors, 'cpuMs');
  const cpuOfPage = ratio(page.ours, page.floors, 'cpuMs');
  const within = (limit) => (value) => value <= limit;
  return [
    bar('one: CPU per request', `≤ ${BARS.one} × the floor`, cpuOfOne, times, within(BARS.one)),
    bar(
      'one: CPU per request, the aim',
      `≤ ${BARS.oneAim} × the floor`,
      cpuOfOne,
      times,
      within(BARS.oneAim),
    ),
    bar(
      'one: p99 of 50 connections',
      `≤ ${BARS.p99} × the floor's`,
      ratio(one.ours, one.floors, 'p99'),
      times,
      within(BARS.p99),
    ),
    bar('page: CPU', `≤ ${BARS.page} × the floor's ten calls`, cpuOfPage, times, within(BARS.page)),
    bar(
      'hot: service calls',
      `≤ ${percent(BARS.hotCalls)} of requests`,
      hot.ours && median(hot.ours.map(({ calls }) => calls)),
      percent,
      within(BARS.hotCalls),
    ),
    bar(
      'hot: CPU per request',
      'less than the floor',
      ratio(hot.ours, hot.floors, 'cpuMs'),
      times,
      (value) => value < 1,
    ),
  ];
}

function ofCreates({ syncMs, ...results }) {
  const many = ofRounds(results, 'create');
  const alone = ofRounds(results, 'create alone');
  const beyond = alone.ours?.map(({ p50 }, round) => ({ p50: p50 - syncMs[round] }));
  const wanted = (times) => `≤ ${times} × the floor's POST`;
  return [
    bar(
      'create with the journal: CPU',
      wanted(BARS.createCpu),
      ratio(many.ours, many.floors, 'cpuMs'),
      times,
      (value) => value <= BARS.createCpu,
    ),
    bar(
      'create with the journal: time beyond the sync',
      wanted(BARS.createTime),
      ratio(beyond, alone.floors, 'p50'),
      times,
      (value) => value <= BARS.createTime,
    ),
  ];
}

function ofProcess({ starts, memory }) {
  const { requests } = memory?.[OWN] ?? {};
  return [
    bar(
      'start to first response',
      `≤ ${ms(BARS.startMs / 1000)} s`,
      starts?.[OWN] && median(starts[OWN]) / 1000,
      (value) => `${ms(value)} s`,
      (value) => value <= BARS.startMs / 1000,
    ),
    bar(
      `memory over ${(requests ?? 0).toLocaleString('en')} requests`,
      `≤ ${BARS.growth} × after it has settled`,
      memory?.[OWN] && growth(memory[OWN]),
      times,
      (value) => value <= BARS.growth,
    ),
  ];
}

/** Returns every target for which there is a measurement. */
export const bars = (results) =>
  [ofLookups, ofCreates, ofProcess].flatMap((of) => of(results)).filter((each) => each !== null);
