import { sandboxMethods } from '../../src/schema/methods';
import { AdvancingClock, frozenClock } from '../../src/sandbox/clock';
import { startSandbox } from '../../src/sandbox/server';
import type { Need } from './obligation';
import type { ServiceAccess } from './service';

/** The service that the obligations are tried on. */
export interface Subject {
  access: ServiceAccess;
  close(): Promise<void>;
}

const NAMES = {
  baseUrl: 'OBLIGATIONS_BASE_URL',
  apiKey: 'OBLIGATIONS_API_KEY',
  secretKey: 'OBLIGATIONS_SECRET_KEY',
  channel: 'OBLIGATIONS_CHANNEL',
} as const;

/** Whether the cents of an amount force its outcome there as they do in the sandbox. */
const FORCED_OUTCOMES = 'OBLIGATIONS_FORCED_OUTCOMES';

/** What the service lacks of what obligations may need. */
export function lacking(remote: ServiceAccess | undefined, environment = process.env): Need[] {
  return remote && environment[FORCED_OUTCOMES] !== 'yes' ? ['forced outcomes'] : [];
}

/** The service named by the environment, if one is: then by all four variables. */
export function remoteAccess(environment: NodeJS.ProcessEnv = process.env): ServiceAccess | undefined {
  const names = Object.values(NAMES);
  const missing = names.filter((name) => !environment[name]);
  if (missing.length === names.length) return undefined;
  if (missing.length > 0)
    throw new Error(`Set ${missing.join(', ')} as well, or none of ${names.join(', ')}`);
  const read = (name: string) => environment[name] ?? '';
  const baseUrl = read(NAMES.baseUrl);
  if (!URL.canParse(baseUrl) || !baseUrl.endsWith('/')) {
    throw new Error(`${NAMES.baseUrl} must be a URL that ends with a slash`);
  }
  return {
    baseUrl,
    apiKey: read(NAMES.apiKey),
    secretKey: read(NAMES.secretKey),
    channel: read(NAMES.channel),
  };
}

/** The remote service, or else a sandbox of this process whose time stands still until an obligation moves it. */
export async function openSubject(remote: ServiceAccess | undefined): Promise<Subject> {
  if (remote) return { access: remote, close: async () => undefined };
  const keys = { apiKey: 'obligations-key', secretKey: 'obligations-secret' };
  const clock = new AdvancingClock(frozenClock(Date.now()));
  const sandbox = await startSandbox({
    ...keys,
    methods: sandboxMethods(),
    host: '127.0.0.1',
    port: 0,
    clock,
  });
  const access: ServiceAccess = {
    ...keys,
    baseUrl: sandbox.url,
    channel: '0b8f9f3e-7d0a-4c1c-9b52-3f6a1f0f2a11',
    now: () => clock.now(),
    passTime: async (ms) => {
      clock.advance(ms);
    },
  };
  return { access, close: () => sandbox.close() };
}
