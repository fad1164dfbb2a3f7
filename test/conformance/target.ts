import { sandboxMethods } from '../../src/schema/methods';
import { AdvancingClock } from '../../src/sandbox/clock';
import { frozenClock } from '../support/fake-clock';
import { startSandbox } from '../../src/sandbox/server';
import type { ServiceAccess } from './service';

export interface Target {
  access: ServiceAccess;
  close(): Promise<void>;
}

const NAMES = [
  'OBLIGATIONS_BASE_URL',
  'OBLIGATIONS_API_KEY',
  'OBLIGATIONS_SECRET_KEY',
  'OBLIGATIONS_CHANNEL',
] as const;

/** Whether the cents of an amount force its outcome, as in the sandbox. */
export const hasForcedOutcomes = (remote: ServiceAccess | undefined): boolean =>
  remote === undefined || process.env['OBLIGATIONS_FORCED_OUTCOMES'] === 'yes';

/** Returns the service of the environment variables; undefined if none is set. Throws if only some are set. */
export function remoteAccess(): ServiceAccess | undefined {
  const [baseUrl, apiKey, secretKey, channel] = NAMES.map((name) => process.env[name]);
  if (!baseUrl && !apiKey && !secretKey && !channel) return undefined;
  if (!baseUrl || !apiKey || !secretKey || !channel)
    throw new Error(`Set all of ${NAMES.join(', ')}, or none.`);
  if (!URL.canParse(baseUrl) || !baseUrl.endsWith('/'))
    throw new Error(`${NAMES[0]} must be a URL that ends with a slash.`);
  return { baseUrl, apiKey, secretKey, channel };
}

/** Opens the remote service, or a sandbox in this process with a fake clock. */
export async function openTarget(remote: ServiceAccess | undefined): Promise<Target> {
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
