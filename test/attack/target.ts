import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { Program } from '../exactly-once/support/program';
import { openStore, type Store } from '../exactly-once/support/stores';
import { CLIENT_KEY, clientKeysFile, type TestClientKey } from '../support/credentials';
import type { Judged } from './judge';

/** Channels of two merchants. */
export const OURS = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';
export const THEIRS = 'bbbbbbbb-2222-4222-8222-bbbbbbbbbbbb';

/** A client that may do everything, but on our channel only. */
export const OWN_CHANNEL: TestClientKey = {
  id: 'own',
  key: 'pgk_own-channel-0123456789abcdef',
  channels: [OURS],
};
/** One that may look payments up, and nothing else. */
export const READER: TestClientKey = {
  id: 'reader',
  key: 'pgk_reader-0123456789abcdef',
  scopes: ['payments:read'],
};

export const bearer = (credentials: string): Record<string, string> => ({
  authorization: `Bearer ${credentials}`,
});

export interface Answer extends Judged {
  headers: Headers;
}

/** A gateway in a process of its own, as it would run before a real service, and the service's double. */
export class Target {
  readonly program: Program;
  readonly service: FaultyService;
  readonly store: Store;
  readonly auditFile: string;
  readonly #folder: string;

  private constructor(program: Program, service: FaultyService, store: Store, folder: string) {
    this.program = program;
    this.service = service;
    this.store = store;
    this.auditFile = path.join(folder, 'audit.log');
    this.#folder = folder;
  }

  static async start(env: Record<string, string> = {}): Promise<Target> {
    const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-attack-'));
    const [service, store] = await Promise.all([FaultyService.start(), openStore('SQLite')]);
    const program = await Program.start({
      serviceUrl: service.url,
      databaseUrl: store.url,
      env: {
        AUDIT_LOG_FILE: path.join(folder, 'audit.log'),
        CLIENT_KEYS_FILE: clientKeysFile(OWN_CHANNEL, READER),
        SERVICE_TIMEOUT_MS: '10000',
        PAYOUT_PREFLIGHT: 'off',
        ...env,
      },
    });
    return new Target(program, service, store, folder);
  }

  /** Of /graphql. */
  get url(): string {
    return this.program.url;
  }

  /** Without a slash at its end. */
  get base(): string {
    return this.url.replace(/\/graphql$/, '');
  }

  /** Host and port. */
  get host(): string {
    return new URL(this.url).host;
  }

  /** The header line of a client that may do everything. */
  get authorization(): string {
    return `Authorization: Bearer ${CLIENT_KEY}`;
  }

  /** Sends exactly that to /graphql. */
  async send(init: RequestInit, search = ''): Promise<Answer> {
    const response = await fetch(this.url + search, { redirect: 'manual', ...init });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  /** Posts that body as an operation. */
  post(body: string, headers: Record<string, string> = bearer(CLIENT_KEY)): Promise<Answer> {
    return this.send({ method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  }

  ask(query: string, variables: object = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.post(JSON.stringify({ query, variables }), headers);
  }

  /** What the process takes of the machine's memory, in megabytes; where the system tells. */
  memory(): number | undefined {
    const [, pid] = /"pid":(\d+)/.exec(this.program.output()) ?? [];
    try {
      const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return Math.round(Number(kilobytes) / 1024);
    } catch {
      return undefined;
    }
  }

  /** The lines of the program's own log. */
  logLines(): string[] {
    return this.program
      .output()
      .split('\n')
      .filter((line) => line !== '');
  }

  auditText(): string {
    return readFileSync(this.auditFile, 'utf8');
  }

  /** Ends the gateway as an operator does; resolves to its exit code. */
  async stop(): Promise<number | null> {
    this.program.signal('SIGTERM');
    return this.program.exited;
  }

  async close(): Promise<void> {
    await this.program.kill();
    await this.service.close();
    await this.store.drop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
