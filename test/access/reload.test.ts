import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../exactly-once/support/gate';
import { clientKeysText, type TestClientKey } from '../support/credentials';
import { TRANSACTION_ID } from '../gateway/fixtures/calls';
import { OURS, THEIRS, accessRig, bearer, clientOf, keyOf, type Rig } from './support/rig';

const LOOKUP = 'query Q($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';

const shop = clientOf('shop', { channels: [OURS] });
const other = clientOf('other', { channels: [OURS] });
const READ_AGAIN = 'CLIENT_KEYS_FILE was read again';
const UNUSABLE = 'CLIENT_KEYS_FILE has changed and cannot be used: the keys before stay';

/** A gateway with a file of keys in a folder of its own. */
class Bench {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'paygraph-keys-'));
  readonly file = path.join(this.folder, 'clients.json');
  rig!: Rig;

  static async start(clients: TestClientKey[], env: Record<string, string> = {}): Promise<Bench> {
    const bench = new Bench();
    bench.write(clientKeysText(clients));
    bench.rig = await accessRig({ env: { CLIENT_KEYS_FILE: bench.file, ...env } });
    return bench;
  }

  write(text: string): void {
    writeFileSync(this.file, text);
  }

  /** How a lookup ends: found, or the code of the error. */
  async outcome(id: string, channel = OURS): Promise<unknown> {
    const variables = { c: channel, t: TRANSACTION_ID };
    const { errors, data } = await this.rig.client.ask(LOOKUP, variables, bearer(keyOf(id)));
    return errors?.[0]?.extensions['code'] ?? (data['payment'] ? 'found' : 'null');
  }

  becomes(id: string, outcome: string, channel = OURS): Promise<unknown> {
    return until(
      () => this.outcome(id, channel),
      (now) => now === outcome,
    );
  }

  logged(message: string): string[] {
    return this.rig.logLines.filter((line) => (JSON.parse(line) as { msg: string }).msg === message);
  }

  hasLogged(message: string): Promise<unknown> {
    return until(
      () => this.logged(message).length,
      (count) => count > 0,
    );
  }
}

describe('While the gateway runs', () => {
  test('a client is added, changed and removed, without a restart', async () => {
    const bench = await Bench.start([shop]);
    expect([await bench.outcome('shop'), await bench.outcome('other')]).toEqual(['found', 'UNAUTHENTICATED']);

    bench.write(clientKeysText([shop, other]));
    await bench.becomes('other', 'found');
    expect(await bench.outcome('shop')).toBe('found');

    bench.write(clientKeysText([{ ...shop, channels: [THEIRS] }, other]));
    await bench.becomes('shop', 'FORBIDDEN');
    expect(await bench.outcome('shop', THEIRS)).toBe('found');

    bench.write(clientKeysText([{ ...shop, channels: [THEIRS], scopes: ['payouts:read'] }, other]));
    await bench.becomes('shop', 'FORBIDDEN', THEIRS);

    bench.write(clientKeysText([other]));
    await bench.becomes('shop', 'UNAUTHENTICATED');
    expect(await bench.outcome('other')).toBe('found');
    expect(bench.logged(READ_AGAIN).length).toBeGreaterThan(0);
    expect(bench.logged(UNUSABLE)).toEqual([]);
    expect(bench.rig.logLines.join('')).not.toContain('CANARY');
  });

  test('a key is changed for another of the same client', async () => {
    const bench = await Bench.start([shop]);
    bench.write(clientKeysText([{ ...shop, key: keyOf('new') }]));
    await bench.becomes('new', 'found');
    expect(await bench.outcome('shop')).toBe('UNAUTHENTICATED');
  });

  test('the file is replaced by another of the same size', async () => {
    const bench = await Bench.start([clientOf('aaaa', {})]);
    const fresh = path.join(bench.folder, 'fresh.json');
    writeFileSync(fresh, clientKeysText([clientOf('bbbb', {})]));
    renameSync(fresh, bench.file);
    await bench.becomes('bbbb', 'found');
    expect(await bench.outcome('aaaa')).toBe('UNAUTHENTICATED');
  });

  test('the file is a link through a link, of which the inner one is swapped, as Kubernetes does it', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-secret-'));
    const version = (name: string, clients: TestClientKey[]): void => {
      mkdirSync(path.join(folder, name));
      writeFileSync(path.join(folder, name, 'clients.json'), clientKeysText(clients));
    };
    version('..first', [shop]);
    symlinkSync('..first', path.join(folder, '..data'));
    symlinkSync('..data/clients.json', path.join(folder, 'clients.json'));
    const bench = await Bench.start([], { CLIENT_KEYS_FILE: path.join(folder, 'clients.json') });
    expect(await bench.outcome('shop')).toBe('found');

    version('..second', [other]);
    symlinkSync('..second', path.join(folder, '..data_tmp'));
    renameSync(path.join(folder, '..data_tmp'), path.join(folder, '..data'));
    rmSync(path.join(folder, '..first'), { recursive: true });
    await bench.becomes('other', 'found');
    expect(await bench.outcome('shop')).toBe('UNAUTHENTICATED');
  });

  test.each([
    ['is not JSON', '[{"id": "CANARY"'],
    ['is empty', ''],
    ['has a client that is not right', JSON.stringify([{ id: 'CANARY', scopes: 'CANARY' }])],
  ])('a new file that %s changes nothing, and the log says so once', async (_what, text) => {
    const bench = await Bench.start([shop]);
    bench.write(text);
    await bench.hasLogged(UNUSABLE);
    expect(await bench.outcome('shop')).toBe('found');
    expect(await bench.outcome('other')).toBe('UNAUTHENTICATED');
    const [line = ''] = bench.logged(UNUSABLE);
    expect(JSON.parse(line)).toMatchObject({
      level: 50,
      why: expect.stringMatching(/JSON|entry 1/) as unknown,
    });

    bench.write(clientKeysText([other]));
    await bench.becomes('other', 'found');
    expect(await bench.outcome('shop')).toBe('UNAUTHENTICATED');
    expect(bench.logged(UNUSABLE)).toHaveLength(1);
    expect(bench.rig.logLines.join('')).not.toContain('CANARY');
  });

  test('a file that is gone changes nothing until it is back', async () => {
    const bench = await Bench.start([shop]);
    rmSync(bench.file);
    await bench.hasLogged(UNUSABLE);
    expect(await bench.outcome('shop')).toBe('found');
    bench.write(clientKeysText([other]));
    await bench.becomes('other', 'found');
    expect(await bench.outcome('shop')).toBe('UNAUTHENTICATED');
  });
});
