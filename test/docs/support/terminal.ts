import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { until } from '../../support/latch';

/** Programs start and compile in it, while other tests run beside. */
const PATIENCE_MS = 120_000;

/**
 * Carries out what it is handed, piece by piece, as an interactive shell does: with jobs that have groups of their own,
 * and without anything on the standard input of programs, which could read what is meant for the shell.
 */
const SHELL = 'set -m; exec 3<&0 </dev/null; while IFS= read -r -d "" -u 3 typed; do eval "$typed"; done';

/** A shell in which commands are typed one after the other, as in a window of one's own. */
export class Terminal {
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<unknown>;
  #output = '';
  #typed = 0;

  /** @param env what the shell has beside PATH and HOME */
  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    const { PATH = '', HOME = '' } = process.env;
    this.#shell = spawn('bash', ['--noprofile', '--norc', '-c', SHELL], {
      cwd,
      env: { PATH, HOME, npm_config_update_notifier: 'false', ...env },
      // A session of its own: what was started in it can be told from everything else.
      detached: true,
    });
    this.#exited = once(this.#shell, 'close');
    this.#shell.stdin.on('error', () => undefined);
    for (const stream of [this.#shell.stdout, this.#shell.stderr])
      stream.on('data', (chunk: Buffer) => (this.#output += chunk.toString('utf8')));
  }

  /** Everything that was printed, by whatever was typed. */
  get output(): string {
    return this.#output;
  }

  /** Types a command that stays. */
  start(command: string): void {
    this.#shell.stdin.write(`${command}\0`);
  }

  /** Types commands, and returns what they printed once all have ended; fails when the last did not succeed. */
  async run(commands: string): Promise<string> {
    this.#typed += 1;
    const before = this.#output.length;
    const ended = new RegExp(`<<${this.#typed} ended with (\\d+)>>`);
    this.start(`${commands}\necho "<<${this.#typed} ended with $?>>"`);
    const text = await until(
      () => this.#output.slice(before),
      (said) => ended.test(said) || this.#shell.exitCode !== null,
      PATIENCE_MS,
    );
    if (ended.exec(text)?.[1] !== '0') throw new Error(`${commands}\n${text}`);
    return text.replace(ended, '');
  }

  /** Waits until something is printed that will do. */
  async printed(isSo: (output: string) => boolean): Promise<void> {
    await until(() => this.#output, isSo, PATIENCE_MS);
  }

  /** Ends the shell and everything that was started in it. */
  async close(): Promise<void> {
    const { pid, exitCode } = this.#shell;
    if (pid === undefined) return;
    for (const member of membersOf(pid)) kill(member);
    if (exitCode === null) kill(pid);
    await this.#exited;
  }
}

/** The processes of a session, as Linux tells them. */
function membersOf(session: number): number[] {
  const processes = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return processes.filter((name) => sessionOf(name) === session).map(Number);
}

/** The session of a process; undefined where it has ended meanwhile. */
function sessionOf(name: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    return Number(stat.replace(/^.*\) \S /s, '').split(' ')[2]);
  } catch {
    return undefined;
  }
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
