import { fakeClock } from '../support/fake-clock';
import { API_KEY, CHANNEL, SECRET_KEY, testSandbox } from '../support/gateway';
import type { ServiceAccess } from './service';

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

/** Opens a sandbox in this process with a fake clock. */
export async function openSandbox(): Promise<ServiceAccess> {
  const clock = fakeClock(Date.now());
  const { url } = await testSandbox({ clock });
  return {
    baseUrl: url,
    apiKey: API_KEY,
    secretKey: SECRET_KEY,
    channel: CHANNEL,
    now: () => clock.now(),
    passTime: async (ms) => {
      clock.advance(ms);
    },
  };
}
