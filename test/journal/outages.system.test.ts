import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { ChangeNotifier } from '../../src/datasources/change-notifier/change-notifier';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { inspectPostgres } from '../../src/datasources/journal/diagnostics';
import type { Journal } from '../../src/datasources/journal/journal';
import { classifyJournalError } from '../../src/datasources/journal/journal-error';
import { PostgresHostChooser } from '../../src/datasources/journal/postgres/hosts';
import { PostgresPool } from '../../src/datasources/journal/postgres/pool';
import { systemClock } from '../../src/shared/clock';
import { until } from '../support/latch';
import { POSTGRES_URL, withClient } from '../support/stores';
import { TcpProxy } from '../support/tcp-proxy';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { describeJournals, describePostgresJournal } from './support/fixture';
import { COMPLETED, created, observationOf, rangeOf, readPage, statusesOf } from './support/observations';
import { noCluster, PASSWORD_USER, privateCluster, type Cluster } from './support/private-cluster';
import { asBegun, begunAs, newAttempt, OUTCOMES, tally } from './support/samples';
import {
  EVERYTHING,
  expectUnavailable,
  LIMIT_MS,
  READS,
  reasonOf,
  recovered,
  UNAVAILABLE,
  WRITES,
} from './support/unavailable';

const some = (count: number) => Array.from({ length: count }, () => newAttempt());

describeJournals('A locked journal', (fixture) => {
  let journal: Journal;

  beforeAll(async () => {
    journal = await openJournal(fixture.store.url);
  });

  afterAll(() => journal.close());

  /**
   * To be called after recovered(). Resolves when work that waited for the lock has ended: PostgreSQL grants the lock
   * in order, and SQLite's thread has already run it.
   */
  const afterWaitingWork = (): Promise<void> => fixture.store.hold().then((unlock) => unlock());

  test('refuses every write within the time limit, and accepts writes after it is unlocked', async () => {
    const unlock = await fixture.store.hold();
    const refused = Object.values(WRITES).map((write) => expectUnavailable(write(journal)));
    const reads = (): Promise<void> => recovered(journal, Object.values(READS));
    // PostgreSQL's lock of whole tables also blocks readers.
    const read = Promise.all(refused).then(() => (fixture.store.kind === 'SQLite' ? reads() : undefined));
    await read.finally(unlock);
    await recovered(journal, Object.values(WRITES));
  });

  test('accepts the outcome "not sent" for refused attempts after it is unlocked, so that their keys are free', async () => {
    const unlock = await fixture.store.hold();
    const attempts = some(50);
    await Promise.allSettled(attempts.map((attempt) => journal.insertAttempt(attempt))).finally(unlock);
    await recovered(journal);
    await afterWaitingWork();
    await Promise.all(attempts.map(({ id }) => fixture.journal.recordOutcome(id, OUTCOMES.not_sent)));
    const again = attempts.map(({ key, service }) =>
      fixture.journal.insertAttempt(newAttempt({ key, service })),
    );
    expect(tally(await Promise.all(again))).toEqual({ started: 50 });
  });

  test.each([5, 900])('writes none of %i refused attempts after it is unlocked', async (count) => {
    const unlock = await fixture.store.hold();
    const attempts = some(count);
    await Promise.all(attempts.map((attempt) => expectUnavailable(journal.insertAttempt(attempt))));
    // An attempt whose batch gets the lock exactly at its deadline may be written although it is refused.
    await expectUnavailable(journal.insertAttempt(newAttempt())).finally(unlock);
    await recovered(journal);
    await afterWaitingWork();
    const kept = new Set((await fixture.store.rows('SELECT id FROM attempts')).map(({ id }) => id));
    expect(attempts.filter(({ id }) => kept.has(id))).toEqual([]);
  });
});

describePostgresJournal('Database connections that the server closes', (fixture) => {
  const closeAll = async (): Promise<number> => {
    const closed = await withClient(POSTGRES_URL, (client) =>
      client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'paygraph' AND datname = $1",
        [new URL(fixture.store.url).pathname.slice(1)],
      ),
    );
    return closed.rowCount ?? 0;
  };

  test('are replaced when they were idle', async () => {
    await Promise.all(EVERYTHING.map((ask) => ask(fixture.journal)));
    expect(await closeAll()).toBeGreaterThan(0);
    // pg_terminate_backend() returns before the connections are closed.
    await until(closeAll, (closed) => closed === 0);
    await recovered(fixture.journal);
    await Promise.all(EVERYTHING.map((ask) => ask(fixture.journal)));
  });

  test('are replaced when they were in use, and their calls fail at once', async () => {
    const unlock = await fixture.store.hold();
    const work = Promise.allSettled(EVERYTHING.map((ask) => expectUnavailable(ask(fixture.journal))));
    await until(closeAll, (closed) => closed === 0);
    await unlock();
    // Work that got a connection after the lock was released may have succeeded.
    expect((await work).some(({ status }) => status === 'fulfilled')).toBe(true);
    await recovered(fixture.journal);
  });
});

