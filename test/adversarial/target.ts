import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CHANNEL } from '../support/caller';
import { CLIENT_KEY, clientKeysFile, type TestClientKey } from '../support/credentials';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program } from '../support/program';
import { openStore, type Store } from '../support/stores';

export const OURS = CHANNEL;

/** A client with all scopes on one channel only. */
export const OWN_CHANNEL: TestClientKey = {
  id: 'own',
  key: 'pgk_own-channel-0123456789abcdef',
  channels: [OURS],
};
/** A client that may only look payments up. */
export const READER: TestClientKey = {
  id: 'reader',
  key: 'pgk_reader-0123456789abcdef',
  scopes: ['payments:read'],
};

/** The result of an attack. */
export interface AttackResult {
  /** Number of attempts. */
  attempts: number;
  /** Descriptions of the attempts that succeeded. */
  breaches: string[];
  /** Measurements to print. */
  note?: string;
}

export class AttackLog implements AttackResult {
  attempts = 0;
  readonly breaches: string[] = [];

  /** Records one attempt and its problems. */
  add(name: string, ...problems: (string | false | undefined)[]): void {
    this.attempts += 1;
    const found = problems.filter(Boolean);
    if (found.length > 0) this.breaches.push(`${name}: ${found.join(', ')}`);
  }
}

/** An attack on a running gateway. */
export interface Attack {
  name: string;
  /** Settings of the gateway, in addition to MAX_EVENT_LOOP_LAG_MS. */
  env?: Record<string, string>;
  /** Fraction of the total time. */
  share: number;
  run(target: Target, ms: number): Promise<AttackResult>;
}

/** A gateway in its own process, configured as in production, and a fake payment service. */
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
        MAX_EVENT_LOOP_LAG_MS: '1000',
        ...env,
      },
    });
    return new Target(program, service, store, folder);
  }

  get url(): string {
    return this.program.url;
  }

  get base(): string {
    return this.url.replace(/\/graphql$/, '');
  }

  get host(): string {
    return new URL(this.url).host;
  }

  /** Sends an operation of a client with all rights; resolves with the status. */
  async ask(query: string, variables: object = {}): Promise<number> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${CLIENT_KEY}` };
    const response = await fetch(this.url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query, variables }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** Sends a request of another caller. Resolves with undefined if it is served, else with the problem. */
  async problemOfOthers(): Promise<string | undefined> {
    const status = await this.ask('{ __typename }');
    return status === 200 ? undefined : `the request of another caller got status ${status}`;
  }

  /** Resident memory of the process in MB; undefined if the system does not report it. */
  memory(): number | undefined {
    const [, pid] = /"pid":(\d+)/.exec(this.program.output()) ?? [];
    try {
      const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return Math.round(Number(kilobytes) / 1024);
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.program.kill();
    await this.service.close();
    await this.store.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
