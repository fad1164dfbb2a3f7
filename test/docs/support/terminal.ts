import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { until } from '../../support/latch';

/** Evaluates each received command like an interactive shell: with job control, and without stdin for its programs. */
const SHELL = 'set -m; exec 3<&0 </dev/null; while IFS= read -r -d "" -u 3 typed; do eval "$typed"; done';

/** A shell in which commands are typed one after the other. */
export class Terminal {
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<unknown>;
  output = '';
  #typed = 0;

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    const { PATH = '', HOME = '' } = process.env;
    this.#shell = spawn('bash', ['--noprofile', '--norc', '-c', SHELL], {
      cwd,
      env: { PATH, HOME, npm_config_update_notifier: 'false', ...env },
      // A session of its own identifies the processes that were started in it.
      detached: true,
    });
    this.#exited = once(this.#shell, 'close');
    this.#shell.stdin.on('error', () => undefined);
    for (const stream of [this.#shell.stdout, this.#shell.stderr])
      stream.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
  }

  start(command: string): void {
    this.#shell.stdin.write(`${command}\0`);
  }

  /** Runs commands and returns their output. Throws if the last one fails. */
  async run(commands: string): Promise<string> {
    this.#typed += 1;
    const before = this.output.length;
    const ended = new RegExp(`<<${this.#typed} ended with (\\d+)>>`);
    this.start(`${commands}\necho "<<${this.#typed} ended with $?>>"`);
    const text = await until(
      () => this.output.slice(before),
      (output) => ended.test(output) || this.#shell.exitCode !== null,
    );
    if (ended.exec(text)?.[1] !== '0') throw new Error(`${commands}\n${text}`);
    return text.replace(ended, '');
  }

  async close(): Promise<void> {
    killSession(this.#shell.pid!);
    await this.#exited;
  }
}

/** Kills the processes of a session; only its leader on systems without /proc. */
function killSession(leader: number): void {
  const processes = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  for (const target of [...processes.filter((name) => sessionOf(name) === leader), leader]) {
    try {
      process.kill(Number(target), 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }
}

function sessionOf(name: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    return Number(stat.replace(/^.*\) \S /s, '').split(' ')[2]);
  } catch {
    return undefined;
  }
}
