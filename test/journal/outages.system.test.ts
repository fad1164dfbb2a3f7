import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { JournalUnavailable, type Journal } from '../../src/datasources/journal/journal';
import { PostgresHosts } from '../../src/datasources/journal/postgres/hosts';
import { PostgresPool } from '../../src/datasources/journal/postgres/pool';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { until } from '../support/latch';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { POSTGRES_URL, withClient } from '../support/stores';
import { TcpProxy } from '../support/tcp-proxy';
import { describeJournals, describePostgresJournal } from './support/fixture';
import { newAttempt, OUTCOMES, tally } from './support/samples';
import { EVERYTHING, expectUnavailable, LIMIT_MS, READS, recovered, WRITES } from './support/unavailable';

const some = (count: number) => Array.from({ length: count }, () => newAttempt());

describeJournals('A locked journal', (fixture) => {
  let journal: Journal;

  beforeAll(async () => {
    journal = await fixture.openWithShortTimeout();
  });

  test('refuses every write in time, and accepts writes again when it is unlocked', async () => {
    const unlock = await fixture.store.hold();
    const refused = Object.values(WRITES).map((write) => expectUnavailable(write(journal)));
    const reads = async (): Promise<void> => {
      for (const read of Object.values(READS)) await read(journal);
    };
    // PostgreSQL's lock of whole tables also blocks readers.
    const read = Promise.all(refused).then(() => (fixture.store.kind === 'SQLite' ? reads() : undefined));
    await read.finally(unlock);
    for (const write of Object.values(WRITES)) await write(journal);
  });

  test('accepts the outcome "not sent" for refused attempts, whether they were written or not', async () => {
    const unlock = await fixture.store.hold();
    const attempts = some(50);
    await Promise.allSettled(attempts.map((attempt) => journal.insertAttempt(attempt))).finally(unlock);
    await recovered(journal);
    await Promise.all(attempts.map(({ id }) => fixture.journal.recordOutcome(id, OUTCOMES.not_sent)));
    const again = attempts.map((attempt) =>
      fixture.journal.insertAttempt({ ...attempt, id: newAttempt().id }),
    );
    expect(tally(await Promise.all(again))).toEqual({ started: 50 });
  });

  test.each([5, 900])('does not write %i refused attempts after it is unlocked', async (count) => {
    const unlock = await fixture.store.hold();
    const attempts = some(count);
    await Promise.all(attempts.map((attempt) => expectUnavailable(journal.insertAttempt(attempt))));
    // An attempt whose batch gets the lock exactly at its deadline may be written although it is refused.
    await expectUnavailable(journal.insertAttempt(newAttempt())).finally(unlock);
    await recovered(journal);
    // Work that still waits for the lock gets it before this second hold.
    await fixture.store.hold().then((again) => again());
    const kept = new Set((await fixture.store.rows('SELECT id FROM attempts')).map(({ id }) => id));
    expect(attempts.filter(({ id }) => kept.has(id))).toEqual([]);
  });
});

describePostgresJournal('Connections that the server closes', (fixture) => {
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

describePostgresJournal('A network that holds back all packets', (fixture) => {
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

  test('makes the journal refuse everything in time, until packets arrive again', async () => {
    await recovered(journal);
    proxy.pause();
    await refusesEverything();
    await refusesEverything();
    proxy.resume();
    await recovered(journal, EVERYTHING);
  });

  test('makes the journal close connections that the network has dropped', async () => {
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

  test('does not prevent a journal from closing', async () => {
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

test('A server that ends new connections makes the journal unavailable, and does not crash the process', async () => {
  const fatal = ['SFATAL', 'C57P01', 'Mterminating connection', ''].map((field) => `${field}\0`).join('');
  const ready = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([...ready, message('E', Buffer.from(fatal))])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new PostgresPool(new PostgresHosts(`postgres://user@127.0.0.1:${port}/database`), {
    timeLimitMs: JOURNAL_TIMEOUT_MS,
    maxConnections: 1,
    connectionOptions: '',
    migrate: () => Promise.resolve([]),
  });
  await expect(pool.query('SELECT 1', [])).rejects.toBeInstanceOf(JournalUnavailable);
  await pool.close();
  server.close();
});