describePostgresJournal('A network that delivers no packets', (fixture) => {
  let proxy: TcpProxy;
  let journal: Journal;

  beforeEach(async () => {
    proxy = await TcpProxy.to(fixture.store.url);
    journal = await openJournal(proxy.through(fixture.store.url));
  });

  afterEach(async () => {
    await journal.close();
    await proxy.close();
  });

  const refusesEverything = async (): Promise<void> => {
    await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(journal))));
  };

  test('makes the journal refuse every call within the time limit until packets arrive again', async () => {
    await recovered(journal);
    proxy.pause();
    await refusesEverything();
    await refusesEverything();
    proxy.resume();
    await recovered(journal, EVERYTHING);
  });

  test('does not keep the journal from replacing its dead connections as soon as new connections work', async () => {
    // Opens the maximum number of connections.
    await Promise.allSettled(EVERYTHING.map((ask) => ask(journal)));
    await recovered(journal);
    proxy.pause();
    await refusesEverything();
    proxy.resumeNewConnections();
    await recovered(journal, EVERYTHING);
  });

  test('makes the journal use the next host of the connection string', async () => {
    const url = new URL(fixture.store.url);
    const hosts = `127.0.0.1:${proxy.port},${url.hostname}:${url.port || 5432}`;
    const onTwoHosts = await openJournal(fixture.store.url.replace(url.host, hosts));
    await recovered(onTwoHosts);
    proxy.pause();
    await recovered(onTwoHosts, EVERYTHING);
    await onTwoHosts.close();
  });

  test('does not prevent the journal from closing in time', async () => {
    await recovered(journal);
    proxy.pause();
    const started = expectUnavailable(journal.insertAttempt(newAttempt()));
    const startedAt = performance.now();
    await Promise.all([started, journal.close()]);
    expect(performance.now() - startedAt).toBeLessThan(2 * LIMIT_MS);
  });
});

/** Returns a message of the PostgreSQL protocol: type, length, body. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

test('A PostgreSQL server that ends each new connection makes the journal unavailable without a crash', async () => {
  const fatal = ['SFATAL', 'C57P01', 'Mterminating connection', ''].map((field) => `${field}\0`).join('');
  const ready = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([...ready, message('E', Buffer.from(fatal))])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new PostgresPool(new PostgresHostChooser(`postgres://user@127.0.0.1:${port}/database`), {
    timeLimitMs: JOURNAL_TIMEOUT_MS,
    maxConnections: 1,
    serverOptions: '',
    migrate: () => Promise.resolve(),
  });
  await expect(pool.query('SELECT 1', [])).rejects.toMatchObject(UNAVAILABLE);
  await pool.close();
  server.close();
});

/** A server that the tests stop, and its standby, which is promoted at the end. */
let primary: Cluster;
let standby: Cluster;

if (!noCluster)
  beforeAll(async () => {
    primary = await privateCluster();
    standby = await privateCluster(primary);
  });

afterAll(() => {
  for (const cluster of [standby, primary]) cluster?.drop();
});

const describeCluster = (subject: string, define: () => void): void =>
  (noCluster ? describe.skip : describe)(noCluster ? `${subject} (${noCluster})` : subject, define);

