import { parseArgs } from 'node:util';
import { Random } from '../chaos/random';
import { attacksOnAccess } from './attacks-on-access';
import { ATTACKS_ON_DOCUMENTS } from './attacks-on-documents';
import { ATTACKS_ON_HTTP } from './attacks-on-http';
import { greed, overload, unreadResponses } from './floods';
import { startForger } from './forged-tokens';
import { Target, type Attack, type Outcome } from './target';
import { watchHealth } from './threads';

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

const CLIENT_TIMEOUT_MS = 1000;

const COLUMNS = [34, 9, 12, 18, 16] as const;

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, place) => (place === 0 ? cell.padEnd(COLUMNS[0]) : cell.padStart(COLUMNS[place] ?? 0)))
    .join('');

type Options = Parameters<Attack['run']>[1];

/** Runs one attack, monitors the health of the gateway meanwhile, and prints the result. */
async function attack(target: Target, { name, share = 0, run }: Attack, options: Options): Promise<Outcome> {
  const watch = await watchHealth(target.base);
  const before = target.memory();
  try {
    const outcome = await run(target, { ...options, ms: options.ms * share });
    const { worstMs, failures } = await watch.seen();
    if (failures > 0) outcome.through.push(`/healthz failed ${failures} times`);
    const through = outcome.through.length === 0 ? 'nothing' : `${outcome.through.length} !`;
    const memory = before === undefined ? '?' : `${before} → ${target.memory()} MB`;
    say(line([name, String(outcome.tried), through, `${Math.round(worstMs)} ms`, memory]));
    if (outcome.note) say(`    ${outcome.note}`);
    for (const what of outcome.through.slice(0, 10)) say(`    GOT THROUGH: ${what.slice(0, 300)}`);
    return outcome;
  } finally {
    await watch.close();
  }
}

/** Starts a gateway, runs attacks against it, and expects it to stop gracefully. */
async function against(env: Record<string, string>, attacks: readonly Attack[], options: Options) {
  const target = await Target.start(env);
  const outcomes: Outcome[] = [];
  try {
    for (const each of attacks) outcomes.push(await attack(target, each, options));
    target.program.signal('SIGTERM');
    const code = await target.program.exited;
    if (code === 0) return outcomes;
    say(`    GOT THROUGH: the gateway ended with ${code}: ${target.program.output().slice(-1000)}`);
    return [...outcomes, { tried: 0, through: [`the gateway ended with ${code}`] }];
  } finally {
    await target.close();
  }
}

/** Runs all attacks; resolves with the exit code. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      seconds: { type: 'string', default: '50' },
    },
  });
  const seed = Number(values.seed);
  const options: Options = { random: new Random(seed), seed, ms: Number(values.seconds) * 1000 };
  say(`seed ${seed}\n`);
  say(line(['what was tried', 'times', 'got through', 'slowest /healthz', 'memory']));
  const forger = await startForger();
  const lagging = { MAX_EVENT_LOOP_LAG_MS: '1000' };
  // Without a rate limit, because a 429 would hide problems.
  const unlimited = { RATE_LIMIT_PER_MINUTE: '0' };
  try {
    const outcomes = [
      ...(await against(
        { ...unlimited, ...forger.env, CLIENT_TIMEOUT_MS: String(CLIENT_TIMEOUT_MS) },
        [...ATTACKS_ON_HTTP, ...attacksOnAccess(forger), ...ATTACKS_ON_DOCUMENTS],
        options,
      )),
      ...(await against({ ...lagging, RATE_LIMIT_PER_MINUTE: '300' }, [greed], options)),
      ...(await against(lagging, [unreadResponses], options)),
      ...(await against({ ...lagging, ...unlimited }, [overload], options)),
    ];
    const through = outcomes.flatMap((outcome) => outcome.through).length;
    const tried = outcomes.reduce((sum, outcome) => sum + outcome.tried, 0);
    const end = `GOT THROUGH: ${through}. Again: npm run attack -- --seed ${seed}`;
    say(`\n${tried} tries. ${through === 0 ? 'Nothing got through.' : end}`);
    return through === 0 ? 0 : 1;
  } finally {
    forger.close();
  }
}
