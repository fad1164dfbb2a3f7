import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';

/** The first seed that finds a bug; null if it could not be run. */
interface Finding {
  seed: number | null;
  violations: string[];
}

function findBug(id: string, seeds: number): Promise<Finding | undefined> {
  const args = ['scripts/run-harness.mjs', 'simulation', '--planted-bug', id, '--seeds', String(seeds)];
  return new Promise((resolve) => {
    execFile(process.execPath, [...args, '--json'], (error, stdout, stderr) => {
      if (!error) resolve(undefined);
      else if (stdout) resolve(JSON.parse(stdout) as Finding);
      else resolve({ seed: null, violations: [`could not run: ${stderr.slice(-200)}`] });
    });
  });
}

export async function findPlantedBugs(seeds: number): Promise<number> {
  const { bugs } = (await import(path.join(__dirname, 'planted-bugs.mjs'))) as {
    bugs: { id: string; promise: string }[];
  };
  const left = bugs.values();
  let missed = 0;
  const work = async (): Promise<void> => {
    for (const { id, promise } of left) {
      const { seed = null, violations = [promise] } = (await findBug(id, seeds)) ?? {};
      if (seed === null) missed += 1;
      const place = seed === null ? 'NOT FOUND' : `seed ${seed}`;
      process.stdout.write(`${id.padEnd(40)} ${place.padEnd(10)} ${violations[0]?.slice(0, 80)}\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  process.stdout.write(
    `${bugs.length - missed} of ${bugs.length} planted bugs found within ${seeds} seeds each.\n`,
  );
  return missed > 0 ? 1 : 0;
}
