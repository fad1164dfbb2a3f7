import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import path from 'node:path';
import { openJournal } from '../../src/datasources/journal/open';
import { newAttempt } from '../journal/support/samples';
import { inBothStores, inPostgres, inSqlite, SERVER, sqlitePlace } from '../journal/support/stores';
import { PATIENT_MS } from '../support/patience';
import { closeAfterTests, testSandbox } from '../support/gateway';
import { doctor, goodSettings } from './support/doctor';

let service: string;

beforeAll(async () => {
  service = (await testSandbox()).url;
});

/** What it finds about the journal at that address. */
const journalAt = async (DATABASE_URL: string) =>
  (await doctor({ ...goodSettings(service), DATABASE_URL })).of('journal');

const failedWith = (says: RegExp, mend: RegExp) =>
  expect.objectContaining({
    status: 'failed',
    says: expect.stringMatching(says) as string,
    mend: expect.stringMatching(mend) as string,
  }) as object;

inBothStores((room) => {
  test('a journal that is up to date and can be written is well', async () => {
    const findings = await journalAt(room.place.url);
    // How full the disk is here is not what is tested.
    const states = findings.filter(({ says }) => !says.includes('MiB')).map(({ status }) => status);
    expect(new Set(states)).toEqual(new Set(['ok']));
    expect(findings.map(({ says }) => says)).toContain('The tables are up to date.');
    expect(findings.at(-1)?.says).toBe('No outcome is unknown.');
  });

  test('unknown outcomes are counted, with the age of the oldest', async () => {
    const HOUR = 3_600_000;
    for (const hours of [5, 3]) {
      const attempt = newAttempt({ startedAt: Date.now() - hours * HOUR });
      await room.journal.begin(attempt);
      await room.journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: 0 });
    }
    expect((await journalAt(room.place.url)).at(-1)).toMatchObject({
      status: 'warning',
      says: expect.stringMatching(/^The outcome of 2 creates is unknown, the oldest for 5\.\d h\.$/),
      mend: expect.stringContaining('paygraph attempts list'),
    });
  });

  test('steps that are missing are for migrate, steps that nobody knows for a newer version', async () => {
    const steps = await room.place.rows('SELECT name FROM applied_migrations ORDER BY name DESC LIMIT 1');
    const last = String(steps[0]?.['name']);
    await room.place.rows(`DELETE FROM applied_migrations WHERE name = '${last}'`);
    expect(await journalAt(room.place.url)).toContainEqual(
      expect.objectContaining({
        status: 'warning',
        says: `The tables are not up to date (missing: ${last}).`,
        mend: expect.stringContaining('paygraph migrate') as string,
      }),
    );
    await room.place.rows(`INSERT INTO applied_migrations VALUES ('${last}'), ('9999-from-the-future')`);
    expect(await journalAt(room.place.url)).toContainEqual(
      failedWith(/newer version \(9999-from-the-future\)/, /Run the version/),
    );
    await room.place.rows("DELETE FROM applied_migrations WHERE name LIKE '9999%'");
  });

  test('looking at it writes nothing and keeps nobody from writing', async () => {
    const rows = () => room.place.rows('SELECT * FROM attempts ORDER BY seq');
    const before = await rows();
    const attempt = newAttempt();
    await Promise.all([journalAt(room.place.url), room.journal.begin(attempt)]);
    expect(await rows()).toEqual([...before, expect.objectContaining({ id: attempt.id })]);
  });
});

