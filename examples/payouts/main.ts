// npm run example:payouts -- <list.csv|list.json>: pays out a list through the gateway. It may be killed at any moment
// and can be repeated: no payout is created twice.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Gateway } from './gateway.ts';
import { ListError, readLines, type Line } from './lines.ts';
import { payOut, type Outcome, type PayOutOptions } from './pay-out.ts';
import { entryOf, exitCodeOf, reportOf } from './report.ts';
import { pollUntilFinal } from './settling.ts';

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
const MAX_CONCURRENT_PAYOUTS = 4;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Maps all items with limited concurrency; returns the results in order. */
async function mapConcurrently<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  const remaining = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of remaining) results[index] = await task(item);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_PAYOUTS }, worker));
  return results;
}

function createGateway(): Gateway {
  const { PAYGRAPH_URL = 'http://127.0.0.1:4000', PAYGRAPH_KEY_FILE: file } = process.env;
  return new Gateway(new URL('graphql', `${PAYGRAPH_URL}/`).href, file && readFileSync(file, 'utf8').trim());
}

interface RunSettings {
  lines: Line[];
  options: PayOutOptions;
  waitMs: number;
}

/** Reads the command line and the list. Throws a ListError, or an error of parseArgs. */
function readRunSettings(): RunSettings {
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
  const onRetry = (line: Line, reason: string): void => print(`${line.reference}: ${reason}; trying again`);
  const options = { gateway: createGateway(), channel: values.channel, patienceMs, onRetry };
  return { lines: readLines(file), options, waitMs };
}

async function payAll({ lines, options, waitMs }: RunSettings): Promise<number> {
  const outcomes = await mapConcurrently<Line, Outcome>(lines, (line) => payOut(line, options));
  const createdPayouts = outcomes.flatMap((outcome) => (outcome.kind === 'created' ? [outcome.payout] : []));
  const payoutById = await pollUntilFinal(options.gateway, createdPayouts, waitMs);
  const entries = outcomes.flatMap((outcome, index) => {
    const line = lines[index];
    return line ? [entryOf(line, outcome, payoutById)] : [];
  });
  print(reportOf(entries));
  return exitCodeOf(entries);
}

let settings: RunSettings;
try {
  settings = readRunSettings();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(2);
}
process.exitCode = await payAll(settings);
