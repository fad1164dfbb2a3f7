import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../cli/support/run';
import { until } from '../exactly-once/support/gate';
import { CHECKOUT } from '../gateway/fixtures/program';
import { ALL_SCOPES, clientKeysFile, clientKeysText, type TestClientKey } from '../support/credentials';
import { testGateway } from '../support/gateway';
import { expectUnauthenticated } from './support/answers';
import { bearer } from './support/rig';

type Json = Record<string, unknown>;

const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';
const newFolder = (): string => mkdtempSync(path.join(tmpdir(), 'paygraph-keys-'));

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `npm run client-key -- …`, in this process. */
async function clientKey(...args: string[]): Promise<Run> {
  const { code, out, err } = await run(['client-key', ...args]);
  return { code, stdout: out, stderr: err };
}

interface Entry {
  id: string;
  keySha256: string;
  scopes: string[];
  channels: string[];
  label?: string;
  createdAt?: string;
  expiresAt?: string;
}

const DAY_MS = 86_400_000;
const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
/** How long after its creation the key expires, in days. */
const lifetimeOf = ({ createdAt = '', expiresAt = '' }: Entry): number =>
  (Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS;

const keyIn = ({ stdout }: Run): string => /^pgk_[\w-]{43}$/m.exec(stdout)?.[0] ?? '';
const entryIn = ({ stdout }: Run): Entry => JSON.parse(/^\{[^]*^\}$/m.exec(stdout)?.[0] ?? 'null') as Entry;
const entriesIn = (file: string): Entry[] => JSON.parse(readFileSync(file, 'utf8')) as Entry[];
const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');

test('is the script of that name', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(CHECKOUT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(scripts['client-key']).toBe('exec node bin/paygraph.mjs client-key');
});

describe('A new key', () => {
  test('is printed once, with an entry that holds its SHA-256 and every scope but cards:direct', async () => {
    const run = await clientKey('new', 'shop');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const key = keyIn(run);
    expect(run.stdout.split(key)).toHaveLength(2);
    expect(entryIn(run)).toEqual({
      id: 'shop',
      keySha256: digestOf(key),
      scopes: ALL_SCOPES.filter((scope) => scope !== 'cards:direct'),
      channels: ['*'],
      createdAt: aTime,
    });
  });

  test('is another one every time', async () => {
    const [first, second] = await Promise.all([clientKey('new', 'shop'), clientKey('new', 'shop')]);
    expect(keyIn(first)).not.toBe('');
    expect(keyIn(first)).not.toBe(keyIn(second));
  });

  test('has the scopes and channels that were asked for', async () => {
    const run = await clientKey(
      'new',
      'shop',
      '--scopes',
      'payments:read, cards:direct',
      '--channels',
      CHANNEL.toUpperCase(),
    );
    expect(entryIn(run)).toMatchObject({
      scopes: ['payments:read', 'cards:direct'],
      channels: [CHANNEL.toUpperCase()],
    });
  });

  test('works in a gateway that is running, as soon as it is in the file', async () => {
    const file = path.join(newFolder(), 'clients.json');
    const first = await clientKey('new', 'shop', '--file', file, '--scopes', 'payments:read');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const client = await testGateway('http://127.0.0.1:9/', { env: { CLIENT_KEYS_FILE: file } });
    const statusOf = async (run: Run): Promise<number> =>
      (await client.ask('{ __typename }', {}, bearer(keyIn(run)))).status;
    expect(await statusOf(first)).toBe(200);

    const second = await clientKey('new', 'kiosk', '--file', file);
    await until(
      () => statusOf(second),
      (status) => status === 200,
    );
    expect(await statusOf(first)).toBe(200);
  });
});

describe('The file', () => {
  test('is made where it is missing, for its owner alone, and holds no key', async () => {
    const folder = newFolder();
    const file = path.join(folder, 'clients.json');
    const run = await clientKey('new', 'shop', '--file', file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(entriesIn(file)).toEqual([
      expect.objectContaining({ id: 'shop', keySha256: digestOf(keyIn(run)) }),
    ]);
    expect(readFileSync(file, 'utf8')).not.toContain(keyIn(run));
    expect(run.stdout).toContain(file);
    expect(readdirSync(folder)).toEqual(['clients.json']);
  });

  test('keeps the clients that it has, and gets one more', async () => {
    const file = path.join(newFolder(), 'clients.json');
    writeFileSync(file, clientKeysText([{ id: 'old', key: 'pgk_old', channels: [CHANNEL] }]));
    const [before] = entriesIn(file);
    await clientKey('new', 'shop', '--file', file);
    expect(entriesIn(file).map(({ id }) => id)).toEqual(['old', 'shop']);
    expect(entriesIn(file)[0]).toEqual(before);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test('of a client that has one is a second one with the same rights: the client stays the same', async () => {
    const file = path.join(newFolder(), 'clients.json');
    const before = { id: 'shop', key: 'pgk_old', scopes: ['payments:read'], channels: [CHANNEL] };
    writeFileSync(file, clientKeysText([before]));
    const run = await clientKey('rotate', 'shop', '--file', file);
    const [old, made] = entriesIn(file);
    expect(made).toEqual({ ...old, keySha256: digestOf(keyIn(run)), createdAt: aTime });
    expect(await clientKey('rotate', 'other', '--file', file)).toMatchObject({ code: 2 });
    expect(await clientKey('rotate', 'shop', '--file', file, '--scopes', 'payouts:read')).toMatchObject({
      code: 2,
    });
  });

  /** What cannot be added to. */
  const UNUSABLE: [string, string, RegExp][] = [
    ['that is not JSON', '[{"id": "CANARY"', /not JSON/],
    ['that holds an object', '{"CANARY": 1}', /no JSON array/],
    ['with an entry that is wrong', '[{"id": "CANARY"}]', /entry 1: keySha256: /],
    ['that has the id already', clientKeysText([{ id: 'shop', key: 'CANARY' }]), /this id already/],
  ];

  test.each(UNUSABLE)('%s stays as it was', async (_what, text, says) => {
    const folder = newFolder();
    const file = path.join(folder, 'clients.json');
    writeFileSync(file, text);
    const run = await clientKey('new', 'shop', '--file', file);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(says);
    expect(run.stderr).not.toMatch(/CANARY|^\s+at /m);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(readdirSync(folder)).toEqual(['clients.json']);
  });
});

describe('client-key', () => {
  const fileWith = (...clients: TestClientKey[]): string => {
    const file = path.join(newFolder(), 'clients.json');
    writeFileSync(file, clientKeysText(clients));
    return file;
  };

  test('rotate gives the new key the lifetime of the newest one when no option sets another', async () => {
    const file = path.join(newFolder(), 'clients.json');
    await clientKey('new', 'shop', '--file', file, '--expires-in', '90d');
    await clientKey('rotate', 'shop', '--file', file);
    await clientKey('rotate', 'shop', '--file', file, '--expires-in', '12h', '--label', 'third');
    const [first, second, third] = entriesIn(file) as [Entry, Entry, Entry];
    expect([first, second, third].map(lifetimeOf)).toEqual([90, 90, 0.5]);
    expect(third.label).toBe('third');
  });

  test('rotate ends the other keys of the client, and never later than before', async () => {
    const soon = new Date(Date.now() + DAY_MS).toISOString();
    const file = fileWith(
      { id: 'shop', key: 'pgk_one' },
      { id: 'shop', key: 'pgk_two', expiresAt: soon },
      { id: 'kiosk', key: 'pgk_three' },
    );
    const before = Date.now();
    await clientKey('rotate', 'shop', '--file', file, '--old-expires-in', '7d');
    const [one, two, kiosk, made] = entriesIn(file);
    expect(Date.parse(one?.expiresAt ?? '') - before).toBeGreaterThanOrEqual(7 * DAY_MS);
    expect(two?.expiresAt).toBe(soon);
    expect(kiosk).not.toHaveProperty('expiresAt');
    expect(made).toMatchObject({ id: 'shop' });
    expect(made).not.toHaveProperty('expiresAt');
  });

  test('rotate refuses to end the other keys in the past', async () => {
    const file = fileWith({ id: 'shop', key: 'pgk_one' });
    const text = readFileSync(file, 'utf8');
    expect(await clientKey('rotate', 'shop', '--file', file, '--old-expires-in', '-5m')).toMatchObject({
      code: 2,
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('rotate refuses a label that the client has already', async () => {
    const file = fileWith({ id: 'shop', key: 'pgk_one', label: 'main' });
    const text = readFileSync(file, 'utf8');
    expect(await clientKey('rotate', 'shop', '--file', file, '--label', 'main')).toMatchObject({ code: 2 });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('revoke removes the named key and refuses an ambiguous call', async () => {
    const file = fileWith(
      { id: 'shop', key: 'pgk_one', label: 'old' },
      { id: 'shop', key: 'pgk_two' },
      { id: 'kiosk', key: 'pgk_three' },
    );
    const revoke = async (...args: string[]) => (await clientKey('revoke', ...args, '--file', file)).code;
    const ids = () => entriesIn(file).map(({ id, label = null }) => [id, label]);
    expect(await revoke('shop')).toBe(2);
    expect(await revoke('shop', '--key', 'other')).toBe(2);
    expect(await revoke('nobody')).toBe(2);
    expect(ids()).toHaveLength(3);
    expect(await revoke('shop', '--key', 'old')).toBe(0);
    expect(ids()).toEqual([
      ['shop', null],
      ['kiosk', null],
    ]);
    await clientKey('rotate', 'shop', '--file', file);
    expect(await revoke('shop', '--all')).toBe(0);
    expect(ids()).toEqual([['kiosk', null]]);
  });
});

describe('A client key with an expiry', () => {
  const EXPIRES = Date.parse('2031-01-01T00:00:00Z');
  const key = { id: 'shop', key: 'pgk_CANARY-expiring', label: 'spring' };

  async function rigWith(...clients: TestClientKey[]) {
    const clock = { now: EXPIRES - DAY_MS };
    const file = clientKeysFile(...clients);
    const logLines: string[] = [];
    const options = { env: { CLIENT_KEYS_FILE: file }, now: () => clock.now, logLines };
    const client = await testGateway('http://127.0.0.1:9/', options);
    const ask = () => client.ask('{ __typename }', {}, bearer(key.key));
    const expired = () =>
      logLines.map((line) => JSON.parse(line) as Json).filter(({ event }) => event === 'client_key_expired');
    return { clock, file, client, ask, expired, logLines };
  }

  test('is refused from that moment on, with its label in the log once a minute', async () => {
    const { clock, ask, expired, logLines } = await rigWith({
      ...key,
      expiresAt: '2031-01-01T01:00:00+01:00',
    });
    clock.now = EXPIRES - 1;
    expect((await ask()).status).toBe(200);
    clock.now = EXPIRES;
    expectUnauthenticated(await ask());
    await ask();
    expect(expired()).toEqual([expect.objectContaining({ caller: 'service:shop', label: 'spring' })]);
    clock.now += 60_000;
    await ask();
    expect(expired()).toHaveLength(2);
    expect(logLines.join('')).not.toContain('CANARY');
  });

  test('is listed with creation, expiry and the last use that a gateway shows', async () => {
    const used = { ...key, createdAt: '2030-01-01T00:00:00Z', expiresAt: '2031-01-01T00:00:00Z' };
    const { clock, client, file, ask } = await rigWith(used, { id: 'kiosk', key: 'pgk_CANARY-2' });
    await ask();
    const metrics = `${client.gateway.url}/metrics`;
    const list = await clientKey('list', '--file', file, '--metrics', metrics, '--json');
    const listed = JSON.parse(list.stdout) as Json[];
    expect(listed.map(({ client: id, key: label }) => [id, label])).toEqual([
      ['test', expect.stringMatching(/^[0-9a-f]{8}$/)],
      ['shop', 'spring'],
      ['kiosk', expect.stringMatching(/^[0-9a-f]{8}$/)],
    ]);
    expect(listed[1]).toMatchObject({
      createdAt: '2030-01-01T00:00:00.000Z',
      expiresAt: '2031-01-01T00:00:00.000Z',
      lastUsedAt: new Date(clock.now).toISOString(),
    });
    expect(listed[2]).toMatchObject({ createdAt: null, expiresAt: null, lastUsedAt: null });
    const table = await clientKey('list', '--file', file);
    expect(table.stdout.split('\n').filter((line) => /^(test|shop|kiosk) /.test(line))).toHaveLength(3);
    expect(list.stdout + table.stdout).not.toContain('CANARY');
  });

  test('with a malformed time keeps the gateway from starting, and the message names the field', async () => {
    for (const wrong of [{ expiresAt: '2031-01-01' }, { createdAt: 'yesterday' }, { label: '' }])
      await expect(rigWith({ ...key, ...wrong })).rejects.toThrow(
        new RegExp(`${Object.keys(wrong)[0]}: expected`),
      );
  });
});

describe('What cannot be done is said, and the exit code is 2', () => {
  const FAULTS: [string, string[], RegExp][] = [
    ['nothing is asked', [], /Usage: paygraph client-key/],
    ['no id is given', ['new'], /Missing required argument 'id'/],
    ['the command is not known', ['old', 'shop'], /Unknown command 'old'/],
    ['the id is empty', ['new', ''], /id: expected 1 to 64 letters/],
    ['the id has a blank', ['new', 'my shop'], /id: expected 1 to 64 letters/],
    ['the id has a slash', ['new', '../shop'], /id: expected 1 to 64 letters/],
    ['the id has a line break', ['new', 'shop\n'], /id: expected 1 to 64 letters/],
    ['the id is too long', ['new', 'x'.repeat(65)], /id: expected 1 to 64 letters/],
    ['the label has a blank', ['new', 'shop', '--label', 'my key'], /label: expected 1 to 64 letters/],
    ['a duration has no unit', ['new', 'shop', '--expires-in', '90'], /--expires-in: /],
    ['a duration is nothing', ['new', 'shop', '--expires-in', '0d'], /--expires-in: /],
    [
      'a scope is not known',
      ['new', 'shop', '--scopes', 'payments:write'],
      /scopes: expected a list of scopes/,
    ],
    ['scopes are separated by blanks', ['new', 'shop', '--scopes', 'payments:read payouts:read'], /scopes: /],
    ['no scope is named', ['new', 'shop', '--scopes', ''], /scopes: expected a list of scopes/],
    ['a channel is no UUID', ['new', 'shop', '--channels', 'everything'], /channels: expected/],
    ['all channels and one', ['new', 'shop', '--channels', `*,${CHANNEL}`], /channels: expected/],
    ['no channel is named', ['new', 'shop', '--channels', ''], /channels: expected/],
    ['an option is not known', ['new', 'shop', '--everything'], /--everything/],
    ['an option has no value', ['new', 'shop', '--file'], /--file/],
    ['there are two ids', ['new', 'shop', 'kiosk'], /One client at a time/],
    ['the file cannot be made', ['new', 'shop', '--file', '/nonexistent/clients.json'], /ENOENT/],
    ['the file is a folder', ['new', 'shop', '--file', tmpdir()], /EISDIR/],
  ];

  test.each(FAULTS)('%s', async (_what, args, says) => {
    const run = await clientKey(...args);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(says);
    expect(run.stderr).not.toMatch(/pgk_|^\s+at /m);
  });

  test('and --help tells how, with every scope', async () => {
    const run = await clientKey('--help');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    for (const scope of ALL_SCOPES) expect(run.stdout).toContain(scope);
  });
});
