import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { run, type Ran } from '../cli/support/run';
import { until } from '../support/latch';
import { CHANNEL, type Json } from '../support/caller';
import { ALL_SCOPES, clientKeysFile, clientKeysText, type TestClientKey } from '../support/credentials';
import { testGateway } from '../support/gateway';
import { expectUnauthenticated } from './support/responses';
import { fileOf, sha256, temporaryFolder } from '../support/manifests';
import { bearer } from './support/harness';

const clientKey = (...args: string[]): Promise<Ran> => run(['client-key', ...args]);

type Entry = Omit<TestClientKey, 'key'> & { keySha256: string };

const DAY_MS = 86_400_000;
const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
/** Returns the lifetime of a key in days. */
const lifetimeOf = ({ createdAt = '', expiresAt = '' }: Entry): number =>
  (Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS;

const keyIn = ({ out }: Ran): string => /^pgk_[\w-]{43}$/m.exec(out)?.[0] ?? '';
const entryIn = ({ out }: Ran): Entry => JSON.parse(/^\{[^]*^\}$/m.exec(out)?.[0] ?? 'null') as Entry;
const entriesIn = (file: string): Entry[] => JSON.parse(readFileSync(file, 'utf8')) as Entry[];

const fileWith = (...clients: TestClientKey[]): string => fileOf(clientKeysText(clients));

const newFile = (): string => path.join(temporaryFolder(), 'clients.json');

describe('client-key new', () => {
  test('prints a new key exactly once, and an entry for CLIENT_KEYS_FILE that has every scope except cards:direct', async () => {
    const [ran, again] = [await clientKey('new', 'shop'), await clientKey('new', 'shop')];
    expect(ran).toMatchObject({ code: 0, err: '' });
    const key = keyIn(ran);
    expect(key).not.toBe('');
    expect(keyIn(again)).not.toBe(key);
    expect(ran.out.split(key)).toHaveLength(2);
    expect(entryIn(ran)).toEqual({
      id: 'shop',
      keySha256: sha256(key),
      scopes: ALL_SCOPES.filter((scope) => scope !== 'cards:direct'),
      channels: ['*'],
      createdAt: aTime,
    });
  });

  test('writes only the hash of the key to the file, which only its owner can read and a running gateway reloads', async () => {
    const file = newFile();
    const channels = CHANNEL.toUpperCase();
    const options = ['--scopes', 'payments:read, cards:direct', '--channels', channels];
    const first = await clientKey('new', 'shop', '--file', file, ...options);
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toContain(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const made = { scopes: ['payments:read', 'cards:direct'], channels: [channels] };
    expect(entriesIn(file)).toMatchObject([{ id: 'shop', keySha256: sha256(keyIn(first)), ...made }]);
    expect(readFileSync(file, 'utf8')).not.toContain(keyIn(first));
    expect(readdirSync(path.dirname(file))).toEqual(['clients.json']);

    const client = await testGateway('http://127.0.0.1:9/', { env: { CLIENT_KEYS_FILE: file } });
    const statusOf = async (ran: Ran): Promise<number> =>
      (await client.request('{ __typename }', {}, bearer(keyIn(ran)))).status;
    expect(await statusOf(first)).toBe(200);
    const [before] = entriesIn(file);
    const second = await clientKey('new', 'kiosk', '--file', file);
    expect(entriesIn(file)).toMatchObject([before, { id: 'kiosk' }]);
    await until(async () => (await statusOf(second)) === 200);
    expect(await statusOf(first)).toBe(200);
  });

  test.each<[string, string[], string, RegExp]>([
    ['a file that is not JSON', [], '[{"id": "CANARY"', /not JSON/],
    ['an id that the file already has', [], clientKeysText([{ id: 'shop', key: 'CANARY' }]), /rotate/],
    ['a lifetime without a unit', ['--expires-in', '90'], '[]', /'--expires-in <time>' .* '90'/],
    ['an unknown scope', ['--scopes', 'payments:write'], '[]', /scopes: /],
    ['a file that cannot be created', ['--file', '/nonexistent/clients.json'], '[]', /ENOENT/],
  ])('exits with 2 for %s, and changes no file', async (_what, args, text, named) => {
    const file = fileOf(text);
    const { code, out, err } = await clientKey('new', 'shop', '--file', file, ...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(named);
    expect(err).not.toMatch(/CANARY|pgk_|^\s+at /m);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)]);
  });
});

