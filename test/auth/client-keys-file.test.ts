import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { Authenticator } from '../../src/auth/authenticator';
import { systemClock } from '../../src/shared/clock';
import { ConfigError } from '../../src/config';
import { readStartConfig } from '../../src/app/startup-check';
import { temporaryFolder } from '../support/cleanup';
import { clientKeysText } from '../support/credentials';
import { testSettings } from '../support/gateway';
import { fileOf } from '../support/manifests';
import { OURS, THEIRS, bearer, clientOf, keyOf } from './support/harness';

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

const folder = temporaryFolder();

describe('A CLIENT_KEYS_FILE is refused at start, without its contents in the message, when it', () => {
  test.each<[string, () => string]>([
    ['is missing', () => path.join(folder, 'CANARY-nowhere.json')],
    ['is a folder', () => folder],
    ['is empty', () => fileOf('')],
    ['is not JSON', () => fileOf('{"id": "CANARY", keySha256')],
    ['is in Latin-1', () => fileOf(Buffer.from('["CANARY \u00fc"]', 'latin1'))],
    ['repeats a field', () => fileOf(JSON.stringify([GOOD]).replace('{', '{"scopes":["payments:read"],'))],
    ['is an object', () => fileOf(JSON.stringify({ CANARY: GOOD }))],
    ['is a string', () => fileOf('"CANARY"')],
    ['contains a key twice', () => listOf(GOOD, { id: 'CANARY', keySha256: 'A'.repeat(64) })],
    [
      'gives two keys of a client the same label',
      () => listOf({ label: 'CANARY' }, { keySha256: OTHER, label: 'CANARY' }),
    ],
  ])('%s', async (_what, file) => {
    const errors = startupErrorsWith(file());
    expect(errors).toMatch(/^CLIENT_KEYS_FILE: (?!entry )/);
    expect(errors).not.toMatch(/CANARY|aaaa/i);
  });

  test('cannot be read', async () => {
    const file = fileOf('[]');
    chmodSync(file, 0o000);
    if (process.getuid?.() !== 0) expect(startupErrorsWith(file)).toMatch(/^CLIENT_KEYS_FILE: .*EACCES/);
  });

  test.each<[string, object[], string]>([
    ['is not an object', [[GOOD]], ''],
    ['has no valid id', [{ id: undefined }, { id: 4711_4711 }, { id: 'CANARY\nshop' }], 'id: '],
    ['has a long id', [{ id: 'CANARY'.repeat(20) }], 'id: '],
    ['has no valid keySha256', [{ keySha256: 'pgk_CANARY' }, { keySha256: 'b'.repeat(65) }], 'keySha256: '],
    ['has no valid scopes', [{ scopes: 'CANARY:read' }, { scopes: ['*'] }], 'scopes: '],
    ['has one invalid scope', [{ scopes: ['payments:read', 'constructor'] }], 'scopes: '],
    ['has no valid channels', [{ channels: '*' }, { channels: ['CANARY'] }], 'channels: '],
    ['has all channels and one', [{ channels: [OURS, '*'] }], 'channels: '],
    ['has no valid label', [{ label: '' }, { label: 'CANARY label' }], 'label: '],
    ['has no valid createdAt', [{ createdAt: 'CANARY' }], 'createdAt: '],
    ['has no valid expiresAt', [{ expiresAt: '2031-01-01' }], 'expiresAt: '],
    ['has an unknown field', [{ CANARY: true }, { scope: 'CANARY' }], ''],
  ])('contains an entry that %s; the message names the entry and the field', async (_what, parts, field) => {
    for (const part of parts) {
      const errors = startupErrorsWith(listOf({ keySha256: OTHER }, part));
      expect(errors.slice(0, 60)).toContain(`CLIENT_KEYS_FILE: entry 2: ${field}`);
      expect(errors).not.toMatch(/CANARY|4711|aaaa|bbbb|aaaaaaaa-/);
    }
  });
});

