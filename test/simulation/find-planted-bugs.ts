import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';

interface PlantedBug {
  id: string;
  promise: string;
}

/** The first seed that finds a bug. */
interface Finding {
  seed: number;
  violations: string[];
}

const ROOT = path.resolve(__dirname, '../..');

/** Simulates seeds with a bug in a process of its own. Resolves with undefined if no seed finds it. */
function findBug(id: string, seeds: number): Promise<Finding | undefined> {
  const args = ['scripts/run-harness.mjs', 'simulation'];
  args.push('--planted-bug', id, '--seeds', String(seeds), '--json');
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT }, (error, stdout, stderr) => {
      if (!error) resolve(undefined);
      else if (stdout) resolve(JSON.parse(stdout) as Finding);
      else resolve({ seed: NaN, violations: [`could not run: ${stderr.slice(-200)}`] });
    });
  });
}

/** Prints which seed finds each planted bug; resolves with the exit code. */
export async function findPlantedBugs(seeds: number): Promise<number> {
  const { bugs } = (await import(path.join(__dirname, 'planted-bugs.mjs'))) as { bugs: PlantedBug[] };
  const left = [...bugs];
  let missed = 0;
  const work = async (): Promise<void> => {
    for (let bug = left.shift(); bug; bug = left.shift()) {
      const found = await findBug(bug.id, seeds);
      if (!found || Number.isNaN(found.seed)) missed += 1;
      const seed = found ? `seed ${found.seed}` : 'NOT FOUND';
      process.stdout.write(
        `${bug.id.padEnd(40)} ${seed.padEnd(10)} ${found?.violations[0]?.slice(0, 80) ?? bug.promise}\n`,
      );
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  process.stdout.write(
    `${bugs.length - missed} of ${bugs.length} planted bugs found within ${seeds} seeds each.\n`,
  );
  return missed > 0 ? 1 : 0;
}