describe('client-key', () => {
  test('rotate adds a key with the same rights, and with the same lifetime unless --expires-in is given', async () => {
    const file = newFile();
    await clientKey('new', 'shop', '--file', file, '--scopes', 'payments:read', '--expires-in', '90d');
    const ran = await clientKey('rotate', 'shop', '--file', file);
    await clientKey('rotate', 'shop', '--file', file, '--expires-in', '12h', '--label', 'third');
    const [first, second, third] = entriesIn(file) as [Entry, Entry, Entry];
    expect(second).toEqual({ ...first, keySha256: sha256(keyIn(ran)), createdAt: aTime, expiresAt: aTime });
    expect([first, second, third].map(lifetimeOf)).toEqual([90, 90, 0.5]);
    expect(third.label).toBe('third');
  });

  test("rotate --old-expires-in shortens the lifetime of the client's other keys, and never extends it", async () => {
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
    expect([kiosk?.expiresAt, made?.expiresAt]).toEqual([undefined, undefined]);
  });

  test.each([
    ['an unknown client', ['other']],
    ['the option --scopes', ['shop', '--scopes', 'payouts:read']],
    ['an expiry of the other keys in the past', ['shop', '--old-expires-in', '-5m']],
    ['a label that another key of the client has', ['shop', '--label', 'main']],
  ])('rotate refuses %s', async (_what, args) => {
    const file = fileWith({ id: 'shop', key: 'pgk_one', label: 'main' });
    const text = readFileSync(file, 'utf8');
    expect(await clientKey('rotate', ...args, '--file', file)).toMatchObject({ code: 2 });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('revoke removes the named key, and refuses to choose one of several keys of a client', async () => {
    const file = fileWith(
      { id: 'shop', key: 'pgk_one', label: 'old' },
      { id: 'shop', key: 'pgk_two' },
      { id: 'kiosk', key: 'pgk_three' },
    );
    const revoke = async (...args: string[]) => (await clientKey('revoke', ...args, '--file', file)).code;
    const ids = () => entriesIn(file).map(({ id, label }) => (label ? `${id} ${label}` : id));
    for (const args of [['shop'], ['shop', '--key', 'other'], ['nobody']])
      expect(await revoke(...args)).toBe(2);
    expect(ids()).toEqual(['shop old', 'shop', 'kiosk']);
    expect(await revoke('shop', '--key', 'old')).toBe(0);
    expect(ids()).toEqual(['shop', 'kiosk']);
    await clientKey('rotate', 'shop', '--file', file);
    expect(await revoke('shop', '--all')).toBe(0);
    expect(ids()).toEqual(['kiosk']);
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
    const ask = () => client.request('{ __typename }', {}, bearer(key.key));
    const expired = () =>
      logLines.map((line) => JSON.parse(line) as Json).filter(({ event }) => event === 'client_key_expired');
    return { clock, file, client, ask, expired, logLines };
  }

  test('is refused from its expiry on, and its label is logged at most once a minute', async () => {
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

  test('is listed by client-key list with the times of its creation, expiry and last use', async () => {
    const used = { ...key, createdAt: '2030-01-01T00:00:00Z', expiresAt: '2031-01-01T00:00:00Z' };
    const { clock, client, file, ask } = await rigWith(used, { id: 'kiosk', key: 'pgk_CANARY-2' });
    await ask();
    const metrics = `${client.gateway.url}/metrics`;
    const list = await clientKey('list', '--file', file, '--metrics', metrics, '--json');
    const listed = JSON.parse(list.out) as Json[];
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
    expect(table.out.split('\n').filter((line) => /^(test|shop|kiosk) /.test(line))).toHaveLength(3);
    expect(list.out + table.out).not.toContain('CANARY');
  });
});
