import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../cli/support/run';
import { until } from '../exactly-once/support/gate';
import { CHECKOUT } from '../gateway/fixtures/program';
import { ALL_SCOPES, clientKeysText } from '../support/credentials';
import { testGateway } from '../support/gateway';
import { bearer } from './support/rig';

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
}

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
    expect(made).toEqual({ ...old, keySha256: digestOf(keyIn(run)) });
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
