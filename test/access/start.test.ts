import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigError, readConfig } from '../../src/config';
import { startProgram } from '../gateway/fixtures/program';
import { clientKeysFile } from '../support/credentials';
import { temporaryDatabase, testGateway } from '../support/gateway';

// The program may have to be compiled first, beside other tests.
jest.setTimeout(180_000);

const REAL = {
  SERVICE_BASE_URL: 'https://pay.example/',
  SERVICE_API_KEY: 'CANARY-api-key',
  SERVICE_SECRET_KEY: 'CANARY-secret-key',
};
const TOKENS = {
  AUTH_JWKS_URL: 'https://login.example/keys',
  AUTH_ISSUER: 'https://login.example/',
  AUTH_AUDIENCE: 'paygraph',
};
const KEYS = { CLIENT_KEYS_FILE: 'clients.json' };

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('With a real service and nobody told apart', () => {
  test('the gateway does not start, and says what to set', () => {
    const faults = faultsOf(REAL);
    expect(faults).toHaveLength(1);
    for (const name of [
      'CLIENT_KEYS_FILE',
      'AUTH_JWKS_URL',
      'AUTH_ISSUER',
      'AUTH_AUDIENCE',
      'npm run client-key',
    ])
      expect(faults[0]).toContain(name);
  });

  test('an empty setting counts as none', () => {
    expect(faultsOf({ ...REAL, CLIENT_KEYS_FILE: '' })).toHaveLength(1);
  });

  test('settings of the sandbox or of HOST are no way around', () => {
    for (const [name, value] of [
      ['SANDBOX_PORT', '0'],
      ['HOST', '127.0.0.1'],
      ['INTROSPECTION', 'on'],
    ] as const)
      expect(faultsOf({ ...REAL, [name]: value })).toEqual([expect.stringMatching(/^CLIENT_KEYS_FILE: /)]);
  });

  test.each([
    ['keys', KEYS],
    ['tokens', TOKENS],
    ['both', { ...KEYS, ...TOKENS }],
  ])('%s are enough', (_what, more: Record<string, string>) => {
    expect(faultsOf({ ...REAL, ...more })).toEqual([]);
  });

  test('the program ends with 1 and says what to set', async () => {
    const program = startProgram({ ...REAL, PORT: '0', DATABASE_URL: temporaryDatabase() });
    expect(await program.exited).toBe(1);
    const said = program.output();
    expect(said).toMatch(/^ {2}CLIENT_KEYS_FILE: .*AUTH_JWKS_URL, AUTH_ISSUER and AUTH_AUDIENCE/m);
    expect(said).not.toMatch(/CANARY|^\s+at /m);
  });
});

describe('Settings of tokens', () => {
  const NAMES = Object.keys(TOKENS) as (keyof typeof TOKENS)[];
  const SUBSETS: [string, string[], string[]][] = [1, 2, 3, 4, 5, 6].map((bits) => {
    const given = NAMES.filter((_, place) => bits & (1 << place));
    const missing = NAMES.filter((name) => !given.includes(name));
    return [given.join(' and '), given, missing];
  });

  test.each(SUBSETS)('%s alone: the others are named', (_name, given, missing) => {
    const some = Object.fromEntries(given.map((name) => [name, TOKENS[name as keyof typeof TOKENS]]));
    for (const beside of [{}, REAL, { ...REAL, ...KEYS }]) {
      const faults = faultsOf({ ...beside, ...some });
      expect(faults.map((fault) => fault.split(':')[0])).toEqual(missing);
      for (const fault of faults) for (const name of given) expect(fault).toContain(name);
    }
  });

  test.each([
    ['plain http to another host', 'http://CANARY.example/keys'],
    ['credentials', 'https://user:CANARY@login.example/keys'],
    ['a fragment', 'https://login.example/keys#CANARY'],
    ['another protocol', 'file:///CANARY/keys.json'],
    ['data', 'data:application/json,{"keys":["CANARY"]}'],
    ['no address', 'CANARY keys'],
  ])('an address of keys that is %s is refused, and not repeated', (_what, address) => {
    const faults = faultsOf({ ...REAL, ...TOKENS, AUTH_JWKS_URL: address });
    expect(faults).toEqual([expect.stringMatching(/^AUTH_JWKS_URL: expected an https address/)]);
    expect(faults.join()).not.toContain('CANARY');
  });
});

