import path from 'node:path';
import { parseArgs } from 'node:util';
import { print } from '../history/main';
import { MODES, failover } from './failover';

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  rounds: { type: 'string', default: '25' },
  mode: { type: 'string', default: 'both' },
} as const;

export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const modes = MODES.filter((mode) => values.mode === 'both' || values.mode === mode);
  let violations = 0;
  for (const mode of modes) {
    const seconds: number[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const folder = path.resolve('data/failover', `${mode}-${round}`);
      const { figures, judged } = await failover({ seed: Number(values.seed) + round, mode, folder });
      writeLine(JSON.stringify(figures));
      violations += judged.violations.length;
      if (judged.violations.length > 0) print(judged);
      seconds.push(figures.recoverySeconds);
    }
    seconds.sort((a, b) => a - b);
    writeLine(
      `${mode}: creates again after ${seconds[seconds.length >> 1]} s (${seconds[0]} to ${seconds.at(-1)}).`,
    );
  }
  writeLine(violations === 0 ? 'No violation.' : `${violations} violations.`);
  return violations === 0 ? 0 : 1;
}
