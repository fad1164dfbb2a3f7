import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Caller } from './caller';
import { closeAfterTests } from './cleanup';
import { clientKeysFile } from './credentials';
import { GATEWAY_JOURNAL_TIMEOUT_MS, SERVICE_TIMEOUT_MS } from './timeouts';

export const CHECKOUT = path.resolve(__dirname, '../..');

const START = [path.join(CHECKOUT, 'bin/paygraph.mjs'), 'start'];
/** Arguments that start the gateway with longer timeouts of the journal. */
const START_WITH_SLOW_JOURNAL = [
  path.join(CHECKOUT, 'test/support/program-with-slow-journal.mjs'),
  String(GATEWAY_JOURNAL_TIMEOUT_MS),
];

export interface ChildProgram {
  output(): string;
  /** Resolves with the match once the output matches; throws if the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  stopReading(): void;
  signal(name: NodeJS.Signals): void;
  pid: number | undefined;
  /** Resolves with the exit code when process and output have ended; null if a signal ended the process. */
  exited: Promise<number | null>;
  /** Resolves with the exit code when the process has ended, even if its children keep the output open. */
  ended: Promise<number | null>;
}

/** Starts the gateway as `npm start` does, with these settings only. `options` are options of Node.js. */
export function startProgram(
  settings: Record<string, string>,
  checkout = CHECKOUT,
  options: readonly string[] = [],
): ChildProgram {
  const program = path.join(checkout, 'bin/paygraph.mjs');
  return run([process.execPath, ...options, program, 'start'], settings, checkout);
}

/** Starts the gateway with longer timeouts of the journal, for busy machines. `options` are options of Node.js. */
export const startWithSlowJournal = (
  settings: Record<string, string>,
  options: readonly string[] = [],
): ChildProgram => run([process.execPath, ...options, ...START_WITH_SLOW_JOURNAL], settings);

/** Starts the gateway with longer timeouts of the journal, and a soft and hard limit on open file descriptors. */
export function startWithDescriptorLimit(limit: number, settings: Record<string, string>): ChildProgram {
  const limited = ['bash', '-c', 'ulimit -n "$0" && exec "$@"', String(limit)];
  return run([...limited, process.execPath, ...START_WITH_SLOW_JOURNAL], settings);
}

function run([command = '', ...args]: string[], env: Record<string, string>, cwd = CHECKOUT): ChildProgram {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(command, args, {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const exited = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null);
  closeAfterTests({
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  });
  return {
    output: () => text,
    printed: async (pattern) => {
      for (let found = pattern.exec(text); ; found = pattern.exec(text)) {
        if (found) return found;
        if (child.exitCode !== null)
          throw new Error(`The program ended before it printed ${pattern}: ${text}`);
        await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), exited]);
      }
    },
    stopReading: () => void child.stdout.destroy(),
    signal: (name) => void child.kill(name),
    pid: child.pid,
    exited,
    ended,
  };
}

export async function listening(program: ChildProgram): Promise<string> {
  const [, url = ''] = await program.printed(/"url":"(http[^"]+)"[^\n]*"msg":"listening"/);
  return url;
}

export interface ProgramOptions {
  serviceUrl: string;
  databaseUrl: string;
  env?: Record<string, string>;
  /** Whether the journal has longer timeouts than in production, for busy machines. */
  hasSlowJournal?: boolean;
}

/** A gateway in its own process, which can be called, signalled and killed. */
export class Program extends Caller {
  readonly #child: ChildProgram;

  private constructor(url: string, child: ChildProgram) {
    super(url);
    this.#child = child;
  }

  static async start({ serviceUrl, databaseUrl, env, hasSlowJournal }: ProgramOptions): Promise<Program> {
    const settings = {
      PORT: '0',
      CLIENT_KEYS_FILE: clientKeysFile(),
      AUDIT_LOG_FILE: path.join(tmpdir(), `audit-${randomUUID()}.log`),
      MAX_EVENT_LOOP_LAG_MS: '0',
      FOLLOW_DAYS: '0',
      SERVICE_BASE_URL: serviceUrl,
      SERVICE_API_KEY: 'test-api-key',
      SERVICE_SECRET_KEY: 'test-secret-key',
      SERVICE_TIMEOUT_MS: String(SERVICE_TIMEOUT_MS),
      DATABASE_URL: databaseUrl,
      ...env,
    };
    const child = run([process.execPath, ...(hasSlowJournal ? START_WITH_SLOW_JOURNAL : START)], settings);
    return new Program(await listening(child), child);
  }

  output(): string {
    return this.#child.output();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get exited(): Promise<number | null> {
    return this.#child.ended;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.signal(name);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }
}
