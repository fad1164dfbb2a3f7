import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { closeAfterTests } from '../../support/gateway';

const PROGRAM = path.resolve(__dirname, '../../../examples/checkout/serve.mjs');

/** Starts the example as `npm run example:checkout` does, and resolves with the address of its page when it is there. */
export async function serveCheckout(env: Record<string, string>): Promise<{ url: string; gateway: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [PROGRAM], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  closeAfterTests({ close: () => ended(child) });
  let text = '';
  const heard = (chunk: Buffer): void => void (text += chunk.toString());
  child.stdout.on('data', heard);
  child.stderr.on('data', heard);
  const exited = once(child, 'exit');
  for (;;) {
    const [, url, gateway] = /The checkout is at (\S+) and talks to (\S+)\.\n/.exec(text) ?? [];
    if (url && gateway) return { url, gateway };
    if (child.exitCode !== null) throw new Error(`It ended before it served its page: ${text}`);
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), exited]);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