describe('Where callers are not told apart the gateway is on this machine only', () => {
  test.each([
    '0.0.0.0',
    '::',
    '192.168.1.5',
    '10.0.0.1',
    'gateway.example',
    '128.0.0.1',
    '1127.0.0.1',
    'localhost.example',
  ])('HOST=%s is refused', (HOST) => {
    const faults = faultsOf({ HOST });
    expect(faults).toEqual([expect.stringMatching(/^HOST: .*CLIENT_KEYS_FILE or AUTH_JWKS_URL/)]);
    expect(faultsOf({ HOST, ...KEYS })).toEqual([]);
    expect(faultsOf({ HOST, ...TOKENS })).toEqual([]);
  });

  test.each(['127.0.0.1', '127.8.9.10', '::1', 'localhost'])('HOST=%s is fine', (HOST) => {
    expect(faultsOf({ HOST })).toEqual([]);
  });
});

const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-keys-'));

function fileWith(text: string | Buffer): string {
  const file = path.join(folder, `clients-${createHash('sha256').update(text).digest('hex')}.json`);
  writeFileSync(file, text);
  return file;
}

/** Why a gateway with this file does not start. */
async function faultWith(file: string): Promise<string> {
  const started = testGateway('http://127.0.0.1:9/', { env: { CLIENT_KEYS_FILE: file } });
  const error: unknown = await started.then(
    () => undefined,
    (fault: unknown) => fault,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).message;
}

const GOOD = {
  id: 'shop',
  keySha256: 'a'.repeat(64),
  scopes: ['payments:read'],
  channels: ['7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10'],
};
const without = (name: keyof typeof GOOD): object =>
  Object.fromEntries(Object.entries(GOOD).filter(([other]) => other !== name));

/** What is wrong with the second of two entries, and what is said of it. */
const ENTRIES: [string, unknown, RegExp][] = [
  ['null', null, /an object/],
  ['a text', 'CANARY', /an object/],
  ['a number', 4711_4711, /an object/],
  ['a list', [GOOD], /an object/],
  ['an empty object', {}, /id: /],
  ['without an id', without('id'), /id: .*letters/],
  ['whose id is a number', { ...GOOD, id: 4711_4711 }, /id: .*letters/],
  ['whose id is empty', { ...GOOD, id: '' }, /id: .*letters/],
  ['whose id has blanks', { ...GOOD, id: 'CANARY shop' }, /id: .*letters/],
  ['whose id has a line break', { ...GOOD, id: 'CANARY\nshop' }, /id: .*letters/],
  ['whose id ends with a line break', { ...GOOD, id: 'CANARY\n' }, /id: .*letters/],
  ['whose id is too long', { ...GOOD, id: 'CANARY'.repeat(20) }, /id: .*1 to 64/],
  ['without a key', without('keySha256'), /keySha256: .*64 hexadecimal digits/],
  ['with the key itself', { ...GOOD, keySha256: 'pgk_CANARY' }, /keySha256: .*64 hexadecimal digits/],
  ['whose key is short', { ...GOOD, keySha256: 'b'.repeat(63) }, /keySha256: /],
  ['whose key is long', { ...GOOD, keySha256: 'b'.repeat(65) }, /keySha256: /],
  ['whose key is base64', { ...GOOD, keySha256: 'CANARYY+'.repeat(8) }, /keySha256: /],
  ['whose key is null', { ...GOOD, keySha256: null }, /keySha256: /],
  ['without scopes', without('scopes'), /scopes: expected a list/],
  ['whose scopes are a text', { ...GOOD, scopes: 'CANARY:read' }, /scopes: expected a list/],
  ['with an unknown scope', { ...GOOD, scopes: ['payments:read', 'CANARY:read'] }, /scopes: expected a list/],
  ['with all scopes by a star', { ...GOOD, scopes: ['*'] }, /scopes: expected a list/],
  ['with the scope __proto__', { ...GOOD, scopes: ['__proto__'] }, /scopes: expected a list/],
  ['with the scope constructor', { ...GOOD, scopes: ['constructor'] }, /scopes: expected a list/],
  ['with a scope that is a number', { ...GOOD, scopes: [4711_4711] }, /scopes: expected a list/],
  ['without channels', without('channels'), /channels: expected \["\*"\] or a list of UUIDs/],
  ['whose channels are a star', { ...GOOD, channels: '*' }, /channels: expected/],
  ['whose channels are null', { ...GOOD, channels: null }, /channels: expected/],
  ['with a channel that is no UUID', { ...GOOD, channels: ['CANARY'] }, /channels: expected/],
  ['with a channel that is a number', { ...GOOD, channels: [4711_4711] }, /channels: expected/],
  ['with a star among channels', { ...GOOD, channels: [...GOOD.channels, '*'] }, /channels: expected/],
  [
    'with a channel that has a line break',
    { ...GOOD, channels: [`${GOOD.channels[0]}\n`] },
    /channels: expected/,
  ],
  ['with a field too many', { ...GOOD, CANARY: true }, /more than id, keySha256/],
  ['with the field scope', { ...GOOD, scope: 'CANARY' }, /more than id, keySha256/],
];

