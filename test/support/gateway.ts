import path from 'node:path';
import { pino, type Logger } from 'pino';
import { systemClock, type Clock } from '../../src/shared/clock';
import { readConfig } from '../../src/config';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { startGateway, type Gateway, type JournalOpener } from '../../src/app/gateway';
import { Secret } from '../../src/shared/secret';
import { CHANNEL } from './caller';
import { closeAfterTests, temporaryFolder } from './cleanup';
import { AUTHORIZED, clientKeysFile } from './credentials';
import { GATEWAY_JOURNAL_TIMEOUT_MS, SERVICE_TIMEOUT_MS } from './timeouts';
import { FakePaymentService, type Script } from './payment-service/fake-payment-service';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server';

export { CHANNEL, closeAfterTests };

export const API_KEY = 'test-api-key';
export const SECRET_KEY = 'test-secret-key';

/** Starts a sandbox, which is closed when the test file ends. With a fake clock no real time passes in it. */
export async function testSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({
    port: 0,
    credentials: { apiKey: new Secret(API_KEY), secretKey: new Secret(SECRET_KEY) },
    ...options,
  });
  return closeAfterTests(sandbox);
}

/** Starts a fake payment service, closed when the test file ends. By default every request gets 404. */
export async function testService(
  script: Script = () => ({ status: 404, json: {} }),
): Promise<FakePaymentService> {
  const service = closeAfterTests(await FakePaymentService.start());
  service.respond(script);
  return service;
}

export const temporaryDatabase = (): string => `file:${path.join(temporaryFolder(), 'journal.db')}`;

/** Returns a function that opens a journal with a test's clock. */
export const openWithClock =
  (clock: Pick<Clock, 'now'>, open: JournalOpener = openWithLongTimeout): JournalOpener =>
  async (url) =>
    Object.assign(await open(url), { time: () => Promise.resolve(clock.now()) });

/** Opens a journal with a timeout for busy machines. */
export const openWithLongTimeout: JournalOpener = (url) => openJournal(url, GATEWAY_JOURNAL_TIMEOUT_MS);

interface TestGatewayOptions {
  env?: Record<string, string>;
  now?: () => number;
  clock?: Clock;
  /** Whether the gateway is in sandbox mode, in which URLs may name this machine. */
  inSandbox?: boolean;
  logLines?: string[];
}

/** Returns default settings of tests: client keys, temporary files, no limit on event loop lag, no own lookups. */
export function testSettings(): Record<string, string> {
  const DATABASE_URL = temporaryDatabase();
  return {
    DATABASE_URL,
    AUDIT_LOG_FILE: path.join(path.dirname(DATABASE_URL.slice('file:'.length)), 'audit.log'),
    CLIENT_KEYS_FILE: clientKeysFile(),
    MAX_EVENT_LOOP_LAG_MS: '0',
    FOLLOW_DAYS: '0',
  };
}

/** Returns testSettings() with the address and the credentials of the service. */
export const serviceSettings = (serviceUrl?: string): Record<string, string> => ({
  ...testSettings(),
  PORT: '0',
  ...(serviceUrl !== undefined && { SERVICE_BASE_URL: serviceUrl }),
  SERVICE_API_KEY: API_KEY,
  SERVICE_SECRET_KEY: SECRET_KEY,
});

/** Returns a log that adds its lines of all levels to a list; silent without a list. */
export const logTo = (logLines?: string[]): Logger =>
  pino({ level: logLines ? 'trace' : 'silent' }, { write: (line) => void logLines?.push(line) });

/** Starts a gateway on a free port, in front of the service at that URL. */
export async function testGateway(serviceUrl: string, options: TestGatewayOptions = {}): Promise<TestClient> {
  const config = readConfig({
    ...serviceSettings(options.inSandbox ? undefined : serviceUrl),
    SERVICE_TIMEOUT_MS: String(SERVICE_TIMEOUT_MS),
    INTROSPECTION: 'on',
    ...options.env,
  });
  const clock = options.clock ?? (options.now ? { ...systemClock, now: options.now } : systemClock);
  const service = { ...config.service, baseUrl: serviceUrl };
  const openJournal = openWithClock(clock);
  const gateway = await startGateway({ ...config, service }, logTo(options.logLines), clock, { openJournal });
  return new TestClient(closeAfterTests(gateway));
}

/** A gateway, its fake payment service, and the lines of its log. */
export interface LoggedGateway {
  client: TestClient;
  service: FakePaymentService;
  logLines: string[];
}

/** Starts a gateway and a service. Payouts have no preflight lookup unless `env` switches it on. */
export async function loggedGateway(
  script: Script,
  env: Record<string, string> = {},
  now?: () => number,
): Promise<LoggedGateway> {
  const logLines: string[] = [];
  const service = await testService(script);
  const settings = { PAYOUT_PREFLIGHT: 'off', ...env };
  return { client: await testGateway(service.url, { logLines, now, env: settings }), service, logLines };
}

/** Clears received requests and logged lines. */
export function clear({ service, logLines }: LoggedGateway): void {
  service.requests.length = 0;
  logLines.length = 0;
}

export interface GraphqlResult<D> {
  status: number;
  headers: Headers;
  text: string;
  data: D;
  errors?: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
}

export class TestClient {
  readonly url: string;

  constructor(readonly gateway: Gateway) {
    this.url = `${gateway.url}/graphql`;
  }

  async request<D = Record<string, unknown>>(
    query: string,
    variables?: object,
    headers: Record<string, string> = AUTHORIZED,
  ): Promise<GraphqlResult<D>> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    const body = JSON.parse(text) as Pick<GraphqlResult<D>, 'data' | 'errors'>;
    return { status: response.status, headers: response.headers, text, ...body };
  }
}
