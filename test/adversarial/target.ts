import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Random } from '../chaos/random';
import { CHANNEL } from '../support/caller';
import { CLIENT_KEY, clientKeysFile, type TestClientKey } from '../support/credentials';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program } from '../support/program';
import { openStore, type Store } from '../support/stores';
import type { Judged } from './assert-safe-response';

/** Channels of two merchants. */
export const OURS = CHANNEL;
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

/** What came of an attack. */
export interface Outcome {
  /** How much was tried. */
  tried: number;
  /** What got through, in words. */
  through: string[];
  /** Figures worth telling. */
  note?: string;
}

/** Counts what is tried, and keeps what gets through. */
export class Tries implements Outcome {
  tried = 0;
  readonly through: string[] = [];

  /** One try, and what is wrong with what came of it. */
  add(name: string, ...faults: (string | false | undefined)[]): void {
    this.tried += 1;
    const found = faults.filter(Boolean);
    if (found.length > 0) this.through.push(`${name}: ${found.join(', ')}`);
  }
}

/** Something that is tried against a running gateway. `ms` is how long it may try, where it could go on for ever. */
export interface Attack {
  name: string;
  /** Its share of the time, where it could go on for ever. */
  share?: number;
  run(target: Target, options: { random: Random; seed: number; ms: number }): Promise<Outcome>;
}

/** A gateway in a process of its own, as it would run before a real service, and the service's double. */
export class Target {
  private constructor(
    readonly program: Program,
    readonly service: FakePaymentService,
    readonly store: Store,
    readonly folder: string,
  ) {}

  static async start(env: Record<string, string> = {}): Promise<Target> {
    const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-attack-'));
    const [service, store] = await Promise.all([FakePaymentService.start(), openStore('SQLite')]);
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
  async send(init: RequestInit, search = ''): Promise<Judged & { headers: Headers }> {
    const response = await fetch(this.url + search, { redirect: 'manual', ...init });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  /** Posts that body as an operation. */
  post(body: string, headers: Record<string, string> = bearer(CLIENT_KEY)): Promise<Judged> {
    return this.send({ method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  }

  ask(query: string, variables: object = {}, headers?: Record<string, string>): Promise<Judged> {
    return this.post(JSON.stringify({ query, variables }), headers);
  }

  /** A fault where another caller is not served. */
  async serves(): Promise<string | undefined> {
    const { status } = await this.ask('{ __typename }');
    return status === 200 ? undefined : `others were refused with ${status}`;
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

  auditText(): string {
    return readFileSync(path.join(this.folder, 'audit.log'), 'utf8');
  }

  async close(): Promise<void> {
    await this.program.kill();
    await this.service.close();
    await this.store.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