inSqlite((room) => {
  const fileOf = (url: string): string => url.slice('file:'.length);

  test('one that is not there yet is made by the gateway, not by the doctor', async () => {
    const place = sqlitePlace();
    const folder = path.resolve(fileOf(place.url), '../..');
    expect(await journalAt(place.url)).toEqual([
      expect.objectContaining({ status: 'ok', says: expect.stringContaining('is not there yet') as string }),
      expect.objectContaining({ says: expect.stringContaining(`on the disk of ${folder}.`) as string }),
    ]);
    expect(readdirSync(folder)).toEqual([]);
    await place.drop();
  });

  test('one below a file can never be', async () => {
    expect(await journalAt(`${room.place.url}/deeper/journal.db`)).toContainEqual(
      failedWith(/cannot be written/, /chown/),
    );
  });

  test('one that can only be read is said so', async () => {
    const place = sqlitePlace();
    await (await openJournal(place.url, PATIENT_MS)).close();
    // SQLite itself refuses to write a file that says it was written by a later format (its header, byte 18).
    const file = fileOf(place.url);
    const bytes = readFileSync(file);
    bytes[18] = 3;
    writeFileSync(file, bytes);
    expect(await journalAt(place.url)).toContainEqual(failedWith(/journal\.db cannot be written/, /chown/));
    await place.drop();
  });

  test('a folder is named as a folder, without advice on its permissions', async () => {
    const place = sqlitePlace();
    const folder = path.resolve(fileOf(place.url), '../..');
    const report = await doctor({ ...goodSettings(service), DATABASE_URL: `file:${folder}` });
    expect(report.of('journal')).toContainEqual(failedWith(/is a folder/, /DATABASE_URL/));
    expect(report.text).not.toMatch(new RegExp(`chmod \\d+ ${folder}`));
    await place.drop();
  });

  test('another file is no journal', async () => {
    const place = sqlitePlace();
    mkdirSync(path.dirname(fileOf(place.url)));
    writeFileSync(fileOf(place.url), 'This is a text, and by no means a database. '.repeat(100));
    expect(await journalAt(place.url)).toContainEqual(
      failedWith(/cannot be opened \(SQLite 26\)/, /no SQLite database/),
    );
    await place.drop();
  });

  test('one that another process keeps to itself is said so', async () => {
    const letGo = await room.place.hold();
    expect(await journalAt(room.place.url)).toContainEqual(
      failedWith(/cannot be opened \(SQLite 5\)/, /Another process/),
    );
    await letGo();
  });
});

/**
 * A way to PostgreSQL as a pooler that gives every transaction another connection: notifications do not come through.
 * (PgBouncer is not always at hand; what it does to LISTEN is this.)
 */
async function withoutNotifications(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const NOTIFICATION = 'A'.charCodeAt(0);
  const server = createServer((near) => {
    const far = connect(Number(port || 5432), hostname);
    let rest = Buffer.alloc(0);
    far.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      // A message is one byte of kind, four of length, and the rest.
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readUInt32BE(1));
        rest = rest.subarray(message.length);
        if (message[0] !== NOTIFICATION) near.write(message);
      }
    });
    near.on('data', (chunk) => far.write(chunk));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => one.destroy()).on('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTests({ close: async () => void server.close() });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return through.href;
}

inPostgres((room) => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(room.place.url);
    change(url);
    return url.href;
  };

  test('a server that does not answer is named, without its address', async () => {
    const away = changed((url) => {
      url.port = '1';
      url.password = 'hunter2';
    });
    const report = await doctor({ ...goodSettings(service), DATABASE_URL: away });
    expect(report.code).toBe(1);
    expect(report.of('journal')).toEqual([failedWith(/\(ECONNREFUSED\)/, /pg_hba/)]);
    expect(report.text).not.toContain('hunter2');
  });

  test('of several servers that cannot be used each is named, as the gateway does', async () => {
    const { host } = new URL(SERVER);
    const standby = `${host}/?options=-c%20default_transaction_read_only%3Don`;
    expect(await journalAt(`postgres://postgres@127.0.0.1:1,${standby}`)).toEqual([
      failedWith(/host 1 connection_refused, host 2 read_only/, /./),
    ]);
  });

  test('a database that is not there is named so', async () => {
    expect(await journalAt(changed((url) => (url.pathname = '/paygraph_nowhere')))).toEqual([
      failedWith(/\(3D000\)/, /CREATE DATABASE/),
    ]);
  });

  test('one that can only be read is said so', async () => {
    const readOnly = changed((url) => url.searchParams.set('options', '-c default_transaction_read_only=on'));
    const name = new URL(room.place.url).pathname.slice(1);
    await room.place.rows(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await journalAt(readOnly)).toContainEqual(failedWith(/tables cannot be written/, /replica|GRANT/));
  });

  test('a pooler that passes on no notifications is found out', async () => {
    expect(await journalAt(await withoutNotifications(room.place.url))).toContainEqual(
      expect.objectContaining({
        status: 'warning',
        says: expect.stringContaining('LISTEN and NOTIFY do not work') as string,
        mend: expect.stringContaining('PgBouncer') as string,
      }),
    );
  });
});
