import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Follower } from '../../observability/audit/follower';
import { readToolConfig } from '../../config';
import { EXIT, type Context } from '../context';

const READ_INTERVAL_MS = 500;

/** Runs `paygraph audit follow`. On SIGTERM, prints the lines written so far and ends. */
export async function follow({ terminal, env }: Context, file: string | undefined): Promise<number> {
  const follower = new Follower(file ?? readToolConfig(env).auditFile);
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const printNew = (): boolean => {
    const lines = follower.read();
    if (lines !== '') terminal.print(lines.slice(0, -1));
    return lines !== '';
  };
  while (!stop.signal.aborted)
    if (!printNew()) await sleep(READ_INTERVAL_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    // Let the process handle signals and pending writes.
    else await sleep(0);
  while (printNew());
  follower.close();
  return EXIT.done;
}
