// npm run example:payouts -- <list.csv|list.json>: pays out a list through the gateway. It may be killed at any moment
// and can be repeated: no payout is created twice.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Gateway } from './gateway.ts';
import { ListError, readLines, type Line } from './lines.ts';
import { payOut, type Outcome, type PayOutOptions } from './pay-out.ts';
import { entryOf, exitCodeOf, reportOf } from './report.ts';
import { settled } from './settling.ts';

const USAGE = `Pays out a list. It may be run again with the same list any number of times.

  npm run example:payouts -- <list.csv|list.json> [--channel <uuid>] [--patience <seconds>] [--wait <seconds>]

--channel   the merchant channel; the sandbox accepts any
--patience  for how long a payout is retried without a response or with an unknown outcome; default 300
--wait      for how long to wait until the created payouts are completed or failed; default 30

PAYGRAPH_URL is the URL of the gateway (default http://127.0.0.1:4000), PAYGRAPH_KEY_FILE the file with your client key.

Exit code 0: all payouts are paid or under way. 1: some were declined or refused, and a person has to check them. 3: the
outcome of some is unknown, and the list has to be run again. 2: the list or the settings are invalid; nothing was sent.
`;

/** Number of payouts that are sent at the same time. */
const AT_ONCE = 4;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Maps all items with limited concurrency; returns the results in order. */
async function eachOf<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [place, item] of rest) results[place] = await task(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

function gatewayOfSettings(): Gateway {
  const { PAYGRAPH_URL = 'http://127.0.0.1:4000', PAYGRAPH_KEY_FILE: file } = process.env;
  return new Gateway(new URL('graphql', `${PAYGRAPH_URL}/`).href, file && readFileSync(file, 'utf8').trim());
}

interface Run {
  lines: Line[];
  options: PayOutOptions;
  waitMs: number;
}

/** Reads the command line and the list. Throws a ListError, or an error of parseArgs. */
function readRun(): Run {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      channel: { type: 'string', default: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10' },
      patience: { type: 'string', default: '300' },
      wait: { type: 'string', default: '30' },
    },
  });
  const [file, ...others] = positionals;
  const [patienceMs, waitMs] = [Number(values.patience) * 1000, Number(values.wait) * 1000];
  if (!file || others.length > 0 || !(patienceMs >= 0) || !(waitMs >= 0)) throw new ListError(USAGE);
  const onRetry = (line: Line, why: string): void => say(`${line.reference}: ${why}; trying again`);
  const options = { gateway: gatewayOfSettings(), channel: values.channel, patienceMs, onRetry };
  return { lines: readLines(file), options, waitMs };
}

async function payAll({ lines, options, waitMs }: Run): Promise<number> {
  const outcomes = await eachOf<Line, Outcome>(lines, (line) => payOut(line, options));
  const created = outcomes.flatMap((outcome) => (outcome.kind === 'created' ? [outcome.payout] : []));
  const newest = await settled(options.gateway, created, waitMs);
  const entries = outcomes.flatMap((outcome, place) => {
    const line = lines[place];
    return line ? [entryOf(line, outcome, newest)] : [];
  });
  say(reportOf(entries));
  return exitCodeOf(entries);
}

let run: Run;
try {
  run = readRun();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(2);
}
process.exitCode = await payAll(run);
