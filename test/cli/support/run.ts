import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommand } from '../../../src/cli/program';
import { Terminal } from '../../../src/cli/terminal';
import { closeAfterTests } from '../../support/cleanup';
import { CHECKOUT } from '../../support/program';

/** Output and exit code of a command. */
export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `paygraph …` with these settings in this process. `isTTY`: whether standard error is a terminal. */
export async function run(args: readonly string[], env: Record<string, string> = {}, isTTY = false) {
  const said = { out: '', err: '' };
  const out = {
    write: (text: string, onWritten?: () => void) => {
      said.out += text;
      onWritten?.();
    },
  };
  const err = { isTTY, write: (text: string) => (said.err += text) };
  const code = await runCommand(args, { terminal: new Terminal(out, err), env });
  return { code, ...said };
}

export interface ProcessOptions {
  cwd?: string;
  /** All settings of the command. */
  env?: Record<string, string>;
  nodeOptions?: readonly string[];
}

/** Starts `paygraph …` in a process of its own. `code` is its exit code; null if a signal ended it. */
export function start(
  args: readonly string[],
  { cwd, env, nodeOptions = [] }: ProcessOptions = {},
): { child: ChildProcessByStdio<null, Readable, Readable>; code: Promise<number | null> } {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const program = path.join(CHECKOUT, 'bin/paygraph.mjs');
  const child = spawn(process.execPath, [...nodeOptions, program, ...args], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = once(child, 'close').then(([exitCode]) => exitCode as number | null);
  closeAfterTests({ close: async () => void (child.kill('SIGKILL'), await code) });
  return { child, code };
}

/** Runs `paygraph …` in a process of its own. */
export async function runProgram(args: readonly string[], options?: ProcessOptions): Promise<Ran> {
  const { child, code } = start(args, options);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, out, err };
}
