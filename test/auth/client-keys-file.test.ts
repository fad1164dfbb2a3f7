import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../src/config';
import { readStartConfig } from '../../src/app/startup-check';
import { temporaryFolder } from '../support/cleanup';
import { clientKeysFile, clientKeysText } from '../support/credentials';
import { testGateway, testSettings } from '../support/gateway';
import { until } from '../support/latch';
import { fileOf } from '../support/manifests';
import { OURS, bearer, clientOf } from './support/harness';

/** Returns the startup errors for a CLIENT_KEYS_FILE, one per line. */
function startupErrorsWith(file: string): string {
  try {
    readStartConfig({ ...testSettings(), CLIENT_KEYS_FILE: file });
  } catch (error) {
    if (error instanceof ConfigError) return error.errors.join('\n');
    throw error;
  }
  throw new Error('The settings are accepted.');
}

const GOOD = { id: 'shop', keySha256: 'a'.repeat(64), scopes: ['payments:read'], channels: [OURS] };
const OTHER = 'c'.repeat(64);

/** Writes a file with a copy of the good entry for each change; a change that is an array replaces the entry. */
const listOf = (...changes: object[]): string =>
  fileOf(JSON.stringify(changes.map((change) => (Array.isArray(change) ? change : { ...GOOD, ...change }))));

describe('A CLIENT_KEYS_FILE', () => {
  test.each<[string, () => string]>([
    ['is missing', () => path.join(temporaryFolder(), 'CANARY-nowhere.json')],
    ['is not JSON', () => fileOf('{"id": "CANARY", keySha256')],
    ['is in Latin-1', () => fileOf(Buffer.from('["CANARY \u00fc"]', 'latin1'))],
    ['repeats a field', () => fileOf(JSON.stringify([GOOD]).replace('{', '{"scopes":["payments:read"],'))],
    ['is a JSON object instead of a list', () => fileOf(JSON.stringify({ CANARY: GOOD }))],
    ['contains the same key twice', () => listOf(GOOD, { id: 'CANARY', keySha256: 'A'.repeat(64) })],
    [
      'gives two keys of a client the same label',
      () => listOf({ label: 'CANARY' }, { keySha256: OTHER, label: 'CANARY' }),
    ],
  ])('that %s is refused at start, without its contents in the message', async (_what, file) => {
    const errors = startupErrorsWith(file());
    expect(errors).toMatch(/^CLIENT_KEYS_FILE: (?!entry )/);
    expect(errors).not.toMatch(/CANARY|aaaa/i);
  });

  test.each<[string, object[], string]>([
    ['is not an object', [[GOOD]], ''],
    ['has no valid id', [{ id: 4711_4711 }, { id: 'CANARY\nshop' }, { id: 'CANARY'.repeat(20) }], 'id: '],
    ['has no valid keySha256', [{ keySha256: 'pgk_CANARY' }, { keySha256: 'b'.repeat(65) }], 'keySha256: '],
    ['has no valid scopes', [{ scopes: '*' }, { scopes: ['payments:read', 'constructor'] }], 'scopes: '],
    ['has no valid channels', [{ channels: '*' }, { channels: [OURS, '*'] }], 'channels: '],
    ['has no valid label', [{ label: '' }, { label: 'CANARY label' }], 'label: '],
    ['has no valid expiresAt', [{ expiresAt: '2031-01-01' }], 'expiresAt: '],
    ['expires on a day that does not exist', [{ expiresAt: '2031-02-30T12:00:00Z' }], 'expiresAt: '],
    ['expires at an hour that does not exist', [{ expiresAt: '2031-01-31T24:00:00Z' }], 'expiresAt: '],
    ['has an unknown field', [{ CANARY: true }], ''],
  ])('with an entry that %s is refused; the error names entry and field', async (_what, parts, field) => {
    for (const part of parts) {
      const errors = startupErrorsWith(listOf({ keySha256: OTHER }, part));
      expect(errors.slice(0, 60)).toContain(`CLIENT_KEYS_FILE: entry 2: ${field}`);
      expect(errors).not.toMatch(/CANARY|4711|aaaa|bbbb|aaaaaaaa-/);
    }
  });
});

test('A running gateway ignores an invalid CLIENT_KEYS_FILE, logs it once, and loads the next valid one', async () => {
  const [shop, other] = [clientOf('shop', {}), clientOf('other', {})];
  const file = clientKeysFile(shop);
  const logLines: string[] = [];
  const env = { CLIENT_KEYS_FILE: file };
  const client = await testGateway('http://127.0.0.1:9/', { env, logLines });
  const isKnown = async ({ key }: { key: string }): Promise<boolean> =>
    (await client.request('{ __typename }', {}, bearer(key))).status === 200;
  const events = (): unknown[] =>
    logLines
      .map((line) => JSON.parse(line) as { level: number; event?: string })
      .filter(({ event }) => event?.startsWith('client_keys_'))
      .map(({ level, event }) => [level, event]);

  writeFileSync(file, '[{"id": "CANARY"');
  await until(() => events().length > 0);
  expect([await isKnown(shop), await isKnown(other)]).toEqual([true, false]);
  writeFileSync(file, clientKeysText([other]));
  await until(() => isKnown(other));
  expect(await isKnown(shop)).toBe(false);
  expect(events()).toEqual([
    [50, 'client_keys_unusable'],
    [30, 'client_keys_reloaded'],
  ]);
  expect(logLines.join('')).not.toContain('CANARY');
});
