import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readTrail, replay } from './replay';

/** Replays the trails of a folder in the simulation: `npm run replay -- <folder>`. Resolves with the exit code. */
export async function main([folder = '']: string[]): Promise<number> {
  let failures = 0;
  for (const file of readdirSync(folder)) {
    const steps = readTrail(readFileSync(path.join(folder, file), 'utf8'));
    if (steps.length === 0) continue;
    const { trace, ...result } = await replay(steps);
    process.stdout.write(`${file} ${JSON.stringify(result)}\n`);
    if (process.env['TRACE']) trace.forEach((line) => process.stdout.write(`  ${line}\n`));
    if (result.violations.length > 0) failures += 1;
  }
  return failures > 0 ? 1 : 0;
}
