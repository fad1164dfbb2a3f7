import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { until } from '../../exactly-once/support/gate';

/** Programs start and compile in it, while other tests run beside. */
const PATIENCE_MS = 120_000;

/** A shell in which commands are typed one after the other, as in a window of one's own. */
export class Terminal {
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<unknown>;
  #output = '';
  #typed = 0;

  /** @param env what the shell has beside PATH and HOME */
  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    const { PATH = '', HOME = '' } = process.env;
    this.#shell = spawn('bash', ['--noprofile', '--norc'], {
      cwd,
      env: { PATH, HOME, npm_config_update_notifier: 'false', ...env },
      // A group of its own, so that what it started ends with it.
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
    this.#shell.stdin.write(`${command}\n`);
  }

  /** Types commands, and returns what they printed once all have ended; fails when one did not succeed. */
  async run(commands: string): Promise<string> {
    this.#typed += 1;
    const before = this.#output.length;
    const ended = new RegExp(`<<${this.#typed} ended with (\\d+)>>`);
    this.#shell.stdin.write(`(exit 0)\n${commands}\necho "<<${this.#typed} ended with $?>>"\n`);
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
    if (this.#shell.exitCode !== null || this.#shell.pid === undefined) return;
    process.kill(-this.#shell.pid, 'SIGKILL');
    await this.#exited;
  }
}
