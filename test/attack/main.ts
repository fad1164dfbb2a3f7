import { parseArgs } from 'node:util';
import { Random } from '../chaos/random';
import type { Attack, Outcome } from './attack';
import { attacksOnAccess } from './attacks-on-access';
import { ATTACKS_ON_DOCUMENTS } from './attacks-on-documents';
import { ATTACKS_ON_HTTP } from './attacks-on-http';
import { greed, overload } from './floods';
import { startForger } from './forgeries';
import { Target } from './target';
import { HealthWatch } from './threads';
import { unreadResponses } from './unread-responses';

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

/** A client is given up after this, so that the slow ones do not take the whole time. */
const CLIENT_TIMEOUT_MS = 1000;

interface Row {
  name: string;
  outcome: Outcome;
  worstMs: number;
  memory: [before: number | undefined, after: number | undefined];
}

const COLUMNS = [34, 9, 12, 18, 16] as const;

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, place) => (place === 0 ? cell.padEnd(COLUMNS[0]) : cell.padStart(COLUMNS[place] ?? 0)))
    .join('');

function printRow({ name, outcome, worstMs, memory: [before, after] }: Row): void {
  const through = outcome.through.length === 0 ? 'nothing' : `${outcome.through.length} !`;
  const memory = before === undefined ? '?' : `${before} → ${after} MB`;
  say(line([name, String(outcome.tried), through, `${Math.round(worstMs)} ms`, memory]));
  if (outcome.note) say(`    ${outcome.note}`);
  for (const what of outcome.through.slice(0, 10)) say(`    GOT THROUGH: ${what.slice(0, 300)}`);
}

/** Runs one attack, and looks at the gateway from outside meanwhile. */
async function attack(target: Target, name: string, run: () => Promise<Outcome>): Promise<Row> {
  const watch = await HealthWatch.start(target.base);
  const before = target.memory();
  try {
    const outcome = await run();
    const { worstMs, failures } = await watch.seen();
    if (failures > 0) outcome.through.push(`/healthz failed ${failures} times`);
    return { name, outcome, worstMs, memory: [before, target.memory()] };
  } finally {
    await watch.close();
  }
}

/** A gateway as it would be, and what is tried against it; then it is told to end, and has to do so in order. */
async function against(
  env: Record<string, string>,
  tries: readonly { name: string; run(target: Target): Promise<Outcome> }[],
): Promise<Row[]> {
  const target = await Target.start(env);
  const rows: Row[] = [];
  try {
    for (const { name, run } of tries) {
      const row = await attack(target, name, () => run(target));
      printRow(row);
      rows.push(row);
    }
    const code = await target.stop();
    rows.at(-1)?.outcome.through.push(...(code === 0 ? [] : [`the gateway ended with ${code}`]));
    if (code !== 0)
      say(`    GOT THROUGH: the gateway ended with ${code}: ${target.program.output().slice(-1000)}`);
    return rows;
  } finally {
    await target.close();
  }
}

/** Tries everything; resolves to the exit code. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      seconds: { type: 'string', default: '50' },
    },
  });
  const seed = Number(values.seed);
  const ms = Number(values.seconds) * 1000;
  const random = new Random(seed);
  say(`seed ${seed}`);
  say();
  say(line(['what was tried', 'times', 'got through', 'slowest /healthz', 'memory']));
  const forger = await startForger();
  const named = (attacks: readonly Attack[]) =>
    attacks.map(({ name, share = 0, run }) => ({
      name,
      run: (target: Target) => run(target, { random, seed, ms: ms * share }),
    }));
  try {
    const rows = [
      // Without a limit on how often: what is wrong must not be hidden by a 429.
      ...(await against(
        { ...forger.env, CLIENT_TIMEOUT_MS: String(CLIENT_TIMEOUT_MS), RATE_LIMIT_PER_MINUTE: '0' },
        named([...ATTACKS_ON_HTTP, ...attacksOnAccess(forger), ...ATTACKS_ON_DOCUMENTS]),
      )),
      ...(await against({ RATE_LIMIT_PER_MINUTE: '300', MAX_EVENT_LOOP_LAG_MS: '1000' }, [
        { name: 'a flood from one client', run: (target) => greed(target, ms * 0.06) },
      ])),
      ...(await against({ MAX_EVENT_LOOP_LAG_MS: '1000' }, [
        { name: 'responses that nobody reads', run: (target) => unreadResponses(target, ms * 0.3) },
      ])),
      ...(await against({ RATE_LIMIT_PER_MINUTE: '0', MAX_EVENT_LOOP_LAG_MS: '1000' }, [
        { name: 'a flood of 10 × the capacity', run: (target) => overload(target, ms * 0.5) },
      ])),
    ];
    const through = rows.flatMap(({ outcome }) => outcome.through);
    const tried = rows.reduce((sum, { outcome }) => sum + outcome.tried, 0);
    say();
    say(
      through.length === 0
        ? `${tried} tries. Nothing got through.`
        : `${tried} tries. GOT THROUGH: ${through.length}. Again: npm run attack -- --seed ${seed}`,
    );
    return through.length === 0 ? 0 : 1;
  } finally {
    forger.close();
  }
}
