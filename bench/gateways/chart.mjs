// Bar chart in SVG: CPU time per request, one panel per workload.
import { summary } from '../journal/stats.mjs';
import { floorsOf, ratio } from './thresholds.mjs';

const WIDTH = 860;
const NAMES = 190;
const VALUES = 150;
const ROW = 22;
const HEAD = 34;
const GAP = 18;
const MARGIN = 16;
const MAX_BAR_WIDTH = WIDTH - NAMES - VALUES - 2 * MARGIN;
const COLOURS = { floor: '#8a8f98', own: '#1f6feb', other: '#b6c2d1' };

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const micro = (value) => `${Math.round(1000 * value).toLocaleString('en')} µs`;
const colourOf = (name) => {
  if (name === 'floor') return COLOURS.floor;
  return name.startsWith('paygraph') ? COLOURS.own : COLOURS.other;
};

const text = (x, y, words, more = '') => `<text x="${x}" y="${y}"${more}>${escape(words)}</text>`;

/** Returns a bar for the median with a line from minimum to maximum, labelled with the ratio to the baseline. */
function bar({ name, cpu, toFloor }, { most, y }) {
  const { median, least, most: greatest } = summary(cpu);
  const left = MARGIN + NAMES;
  const scale = (value) => (value / most) * MAX_BAR_WIDTH;
  const middle = y + ROW / 2;
  const end = left + scale(greatest);
  const times = toFloor === undefined ? '' : `  (${toFloor.toFixed(2)} ×)`;
  return [
    text(left - 8, middle + 4, name, ' text-anchor="end"'),
    `<rect x="${left}" y="${y + 3}" width="${scale(median).toFixed(1)}" height="${ROW - 6}" fill="${colourOf(name)}"/>`,
    `<line x1="${(left + scale(least)).toFixed(1)}" x2="${end.toFixed(1)}" y1="${middle}" y2="${middle}" stroke="#24292f"/>`,
    text((end + 6).toFixed(1), middle + 4, `${micro(median)}${times}`),
  ];
}

function panel(title, { rounds, work, top }) {
  const floors = floorsOf(rounds, work);
  const gateways = Object.entries(rounds[work]).map(([name, each]) => ({
    name,
    cpu: each.map(({ cpuMs }) => cpuMs),
    toFloor: ratio(each, floors, 'cpuMs'),
  }));
  const most = Math.max(...gateways.flatMap(({ cpu }) => cpu));
  const lines = [text(MARGIN, top + 20, title, ' font-weight="bold"')];
  gateways.forEach((gateway, place) => lines.push(...bar(gateway, { most, y: top + HEAD + place * ROW })));
  return { lines, height: HEAD + gateways.length * ROW + GAP };
}

/** Returns the SVG chart of the rounds; `titles` has the title of each panel by workload, in order. */
export function chart(rounds, titles) {
  const lines = [];
  let top = MARGIN;
  for (const [work, title] of Object.entries(titles)) {
    if (!rounds[work]) continue;
    const drawn = panel(title, { rounds, work, top });
    lines.push(...drawn.lines);
    top += drawn.height;
  }
  const head =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" ` +
    'font-family="system-ui, sans-serif" font-size="13" fill="#24292f" role="img" ' +
    'aria-label="Processor time of one request, by gateway">';
  return [head, `<rect width="${WIDTH}" height="${top}" fill="#ffffff"/>`, ...lines, '</svg>', ''].join('\n');
}
