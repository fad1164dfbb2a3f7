import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { systemClock, type Clock } from '../../src/clock';
import { readConfig } from '../../src/config';
import { openJournal } from '../../src/datasources/journal/open';
import { startGateway, type Gateway, type OpenJournal } from '../../src/gateway';
import { sandboxMethods } from '../../src/schema/methods';
import { AUTHORIZED, clientKeysFile } from './credentials';
import { PATIENT_GATEWAY_MS } from './patience';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server';

/** Every gateway and service of a test file, closed when it ends. */
const open: { close(): Promise<void> }[] = [];

afterAll(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export const closeAfterTests = <T extends { close(): Promise<void> }>(part: T): T => {
  open.push(part);
  return part;
};

export const API_KEY = 'test-api-key';
export const SECRET_KEY = 'test-secret-key';
export const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';

/** A sandbox of one's own; no real time passes in it where the test gives a clock. */
export async function testSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({
    methods: sandboxMethods(),
    host: '127.0.0.1',
    port: 0,
    apiKey: API_KEY,
    secretKey: SECRET_KEY,
    ...options,
  });
  return closeAfterTests(sandbox);
}

/** A journal of its own, gone when the test file ends. */
export function temporaryDatabase(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-test-'));
  folders.push(folder);
  return `file:${path.join(folder, 'journal.db')}`;
}

const folders: string[] = [];

/** The same, for a journal that takes its time from a test's clock. */
export const openWithClock =
  (clock: Pick<Clock, 'now'>, open: OpenJournal = openPatiently): OpenJournal =>
  async (url) =>
    Object.assign(await open(url), { time: () => Promise.resolve(clock.now()) });

/** Opens the journal of a gateway that does not refuse a create because the machine is busy. */
export const openPatiently: OpenJournal = (url) => openJournal(url, PATIENT_GATEWAY_MS);

interface TestGatewayOptions {
  env?: Record<string, string>;
  now?: () => number;
  /** A clock of the test's own, for timers too. */
  clock?: Clock;
  /** Whether it is a gateway as it stands before its embedded sandbox: this machine may be named in addresses. */
  inSandbox?: boolean;
  /** Collects everything that is logged. */
  logLines?: string[];
}

/** Settings that tests leave out: who may call, where nothing may be left behind, and no refusal because the machine is busy. */
export function testSettings(): Record<string, string> {
  const DATABASE_URL = temporaryDatabase();
  return {
    DATABASE_URL,
    AUDIT_LOG_FILE: path.join(path.dirname(DATABASE_URL.slice('file:'.length)), 'audit.log'),
    CLIENT_KEYS_FILE: clientKeysFile(),
    MAX_EVENT_LOOP_LAG_MS: '0',
  };
}

/** A gateway on a port of its own, over a real socket, before the service at that address. */
export async function testGateway(serviceUrl: string, options: TestGatewayOptions = {}): Promise<TestClient> {
  const config = readConfig({
    ...testSettings(),
    PORT: '0',
    ...(!options.inSandbox && { SERVICE_BASE_URL: serviceUrl }),
    SERVICE_API_KEY: API_KEY,
    SERVICE_SECRET_KEY: SECRET_KEY,
    SERVICE_TIMEOUT_MS: '2000',
    INTROSPECTION: 'on',
    ...options.env,
  });
  const sink = { write: (line: string) => void options.logLines?.push(line) };
  const log = pino({ level: options.logLines ? 'trace' : 'silent' }, sink);
  const clock = options.clock ?? (options.now ? { ...systemClock, now: options.now } : systemClock);
  const gateway = closeAfterTests(
    await startGateway({ ...config, service: { ...config.service, baseUrl: serviceUrl } }, log, clock, {
      open: openWithClock(clock),
    }),
  );
  return new TestClient(gateway);
}

export interface GraphqlAnswer<D> {
  status: number;
  headers: Headers;
  text: string;
  data: D;
  errors?: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
}

/** Asks a gateway over HTTP as any caller would. */
export class TestClient {
  readonly url: string;

  constructor(readonly gateway: Gateway) {
    this.url = `${gateway.url}/graphql`;
  }

  async ask<D = Record<string, unknown>>(
    query: string,
    variables?: object,
    headers: Record<string, string> = AUTHORIZED,
  ): Promise<GraphqlAnswer<D>> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    const body = JSON.parse(text) as Pick<GraphqlAnswer<D>, 'data' | 'errors'>;
    return { status: response.status, headers: response.headers, text, ...body };
  }
}
