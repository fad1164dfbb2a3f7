import { parseArgs } from 'node:util';
import { ATTACKS_ON_DOCUMENTS } from './attacks-on-documents';
import { unfairClient, overload, unreadResponses } from './floods';
import { Target, type Attack, type AttackResult } from './target';
import { watchHealth } from './threads';

const print = (line = ''): void => void process.stdout.write(`${line}\n`);

const COLUMNS = [34, 9, 12, 18, 16] as const;

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, place) => (place === 0 ? cell.padEnd(COLUMNS[0]) : cell.padStart(COLUMNS[place] ?? 0)))
    .join('');

type Options = Parameters<Attack['run']>[1];

/** Runs one attack, monitors the health of the gateway meanwhile, and prints the result. */
async function runAttack(
  target: Target,
  { name, share = 0, run }: Attack,
  options: Options,
): Promise<AttackResult> {
  const watch = await watchHealth(target.base);
  const before = target.memory();
  try {
    const outcome = await run(target, { ...options, ms: options.ms * share });
    const { worstMs, failures } = await watch.seen();
    if (failures > 0) outcome.breaches.push(`/healthz failed ${failures} times`);
    const succeeded = outcome.breaches.length === 0 ? 'none' : `${outcome.breaches.length} !`;
    const memory = before === undefined ? '?' : `${before} → ${target.memory()} MB`;
    print(line([name, String(outcome.attempts), succeeded, `${Math.round(worstMs)} ms`, memory]));
    if (outcome.note) print(`    ${outcome.note}`);
    for (const what of outcome.breaches.slice(0, 10)) print(`    SUCCEEDED: ${what.slice(0, 300)}`);
    return outcome;
  } finally {
    await watch.close();
  }
}

/** Starts a gateway, runs attacks against it, and expects it to stop gracefully. */
async function runAttacks(env: Record<string, string>, attacks: readonly Attack[], options: Options) {
  const target = await Target.start(env);
  const outcomes: AttackResult[] = [];
  try {
    for (const each of attacks) outcomes.push(await runAttack(target, each, options));
    target.program.signal('SIGTERM');
    const code = await target.program.exited;
    if (code === 0) return outcomes;
    print(`    SUCCEEDED: the gateway exited with code ${code}: ${target.program.output().slice(-1000)}`);
    return [...outcomes, { attempts: 0, breaches: [`the gateway exited with code ${code}`] }];
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
  const options: Options = { seed, ms: Number(values.seconds) * 1000 };
  print(`seed ${seed}\n`);
  print(line(['attack', 'requests', 'succeeded', 'slowest /healthz', 'memory']));
  const lagging = { MAX_EVENT_LOOP_LAG_MS: '1000' };
  // Without a rate limit, because a 429 would hide problems.
  const unlimited = { RATE_LIMIT_PER_MINUTE: '0' };
  const outcomes = [
    ...(await runAttacks(unlimited, ATTACKS_ON_DOCUMENTS, options)),
    ...(await runAttacks({ ...lagging, RATE_LIMIT_PER_MINUTE: '300' }, [unfairClient], options)),
    ...(await runAttacks(lagging, [unreadResponses], options)),
    ...(await runAttacks({ ...lagging, ...unlimited }, [overload], options)),
  ];
  const succeeded = outcomes.flatMap((outcome) => outcome.breaches).length;
  const tried = outcomes.reduce((sum, outcome) => sum + outcome.attempts, 0);
  const end = `SUCCEEDED: ${succeeded}. Repeat with: npm run attack -- --seed ${seed}`;
  print(`\n${tried} requests. ${succeeded === 0 ? 'No attack succeeded.' : end}`);
  return succeeded === 0 ? 0 : 1;
}
