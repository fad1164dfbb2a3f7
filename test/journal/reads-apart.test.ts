import { randomBytes } from 'node:crypto';
import { openJournal } from '../../src/datasources/journal/open';
import { PATIENT_MS } from '../support/patience';
import { begunAs, newAttempt } from './support/samples';
import { connected, inBothStores, inPostgres, inSqlite } from './support/stores';

inBothStores((room) => {
  test('lists beyond what may wait are refused at once, and creates are not', async () => {
    const { service, client, channel } = await begunAs(room.journal, 'succeeded', newAttempt());
    const page = { service, client, channel, limit: 10 };
    const lists = Array.from({ length: 50 }, () => room.journal.list(page));
    const begun = room.journal.begin(newAttempt());
    const refused = (await Promise.allSettled(lists)).filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const one of refused) expect(one).toMatchObject({ reason: { name: 'JournalBusy' } });
    await expect(begun).resolves.toEqual({ kind: 'started' });
    await expect(room.journal.list(page)).resolves.toHaveLength(1);
  });
});

inPostgres((room) => {
  test('lists that are stuck keep no create, no lookup and no operator waiting', async () => {
    const { service, channel, id } = await begunAs(
      room.journal,
      'succeeded',
      newAttempt({ client: 'stuck client' }),
    );
    // A row policy makes reading a row of that client last on connections for lists, which never sort. It does not bind
    // the superuser that owns the tables.
    const role = `paygraph_${randomBytes(6).toString('hex')}`;
    await room.place.rows(`CREATE ROLE ${role} LOGIN;
      GRANT ALL ON SCHEMA public TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role};
      ALTER TABLE attempts ENABLE ROW LEVEL SECURITY;
      CREATE POLICY stuck ON attempts TO ${role}
        USING (client <> 'stuck client' OR current_setting('enable_sort') = 'on' OR pg_sleep(600) IS NULL)
        WITH CHECK (true)`);
    const url = new URL(room.place.url);
    url.username = role;
    const journal = await openJournal(url.href, PATIENT_MS);
    const asleep = `FROM pg_stat_activity WHERE usename = '${role}' AND wait_event = 'PgSleep'`;
    try {
      const page = { service, client: 'stuck client', channel, limit: 10 };
      let ended = 0;
      const lists = Array.from({ length: 10 }, () => journal.list(page).finally(() => (ended += 1)));
      const settled = Promise.allSettled(lists);
      while ((await room.place.rows(`SELECT 1 ${asleep}`)).length < 2) await new Promise(setImmediate);
      const attempt = await begunAs(journal, 'succeeded', newAttempt({ service }));
      await expect(journal.find(attempt)).resolves.toMatchObject({ id: attempt.id });
      await expect(journal.countUnknown(service)).resolves.toHaveLength(2);
      expect(ended).toBe(0);
      while (ended < lists.length) await room.place.rows(`SELECT pg_cancel_backend(pid) ${asleep}`);
      expect((await settled).map(({ status }) => status)).toEqual(lists.map(() => 'rejected'));
      await expect(room.journal.list(page)).resolves.toMatchObject([{ id }]);
    } finally {
      await journal.close();
      await connected(room.place.url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
    }
  });
});

inSqlite((room) => {
  test('a list is read while a create waits for the file', async () => {
    const { service, client, channel } = await begunAs(room.journal, 'succeeded', newAttempt());
    const release = await room.place.hold();
    let isBegun = false;
    const begun = room.journal.begin(newAttempt()).finally(() => (isBegun = true));
    // By then the create has its place in front.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const page = { service, client, channel, limit: 10 };
    await expect(room.journal.list(page)).resolves.toHaveLength(1);
    expect(isBegun).toBe(false);
    await release();
    await expect(begun).resolves.toEqual({ kind: 'started' });
  });
});
