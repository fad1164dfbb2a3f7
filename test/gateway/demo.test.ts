import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { freePort } from '../support/free-port';
import { temporaryDatabase } from '../support/gateway';
import { CHECKOUT } from './fixtures/program';

// A whole gateway starts, on a busy machine too.
jest.setTimeout(120_000);

const DEMO = `"${process.execPath}" scripts/demo.mjs`;

/** Runs shell commands in a process group of their own. */
async function inShell(commands: string, env: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env;
  const DATABASE_URL = temporaryDatabase();
  const AUDIT_LOG_FILE = join(dirname(DATABASE_URL.slice('file:'.length)), 'audit.log');
  const shell = spawn('bash', ['-c', commands], {
    cwd: CHECKOUT,
    env: { PATH, HOME, DATABASE_URL, AUDIT_LOG_FILE, ...env },
    detached: true,
  });
  let [output, errors] = ['', ''];
  shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  shell.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')));
  await once(shell, 'close');
  const { pid = NaN, exitCode } = shell;
  return { output, errors, exitCode, isGroupLeft: isThere(-pid) };
}

/** Whether there is such a process, or any of such a group where it is negative. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('The demo', () => {
  test('starts its gateway on PORT, and leaves no process when its reader leaves', async () => {
    const port = await freePort();
    const commands = `set -o pipefail; ${DEMO} | head -n 1`;
    const { output, errors, exitCode, isGroupLeft } = await inShell(commands, { PORT: String(port) });
    expect(output).toBe(`The tour talks to http://127.0.0.1:${port}/graphql.\n`);
    expect(errors).toBe('');
    expect(exitCode).toBe(0);
    expect(isGroupLeft).toBe(false);
  });

  test('leaves no process when it is terminated', async () => {
    const commands = `exec 3< <(${DEMO}); read -u 3 line; kill -TERM $!; wait $!; echo "$?"`;
    const { output, isGroupLeft } = await inShell(commands, { PORT: '0' });
    expect(output).toBe('143\n');
    expect(isGroupLeft).toBe(false);
  });
});