describe('A file of client keys that cannot be used keeps the gateway from starting', () => {
  test.each([
    ['is missing', () => path.join(folder, 'CANARY-nowhere.json'), /it cannot be read \(ENOENT\)/],
    ['is a folder', () => folder, /it cannot be read \(EISDIR\)/],
    ['is empty', () => fileWith(''), /it is not JSON/],
    ['is not JSON', () => fileWith('{"id": "CANARY", keySha256'), /it is not JSON/],
    ['holds the key alone', () => fileWith('pgk_CANARY'), /it is not JSON/],
    ['is in Latin-1', () => fileWith(Buffer.from('["CANARY \u00fc"]', 'latin1')), /it is not UTF-8/],
    ['is in UTF-16', () => fileWith(Buffer.from('[]', 'utf16le')), /it is not JSON/],
    [
      'has the scopes of a client twice',
      () => fileWith(JSON.stringify([GOOD]).replace('{', '{"scopes":["payments:read"],')),
      /a name stands twice/,
    ],
    ['holds an object', () => fileWith(JSON.stringify({ CANARY: GOOD })), /expected a JSON array/],
    ['holds null', () => fileWith('null'), /expected a JSON array/],
    ['holds a text', () => fileWith('"CANARY"'), /expected a JSON array/],
    [
      'has one key twice',
      () => fileWith(JSON.stringify([GOOD, { ...GOOD, id: 'CANARY', keySha256: 'A'.repeat(64) }])),
      /two entries have the same key/,
    ],
  ])('one that %s', async (_what, file, says) => {
    const said = await faultWith(file());
    expect(said).toMatch(/^ {2}CLIENT_KEYS_FILE: /m);
    expect(said).toMatch(says);
    expect(said).not.toMatch(/CANARY|aaaa/i);
  });

  test.each(ENTRIES)(
    'one with an entry %s: its number, its field and the rule are named',
    async (_what, entry, says) => {
      const said = await faultWith(fileWith(JSON.stringify([GOOD, entry])));
      expect(said).toMatch(/^ {2}CLIENT_KEYS_FILE: entry 2: /m);
      expect(said).toMatch(says);
      expect(said).not.toMatch(/CANARY|4711|aaaa|bbbb|7c1bd1e0/);
    },
  );

  test('one that may not be read', async () => {
    const file = fileWith(JSON.stringify([]));
    chmodSync(file, 0o000);
    // The superuser may read everything.
    if (process.getuid?.() !== 0) expect(await faultWith(file)).toMatch(/it cannot be read \(EACCES\)/);
    chmodSync(file, 0o600);
  });

  test('and the program ends with 1 then, without having listened', async () => {
    const program = startProgram({
      ...REAL,
      PORT: '0',
      DATABASE_URL: temporaryDatabase(),
      AUDIT_LOG_FILE: path.join(folder, 'audit.log'),
      CLIENT_KEYS_FILE: fileWith(JSON.stringify([GOOD, { ...GOOD, scopes: ['CANARY'] }])),
    });
    expect(await program.exited).toBe(1);
    const said = program.output();
    expect(said).toMatch(/^ {2}CLIENT_KEYS_FILE: entry 2: scopes: /m);
    expect(said).not.toMatch(/CANARY|listening|^\s+at /m);
  });
});

test('Two keys of one client are fine: one of them is being changed', async () => {
  mkdirSync(folder, { recursive: true });
  const file = clientKeysFile({ id: 'shop', key: 'pgk_old' }, { id: 'shop', key: 'pgk_new' });
  const client = await testGateway('http://127.0.0.1:9/', { env: { CLIENT_KEYS_FILE: file } });
  for (const key of ['pgk_old', 'pgk_new']) {
    const { status } = await client.ask('{ __typename }', {}, { authorization: `Bearer ${key}` });
    expect(status).toBe(200);
  }
});