describeCluster('A journal on a PostgreSQL server', () => {
  let journal: Journal;
  /** A journal with the production timeout. */
  let shortTimeout: Journal;

  beforeAll(async () => {
    journal = await openJournal(primary.url, JOURNAL_TIMEOUT_MS);
    await journal.ping();
    shortTimeout = await openJournal(primary.url);
  });

  afterAll(async () => {
    await Promise.all([journal?.close(), shortTimeout?.close()]);
  });

  test('refuses every call within the time limit while the server is stopped, and loses no attempt', async () => {
    const attempt = await begunAs(journal, 'in_progress', newAttempt());
    primary.stop();
    for (let round = 0; round < 2; round += 1)
      await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(shortTimeout))));
    // Opened while the server is stopped.
    const early = await openJournal(primary.url);
    await expectUnavailable(early.insertAttempt(newAttempt()));
    primary.start();
    await recovered(early);
    await early.close();
    await expect(journal.find(attempt)).resolves.toMatchObject(asBegun(attempt));
    await recovered(shortTimeout, EVERYTHING);
  });

  test('keeps every recorded attempt when the server crashes under load', async () => {
    const service = newAttempt().service;
    const started: string[] = [];
    let isCrashed = false;
    const workers = Array.from({ length: 16 }, async () => {
      while (!isCrashed) {
        const attempt = newAttempt({ service });
        await journal.insertAttempt(attempt).then(
          () => started.push(attempt.id),
          () => (isCrashed = true),
        );
      }
    });
    await until(() => started.length >= 200);
    primary.stop();
    await Promise.all(workers);
    primary.start();
    await recovered(journal);
    const page = { service, client: 'shop', channel: 'channel-1', limit: 1_000_000 };
    const kept = new Set((await journal.list(page)).map(({ id }) => id));
    expect(started.filter((id) => !kept.has(id))).toEqual([]);
  });

  /** Sets a parameter of the server; null resets it to its default. */
  const configure = (parameter: string, value: string | null): Promise<void> =>
    withClient(primary.url, async (client) => {
      const change = value === null ? `RESET ${parameter}` : `SET ${parameter} = '${value}'`;
      await client.query(`ALTER SYSTEM ${change}`);
      await client.query('SELECT pg_reload_conf()');
      // Connections apply a new setting only between their statements.
      await client.query('SELECT pg_sleep(0.2)');
    });

  test('keeps a status change that a reader has received even if the server crashes before its next regular log flush', async () => {
    await configure('wal_writer_delay', '10s');
    const [read, unread] = [await created(journal), await created(journal)];
    await expect(journal.recordObservation(observationOf(read, COMPLETED))).resolves.toBe('recorded');
    const { changes, endPosition } = await readPage(journal, rangeOf(read));
    expect(changes).toHaveLength(2);
    await journal.recordObservation(observationOf(unread, COMPLETED));
    primary.stop();
    primary.start();
    const found = await until(() => journal.readChanges(rangeOf(read)).catch(() => undefined));
    expect(found).toMatchObject({ changes, endPosition });
    // The crash lost the change that no reader had received; otherwise the test would prove nothing.
    expect(statusesOf(await readPage(journal, rangeOf(unread)))).toEqual(['PENDING']);
    await configure('wal_writer_delay', null);
  });

  test('does not start an attempt whose commit the synchronous standby has not acknowledged', async () => {
    await configure('synchronous_standby_names', 'nobody');
    // Repeated, because a connection may apply the setting only after the next statement.
    const inserting = until(
      () => reasonOf(journal.insertAttempt(newAttempt())),
      (reason) => reason !== 'none',
    );
    const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await withClient(primary.url, (client) => until(async () => (await client.query(cancel)).rowCount === 1));
    await expect(inserting).resolves.toBe('not_durable');
    await configure('synchronous_standby_names', null);
  });

  const password = 'hunter2';
  test.each<[what: string, url: Partial<URL>, reason: string, code: string]>([
    ['the password is missing', { username: PASSWORD_USER }, 'authentication_failed', ''],
    ['the password is wrong', { username: PASSWORD_USER, password }, 'authentication_failed', '28P01'],
    ['the user does not exist', { username: 'nobody', password }, 'authentication_failed', '28'],
    ['the database does not exist', { pathname: '/nowhere', password }, 'database_missing', '3D000'],
  ])('cannot be opened if %s, and the error hides the password', async (_what, parts, reason, code) => {
    const { href } = Object.assign(new URL(primary.url), parts);
    const error = await openJournal(href, JOURNAL_TIMEOUT_MS).catch((refused: unknown) => refused);
    expect(error).toMatchObject({ name: 'JournalOpenError' });
    expect(classifyJournalError((error as Error).cause)).toMatchObject({ reason });
    expect(String(error)).toContain(code);
    expect(String(error)).not.toContain(password);
  });
});

describeCluster('A connection string with two hosts', () => {
  const urlOf = (hosts: Cluster[], attributes = 'read-write'): string =>
    `postgres://postgres:hunter2@${hosts.map(({ host }) => host).join()}/postgres?target_session_attrs=${attributes}`;

  test('connects the journal and the check of `paygraph doctor` to the primary, in either order of the hosts', async () => {
    for (const [hosts, attributes] of [
      [[primary, standby], 'primary'],
      [[standby, primary], 'read-write'],
    ] as const) {
      const journal = await openJournal(urlOf([...hosts], attributes), JOURNAL_TIMEOUT_MS);
      await begunAs(journal, 'in_progress', newAttempt());
      await journal.close();
      const found = await inspectPostgres(urlOf([...hosts]), 5_000);
      expect(found).toMatchObject({ isWritable: true, canListen: true, pendingMigrations: [] });
    }
    const ofStandby = await inspectPostgres(standby.url, 5_000);
    expect(ofStandby).toMatchObject({ isWritable: false, canListen: null });
  });

  test('makes LISTEN and NOTIFY use the primary', async () => {
    const [listener, sender] = [0, 1].map(() => new ChangeNotifier(urlOf([standby, primary]), systemClock));
    const received: unknown[] = [];
    listener!.setListener((change) => received.push(change));
    const change = { subjectHash: 'n'.repeat(22), stateHash: 's'.repeat(8) };
    await until(() => {
      sender!.publish(change);
      return received.length > 0;
    });
    expect(received[0]).toEqual(change);
    await Promise.all([listener!.close(), sender!.close()]);
  });
});
