import { parseArgs } from 'node:util';
import { unfairClient, overload, unreadResponses } from './floods';
import { Target, type Attack, type AttackResult } from './target';
import { watchHealth } from './threads';

const print = (line = ''): void => void process.stdout.write(`${line}\n`);

const COLUMNS = [34, 9, 12, 18, 16] as const;

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, place) => (place === 0 ? cell.padEnd(COLUMNS[0]) : cell.padStart(COLUMNS[place] ?? 0)))
    .join('');

/** Runs one attack, monitors the health of the gateway meanwhile, and prints the result. */
async function runAttack(target: Target, { name, share, run }: Attack, ms: number): Promise<AttackResult> {
  const watch = await watchHealth(target.base);
  const before = target.memory();
  try {
    const outcome = await run(target, ms * share);
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

/** Starts a gateway, runs an attack against it, and expects it to stop gracefully. */
async function runOnGateway(attack: Attack, ms: number): Promise<AttackResult> {
  const target = await Target.start(attack.env);
  try {
    const outcome = await runAttack(target, attack, ms);
    target.program.signal('SIGTERM');
    const code = await target.program.exited;
    if (code === 0) return outcome;
    print(`    SUCCEEDED: the gateway exited with code ${code}: ${target.program.output().slice(-1000)}`);
    return { ...outcome, breaches: [...outcome.breaches, `the gateway exited with code ${code}`] };
  } finally {
    await target.close();
  }
}

/** Runs all attacks; resolves with the exit code. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { seconds: { type: 'string', default: '50' } } });
  print(line(['attack', 'requests', 'succeeded', 'slowest /healthz', 'memory']));
  const outcomes: AttackResult[] = [];
  for (const attack of [unfairClient, unreadResponses, overload])
    outcomes.push(await runOnGateway(attack, Number(values.seconds) * 1000));
  const succeeded = outcomes.flatMap((outcome) => outcome.breaches).length;
  const tried = outcomes.reduce((sum, outcome) => sum + outcome.attempts, 0);
  print(`\n${tried} requests. ${succeeded === 0 ? 'No attack succeeded.' : `SUCCEEDED: ${succeeded}.`}`);
  return succeeded === 0 ? 0 : 1;
}
