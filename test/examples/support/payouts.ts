import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CLIENT_KEY } from '../../support/credentials';
import { closeAfterTests } from '../../support/gateway';

const PROGRAM = path.resolve(__dirname, '../../../examples/payouts/main.ts');

/** A run of the example, as a process of its own. */
export interface PayoutsRun {
  /** Everything that it has printed. */
  output(): string;
  /** Resolves with its exit code; null where it was killed. */
  exited: Promise<number | null>;
  /** Ends it as a power failure does. */
  kill(): Promise<void>;
}

/** A folder for lists and keys, gone when the test file ends. */
export function workplace(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-payouts-'));
  closeAfterTests({ close: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })) });
  writeFileSync(path.join(folder, 'key'), `${CLIENT_KEY}\n`);
  return folder;
}

/**
 * Starts the example as `npm run example:payouts` does, with the test client's key.
 * @param url of /graphql
 */
export function runPayouts(url: string, folder: string, ...args: string[]): PayoutsRun {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, PAYGRAPH_URL: new URL(url).origin, PAYGRAPH_KEY_FILE: path.join(folder, 'key') };
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (text += chunk.toString()));
  // Not before everything that it printed has been read.
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const run: PayoutsRun = {
    output: () => text,
    exited,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
  closeAfterTests({ close: () => run.kill() });
  return run;
}
