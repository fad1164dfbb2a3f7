import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { clientKeysFile } from '../../support/credentials';
import { PATIENT_GATEWAY_MS } from '../../support/patience';
import { Caller } from './caller';

export interface ProgramOptions {
  serviceUrl: string;
  databaseUrl: string;
  env?: Record<string, string>;
  /** Whether its journal may take longer than that of `npm start`, because the machine is busy. */
  isPatient?: boolean;
}

const START = [path.resolve('bin/paygraph.mjs'), 'start'];
const START_PATIENT = [
  path.resolve('test/exactly-once/support/patient-program.mjs'),
  String(PATIENT_GATEWAY_MS),
];

/** The gateway as `npm start` runs it, in a process of its own that can be killed. */
export class Program extends Caller {
  readonly exited: Promise<number | null>;
  #child: ChildProcess;
  #output: () => string;

  private constructor(url: string, child: ChildProcess, output: () => string) {
    super(url);
    this.#child = child;
    this.#output = output;
    this.exited = exitOf(child);
  }

  /** Starts it, and resolves when it listens. Run from the top folder of the project. */
  static async start({ serviceUrl, databaseUrl, env, isPatient }: ProgramOptions): Promise<Program> {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, isPatient ? START_PATIENT : START, {
      env: {
        PATH,
        HOME,
        PORT: '0',
        CLIENT_KEYS_FILE: clientKeysFile(),
        AUDIT_LOG_FILE: path.join(tmpdir(), `audit-${randomUUID()}.log`),
        MAX_EVENT_LOOP_LAG_MS: '0',
        SERVICE_BASE_URL: serviceUrl,
        SERVICE_API_KEY: 'test-api-key',
        SERVICE_SECRET_KEY: 'test-secret-key',
        SERVICE_TIMEOUT_MS: '1000',
        DATABASE_URL: databaseUrl,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    const heard = (chunk: Buffer): void => {
      text += chunk.toString('utf8');
    };
    child.stdout.on('data', heard);
    child.stderr.on('data', heard);
    const exited = exitOf(child);
    for (;;) {
      const [, url] = /"url":"(http[^"]+)"[^\n]*"msg":"listening"/.exec(text) ?? [];
      if (url) return new Program(url, child, () => text);
      if (child.exitCode !== null) throw new Error(`The gateway ended before it listened: ${text}`);
      await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), exited]);
    }
  }

  /** Everything that it has printed. */
  output(): string {
    return this.#output();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Ends it as a power failure does, and resolves when it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }
}

const exitOf = async (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
};
