// Writes the generated section of docs/benchmarks.md and its chart.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { chart } from './chart.mjs';
import { tables } from './report.mjs';

const BEGIN = '<!-- written by npm run bench -->';
const END = '<!-- end of what npm run bench writes -->';
const CHART = 'benchmarks.svg';
const PANELS = {
  one: 'one: a payment by its id',
  hot: 'hot: one payment, asked for by all',
  page: 'page: 100 payments of 10 ids in one operation',
  create: 'create: a payment in the redirect flow',
  tiny: 'tiny: { __typename }',
};

const HOW = `Each gateway is alone on one core; the service and the load generator share another. All are measured in turn, round by
round, so that noise affects all alike; the first round warms up. Processor time is what the operating system accounts to the
gateway's processes, per request; it is steadier than requests per second, and valid also where the load generator is the limit.
Figures are medians over the rounds, with minimum and maximum; ratios to the floor are of the same round. Responses are checked,
some field by field, and some signatures after each run.`;

function section(results) {
  const { machine, date, versions, gateways } = results;
  const list = gateways.map(({ name, what }) => `- **${name}**: ${what}`).join('\n');
  return `## Against the bare service call: \`npm run bench\`

${HOW}

${list}

${machine}; ${date}; ${versions}.

![Processor time of one request, by gateway](${CHART})

${tables(results)}`;
}

/** Replaces the section in the document, or inserts it first. */
function placed(document, written) {
  const part = `${BEGIN}\n\n${written}\n\n${END}`;
  const from = document.indexOf(BEGIN);
  if (from >= 0) return document.slice(0, from) + part + document.slice(document.indexOf(END) + END.length);
  const titleEnd = document.indexOf('\n') + 1;
  return `${document.slice(0, titleEnd)}\n${part}\n${document.slice(titleEnd)}`;
}

/** Writes section and chart into the docs folder. */
export async function writeDocument(results, folder) {
  const file = path.join(folder, 'benchmarks.md');
  const text = placed(readFileSync(file, 'utf8'), section(results));
  writeFileSync(file, await format(text, { ...(await resolveConfig(file)), parser: 'markdown' }));
  writeFileSync(path.join(folder, CHART), chart(results.rounds ?? {}, PANELS));
}
