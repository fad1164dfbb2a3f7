import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { ChangePosition, RecordedChange } from '../../src/datasources/journal/changes';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { until } from '../support/latch';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { describeJournals, describePostgresJournal, describeSqliteJournal } from './support/fixture';
import {
  claimOf,
  COMPLETED,
  created,
  observationOf,
  rangeOf,
  readPage,
  readAll,
  statusesOf,
} from './support/observations';

/** Opens a connection that closes at the end of its block, also after a failure: open transactions delay others. */
async function connected(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client(url);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

describeJournals('The order of changes', (fixture) => {
  test('is the same for a reader during concurrent writes and afterwards, without a gap', async () => {
    const first = await created(fixture.journal);
    const { service, channel } = first;
    const payments = await Promise.all(
      Array.from({ length: 60 }, () => created(fixture.journal, { service, channel })),
    );
    const instances = [fixture.journal, await fixture.open(), await fixture.open()];
    let isOver = false;
    const recording = Promise.all(
      payments.map(async (payment, index) => {
        const journal = instances[index % instances.length]!;
        await journal.recordObservation(observationOf(payment));
        await journal.recordObservation(observationOf(payment, { ...COMPLETED, requestedAt: 4_200 }));
      }),
    ).finally(() => (isOver = true));
    const read: RecordedChange[] = [];
    let after: ChangePosition | null = null;
    const readOn = async (): Promise<boolean> => {
      const page = await fixture.journal.readChanges(rangeOf(first, { after, limit: 7 }));
      read.push(...page.changes);
      after = page.readUntil;
      return page.hasMore || page.isBehind;
    };
    while (!isOver) await readOn();
    await recording;
    await until(async () => !(await readOn()));
    expect(read).toHaveLength(1 + 3 * payments.length);
    expect(read).toEqual(await readAll(fixture.journal, rangeOf(first)));
  });

  test('continues after the fence was raised, with a later epoch', async () => {
    const payment = await created(fixture.journal);
    await fixture.journal.setFence('operator');
    await fixture.journal.setFence(null);
    await fixture.journal.recordObservation(observationOf(payment));
    const { changes } = await readPage(fixture.journal, rangeOf(payment));
    expect(changes.map(({ status }) => status)).toEqual(['PENDING', 'PROCESSING']);
    expect(changes[1]!.position.epoch).toBeGreaterThan(changes[0]!.position.epoch);
  });
});

describeSqliteJournal('The order of changes', (fixture) => {
  const fileOf = (name: string): string => fixture.store.url.slice('file:'.length).replace(/[^/]+$/, name);

  test('has a later epoch in a file that was restored from a backup', async () => {
    const file = fileOf('restored.db');
    const open = () => openJournal(`file:${file}`, JOURNAL_TIMEOUT_MS);
    const first = await open();
    const payment = await created(first);
    await first.close();
    const again = await open();
    await again.recordObservation(observationOf(payment));
    await again.close();
    copyFileSync(file, `${file}.backup`);
    rmSync(file);
    renameSync(`${file}.backup`, file);
    const restored = await open();
    await restored.recordObservation(observationOf(payment, COMPLETED));
    const { changes } = await readPage(restored, rangeOf(payment));
    await restored.close();
    const [pending, processing, completed] = changes.map(({ position }) => position.epoch);
    expect(processing).toBe(pending);
    expect(completed).toBeGreaterThan(processing!);
  });

  test('is written to disk before a reader gets new changes, and not again for the same changes', async () => {
    const payment = await created(fixture.journal);
    using database = new DatabaseSync(fileOf('journal.db'), { readOnly: true });
    const version = (): unknown => database.prepare('PRAGMA data_version').get();
    const before = version();
    await readPage(fixture.journal, rangeOf(payment));
    const synced = version();
    expect(synced).not.toEqual(before);
    await readPage(fixture.journal, rangeOf(payment));
    await fixture.journal.newestChange(payment.service, payment.channel);
    expect(version()).toEqual(synced);
  });
});

describePostgresJournal('The order of changes', (fixture) => {
  test('shows no change before the changes of earlier database transactions that are still in progress', async () => {
    const [early, waiting, late] = [
      await created(fixture.journal),
      await created(fixture.journal),
      await created(fixture.journal),
    ];
    const other = await fixture.open();
    await readPage(other, rangeOf(late));
    // Locks the second row of a batch, so that the batch waits when it already has a database transaction id.
    await using holder = await connected(fixture.store.url);
    await holder.query('BEGIN');
    await holder.query(
      `SELECT 1 FROM followed_transactions WHERE id = (SELECT max(id) - 1 FROM followed_transactions) FOR UPDATE`,
    );
    const recording = Promise.all(
      [early, waiting].map((payment) => fixture.journal.recordObservation(observationOf(payment, COMPLETED))),
    );
    const isWaiting =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    await until(async () => (await fixture.store.rows(isWaiting)).length > 0);
    await expect(other.recordObservation(observationOf(late, COMPLETED))).resolves.toBe('recorded');
    const behind = await other.readChanges(rangeOf(late));
    expect(statusesOf(behind)).toEqual(['PENDING']);
    expect(behind.isBehind).toBe(true);
    // Also when the reader examines the transaction that delays it.
    const endsAt = performance.now() + 200;
    while (performance.now() < endsAt)
      expect(statusesOf(await other.readChanges(rangeOf(late)))).toEqual(['PENDING']);
    await holder.query('COMMIT');
    await expect(recording).resolves.toEqual(['recorded', 'recorded']);
    const rest = await until(
      () => other.readChanges({ ...rangeOf(late), after: behind.readUntil }),
      ({ changes }) => changes.length > 0,
    );
    expect(statusesOf(rest)).toEqual(['COMPLETED']);
    const rows = await fixture.store.rows('SELECT xid FROM changes ORDER BY seq DESC LIMIT 3');
    const xids = rows.map(({ xid }) => Number(xid));
    expect(Math.min(...xids)).toBeLessThan(rest.changes[0]!.position.transaction);
  });

  test('is not delayed by transactions that write no changes', async () => {
    await using client = await connected(fixture.store.url);
    await client.query('BEGIN; CREATE TABLE others (id INTEGER)');
    const payment = await created(fixture.journal);
    const page = await readPage(fixture.journal, rangeOf(payment));
    expect(statusesOf(page)).toEqual(['PENDING']);
    const newest = await fixture.journal.newestChange(payment.service, payment.channel);
    expect(newest).toEqual(page.readUntil);
    await client.query('ROLLBACK');
  });

  test('has a later epoch when the journal was last written to another database', async () => {
    const [first, second] = [await created(fixture.journal), await created(fixture.journal)];
    // As after a failover to a server whose database transaction ids are lower.
    await fixture.store.rows('UPDATE changes SET xid = xid + 1000000');
    await fixture.store.rows("UPDATE change_epoch SET identity = 'another server'");
    const before = await readPage(fixture.journal, rangeOf(first));
    expect(statusesOf(before)).toEqual(['PENDING']);
    await expect(fixture.journal.recordObservation(observationOf(first))).resolves.toBe('recorded');
    const after = await readPage(fixture.journal, rangeOf(first, { after: before.readUntil }));
    expect(statusesOf(after)).toEqual(['PROCESSING']);
    expect(after.readUntil.epoch).toBeGreaterThan(before.readUntil.epoch);
    expect(after.readUntil.transaction).toBeLessThan(before.readUntil.transaction);
    await fixture.store.rows("UPDATE change_epoch SET identity = 'another server'");
    await expect(fixture.journal.recordObservation(observationOf(second))).resolves.toBe('recorded');
  });

  test('starts from a lookup instead of an outcome recorded just after the move to another database', async () => {
    await fixture.store.rows("UPDATE change_epoch SET identity = 'another server'");
    const payment = await created(fixture.journal);
    const due = await fixture.journal.claimFollowed(claimOf(payment, { now: 3_000 }));
    expect(due).toMatchObject([{ transactionId: payment.transactionId, status: null }]);
    await expect(fixture.journal.recordObservation(observationOf(payment))).resolves.toBe('recorded');
    const { changes } = await readPage(fixture.journal, rangeOf(payment));
    expect(changes).toMatchObject([{ previousStatus: null, status: 'PROCESSING' }]);
  });
});
