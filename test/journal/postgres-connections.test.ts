import { openJournal } from '../../src/datasources/journal/open';
import { PATIENT_MS } from '../support/patience';
import { begunAs, newAttempt, SETTLED } from './support/samples';
import { connected, inPostgres, SERVER } from './support/stores';
import { tcpProxy } from './support/tcp-proxy';
import { expectUnavailable, LIMIT_MS, READS, recovered, UNAVAILABLE, WRITES } from './support/unavailable';

const EVERYTHING = Object.values({ ...WRITES, ...READS });

inPostgres((room) => {
  const killAll = async (): Promise<number> => {
    const killed = await connected(SERVER, (client) =>
      client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'paygraph' AND datname = $1",
        [new URL(room.place.url).pathname.slice(1)],
      ),
    );
    return killed.rowCount ?? 0;
  };

  test('connections that are killed while idle are replaced', async () => {
    await Promise.all(EVERYTHING.map((ask) => ask(room.journal)));
    expect(await killAll()).toBeGreaterThan(0);
    await recovered(room.journal);
    await Promise.all(EVERYTHING.map((ask) => ask(room.journal)));
  });

  test('connections that are killed at work refuse that work at once, and are replaced', async () => {
    const release = await room.place.hold();
    const asked = Promise.allSettled(EVERYTHING.map((ask) => expectUnavailable(ask(room.journal))));
    while ((await killAll()) > 0) await new Promise(setImmediate);
    await release();
    // Those that found a connection only after the release may have gone through.
    expect((await asked).some(({ status }) => status === 'fulfilled')).toBe(true);
    await recovered(room.journal);
  });

  test('a connection that is killed under an attempt leaves the key free', async () => {
    const release = await room.place.hold();
    const attempt = newAttempt();
    const begun = room.journal.begin(attempt);
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE application_name = 'paygraph' AND wait_event_type = 'Lock' AND datname = current_database()`;
    while ((await room.place.rows(waiting)).length === 0) await new Promise(setImmediate);
    await Promise.all([expectUnavailable(begun), killAll()]).finally(release);
    await recovered(room.journal);
    await begunAs(room.journal, 'in_progress', newAttempt({ ...attempt, id: newAttempt().id }));
  });

  describe('behind a network that falls silent', () => {
    const far = new URL(SERVER);
    const behind = async () => {
      const proxy = await tcpProxy(Number(far.port || 5432), far.hostname);
      const url = new URL(room.place.url);
      url.host = `127.0.0.1:${proxy.port}`;
      return { proxy, journal: await openJournal(url.href) };
    };

    test('everything is refused in time, and works again afterwards', async () => {
      const { proxy, journal } = await behind();
      await recovered(journal);
      for (let round = 0; round < 2; round += 1) {
        proxy.silence();
        await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(journal))));
        await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(journal))));
        proxy.resume();
        await recovered(journal);
        await recovered(journal, EVERYTHING);
      }
      await journal.close();
      await proxy.close();
    });

    test('connections that the network forgot are given up', async () => {
      const { proxy, journal } = await behind();
      await recovered(journal);
      // Opens as many connections as there may be.
      await Promise.allSettled(EVERYTHING.map((ask) => ask(journal)));
      proxy.silence();
      await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(journal))));
      proxy.forget();
      await recovered(journal);
      await recovered(journal, EVERYTHING);
      await journal.close();
      await proxy.close();
    });

    test('the next host of the connection string is used', async () => {
      const { proxy, journal: first } = await behind();
      await first.close();
      const url = new URL(room.place.url);
      const hosts = `127.0.0.1:${proxy.port},${url.hostname}:${url.port || 5432}`;
      const journal = await openJournal(room.place.url.replace(url.host, hosts));
      await recovered(journal);
      proxy.silence();
      await recovered(journal);
      await recovered(journal, EVERYTHING);
      await journal.close();
      await proxy.close();
    });

    test('a journal that never reached its database refuses in time, and works when it does', async () => {
      const { proxy, journal } = await behind();
      proxy.silence();
      await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(journal))));
      proxy.resume();
      await recovered(journal);
      await journal.close();
      await proxy.close();
    });

    test('an attempt that was written although its begin was refused can be settled as not sent', async () => {
      const { proxy, journal } = await behind();
      await recovered(journal);
      const attempt = newAttempt();
      proxy.silence();
      await expect(journal.begin(attempt)).rejects.toMatchObject(UNAVAILABLE);
      proxy.resume();
      while ((await room.journal.find(attempt)) === null) await new Promise(setImmediate);
      await recovered(journal);
      await journal.settle(attempt.id, SETTLED.not_sent);
      await begunAs(room.journal, 'in_progress', newAttempt({ ...attempt, id: newAttempt().id }));
      await journal.close();
      await proxy.close();
    });

    test('a journal can be closed', async () => {
      const { proxy, journal } = await behind();
      await recovered(journal);
      proxy.silence();
      const begun = expectUnavailable(journal.begin(newAttempt()));
      const startedAt = performance.now();
      await Promise.all([begun, journal.close()]);
      expect(performance.now() - startedAt).toBeLessThan(2 * LIMIT_MS);
      await proxy.close();
    });
  });
});

inPostgres((room) => {
  test('a journal whose database or user does not exist is refused at opening', async () => {
    const refused = (change: (url: URL) => void): Promise<unknown> => {
      const url = new URL(room.place.url);
      url.password = 'hunter2';
      change(url);
      return openJournal(url.href, PATIENT_MS).catch((error: unknown) => error);
    };
    const database = await refused((url) => (url.pathname = '/paygraph_nowhere'));
    expect(database).toMatchObject({
      name: 'JournalOpenError',
      message: expect.stringContaining('3D000') as string,
    });
    const user = await refused((url) => (url.username = 'nobody_of_paygraph'));
    expect(user).toMatchObject({
      name: 'JournalOpenError',
      message: expect.stringContaining('28') as string,
    });
    expect(String(database) + String(user)).not.toContain('hunter2');
  });
});

test('a journal whose database is not there opens, and refuses everything at once', async () => {
  const journal = await openJournal('postgres://postgres@127.0.0.1:1/nowhere');
  await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(journal))));
  await journal.close();
});

test('an sslmode that makes the driver warn adds no lines to the log', async () => {
  const warned = jest.spyOn(process, 'emitWarning');
  for (const mode of ['prefer', 'require', 'verify-ca'])
    await (await openJournal(`postgres://postgres@127.0.0.1:1/nowhere?sslmode=${mode}`)).close();
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});
