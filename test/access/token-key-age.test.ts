import { TokenKeys } from '../../src/access/token-keys';
import type { Clock } from '../../src/clock';
import { until } from '../exactly-once/support/gate';
import { Issuer, newKey, tokenBy } from './support/issuer';

const HOUR_MS = 3_600_000;

describe('TokenKeys', () => {
  test('does not use an expired key set again when the clock is set back', async () => {
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    let wallMs = Date.now();
    let monotonicMs = 0;
    const clock: Clock = {
      now: () => wallMs,
      monotonic: () => monotonicMs,
      after: () => ({ cancel: () => undefined }),
    };
    const jwksUrl = issuer.settings['AUTH_JWKS_URL'] ?? '';
    const keys = new TokenKeys({ jwksUrl, maxStaleMs: HOUR_MS, clock, warn: () => undefined });
    const [header = '', payload = '', signature = ''] = (await tokenBy(key)).split('.');
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, string>;
    const find = () =>
      Promise.resolve(keys.find({ alg: alg!, kid: kid! }, { payload, signature })).then(
        () => 'found',
        (error: unknown) => (error as Record<string, unknown>)['kind'],
      );
    await until(find, (outcome) => outcome === 'found');
    await issuer.down();
    monotonicMs += 2 * HOUR_MS;
    wallMs -= 24 * HOUR_MS;
    expect(await find()).toBe('KEYS_UNAVAILABLE');
  });
});
