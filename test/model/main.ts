import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { Replayer, readTrail, type Replay, type Trail } from './replay';

/** Bugs of test/simulation/planted-bugs.mjs that do what a mutation of the model does, by the name of its trail. */
const BUGS: Readonly<Record<string, string>> = {
  'mutation-sent-before-it-is-in-the-journal': 'sent-before-the-journal',
  'mutation-the-attempt-is-not-synced': 'insert-not-synced',
  'mutation-a-lost-response-counts-as-not-sent': 'lost-response-counts-as-unsent',
  'mutation-a-POST-is-repeated-after-a-lost-response': 'post-retried',
  'mutation-unknown-attempts-are-purged': 'journal-purges-open-attempts',
};

const PAUSED = 'a tick passes in the middle of a call, in which the simulated request would time out';

/** Trails that the simulation cannot follow, with the reason. */
const UNEXPRESSED: Readonly<Record<string, string>> = {
  'mutation-released-after-one-absence': PAUSED,
  'mutation-fence-off': 'the code with the bug fence-ignored still writes the lost attempt again',
  'mutation-the-insert-does-not-compare-the-fence': 'the code still writes the lost attempt again',
  'never-lost-replayed': PAUSED,
};

const OPTIONS = {
  trace: { type: 'boolean', default: false },
  /** Prints the replay of one trail as JSON. */
  json: { type: 'boolean', default: false },
  'planted-bug': { type: 'string' },
} as const;

/** Replays a trail in a process in which a bug is planted. Returns the violations. */
async function replayWithBug(file: string, bug: string): Promise<string[]> {
  const args = ['scripts/run-harness.mjs', 'model', file, '--json', '--planted-bug', bug];
  const cwd = path.resolve(__dirname, '../..');
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 2 ** 26 });
  return (JSON.parse(stdout) as Replay).violations;
}

/**
 * Replays the trails of a folder in the simulation: `npm run replay -- <folder>`. Resolves with the exit code: 1 if the
 * simulation does not follow a trail of the correct protocol, finds a violation in the code, or finds none in code with
 * a planted bug.
 */
export async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [folder = ''] = positionals;
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const trailIn = (file: string): Trail => readTrail(readFileSync(file, 'utf8'));
  if (values.json) {
    write(JSON.stringify(await new Replayer().run(trailIn(folder))));
    return 0;
  }
  const counts = { agree: 0, found: 0, unexpressed: 0, wrong: 0 };
  const count = (kind: keyof typeof counts, name: string, detail = ''): void => {
    counts[kind] += 1;
    write(`${kind.padEnd(11)} ${name} ${detail}`);
  };
  for (const file of readdirSync(folder).sort()) {
    const { name } = path.parse(file);
    const place = path.join(folder, file);
    const trail = trailIn(place);
    if (trail.steps.length === 0) {
      count('unexpressed', name, 'model/payout.pml prints no steps');
      continue;
    }
    const { differences, violations, trace } = await new Replayer().run(trail);
    if (values.trace) trace.forEach((line) => write(`  ${line}`));
    const bug = BUGS[name];
    const reason =
      UNEXPRESSED[name] ?? (/^(mutation|limit)/.test(name) ? 'no planted bug does the same' : undefined);
    if (violations.length > 0 && !name.startsWith('limit')) count('wrong', name, violations.join('; '));
    else if (bug !== undefined) {
      const found = await replayWithBug(place, bug);
      count(found.length > 0 ? 'found' : 'wrong', name, found[0] ?? `${bug} breaks no invariant`);
    } else if (reason !== undefined) count('unexpressed', name, reason);
    else if (differences.length > 0) count('wrong', name, differences.join('; '));
    else count('agree', name);
  }
  write(JSON.stringify(counts));
  return counts.wrong > 0 ? 1 : 0;
}