describe('A CLIENT_KEYS_FILE that changes', () => {
  const shop = clientOf('shop', { channels: [OURS] });
  const other = clientOf('other', { channels: [OURS] });

  let file: string;
  let authenticator: Authenticator;
  const logLines: string[] = [];

  beforeEach(() => {
    jest.useFakeTimers({
      doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'],
    });
    file = path.join(mkdtempSync(path.join(folder, 'case-')), 'clients.json');
    writeFileSync(file, clientKeysText([shop]));
    open(file);
  });

  afterEach(() => {
    authenticator.close();
    jest.useRealTimers();
    expect(logLines.splice(0).join('')).not.toContain('CANARY');
  });

  function open(clientKeysFile: string): void {
    const log = pino({ level: 'trace' }, { write: (line) => void logLines.push(line) });
    authenticator = new Authenticator({ clientKeysFile, tokens: null, clock: systemClock, log });
  }

  const callerOf = (id: string) => {
    try {
      return authenticator.authenticate(bearer(keyOf(id)).authorization);
    } catch {
      return undefined;
    }
  };
  const isKnown = (id: string): boolean => callerOf(id) !== undefined;
  const events = (): unknown[] => logLines.map((line) => (JSON.parse(line) as { event: unknown }).event);

  async function readAgain(): Promise<void> {
    const before = logLines.length;
    const deadline = performance.now() + 20_000;
    while (logLines.length === before && performance.now() < deadline) {
      jest.advanceTimersByTime(1000);
      await new Promise(setImmediate);
    }
    expect(logLines).toHaveLength(before + 1);
  }

  const write = async (text: string): Promise<void> => {
    writeFileSync(file, text);
    await readAgain();
  };

  test('adds, changes and removes clients without a restart', async () => {
    const before = await callerOf('shop');
    expect([before && authenticator.areCredentialsStillValid(before), isKnown('other')]).toEqual([
      true,
      false,
    ]);
    await write(clientKeysText([shop, other]));
    expect([isKnown('shop'), isKnown('other')]).toEqual([true, true]);
    await write(clientKeysText([{ ...shop, channels: [THEIRS], scopes: ['payouts:read'] }, other]));
    expect(callerOf('shop')).toMatchObject({
      channels: new Set([THEIRS]),
      scopes: new Set(['payouts:read']),
    });
    expect(before && authenticator.areCredentialsStillValid(before)).toBe(false);
    await write(clientKeysText([{ ...other, key: keyOf('new') }]));
    expect([isKnown('shop'), isKnown('other'), isKnown('new')]).toEqual([false, false, true]);
    expect(events()).toEqual(Array(3).fill('client_keys_reloaded'));
  });

  test('is reloaded when another file of the same size replaces it', async () => {
    const fresh = `${file}.fresh`;
    writeFileSync(fresh, clientKeysText([clientOf('ship', { channels: [OURS] })]));
    renameSync(fresh, file);
    await readAgain();
    expect([isKnown('shop'), isKnown('ship')]).toEqual([false, true]);
  });

  test('is reloaded when a symlink on its path is swapped, as Kubernetes does', async () => {
    const mount = mkdtempSync(path.join(folder, 'secret-'));
    const version = (name: string, text: string): void => {
      mkdirSync(path.join(mount, name));
      writeFileSync(path.join(mount, name, 'clients.json'), text);
    };
    version('..first', clientKeysText([shop]));
    symlinkSync('..first', path.join(mount, '..data'));
    symlinkSync('..data/clients.json', path.join(mount, 'clients.json'));
    authenticator.close();
    open(path.join(mount, 'clients.json'));
    expect(isKnown('shop')).toBe(true);
    version('..second', clientKeysText([other]));
    symlinkSync('..second', path.join(mount, '..data_tmp'));
    renameSync(path.join(mount, '..data_tmp'), path.join(mount, '..data'));
    rmSync(path.join(mount, '..first'), { recursive: true });
    await readAgain();
    expect([isKnown('shop'), isKnown('other')]).toEqual([false, true]);
  });

  test.each([
    ['is not JSON', '[{"id": "CANARY"'],
    ['is removed', undefined],
  ])('leaves the clients unchanged and is logged once when it %s', async (_what, text) => {
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    await readAgain();
    expect([isKnown('shop'), isKnown('other')]).toEqual([true, false]);
    expect(JSON.parse(logLines[0] ?? '')).toMatchObject({ level: 50, event: 'client_keys_unusable' });
    await write(clientKeysText([other]));
    expect([isKnown('shop'), isKnown('other')]).toEqual([false, true]);
    expect(events()).toEqual(['client_keys_unusable', 'client_keys_reloaded']);
  });
});
