import { copyFileSync, renameSync } from 'node:fs';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { describeJournals, describePostgresJournal, describeSqliteJournal } from './support/fixture';
import { COMPLETED, created, observationOf, rangeOf, readPage } from './support/observations';
import { begunAs, newAttempt } from './support/samples';
import { reasonOf } from './support/unavailable';

describeJournals('The fence of a journal that may have lost attempts', (fixture) => {
  test('is visible to other instances when it is raised and when it is lowered', async () => {
    const other = await fixture.open();
    const before = Math.floor(await fixture.journal.time());
    await fixture.journal.setFence('operator');
    const { fence } = await other.readFenceState();
    expect(fence).toEqual({ since: expect.any(Number) as number, reason: 'operator' });
    expect(fence?.since).toBeGreaterThanOrEqual(before);
    await other.setFence(null);
    await expect(fixture.journal.readFenceState()).resolves.toMatchObject({ fence: null });
  });

  test('prevents inserts by an instance that has not read its current state', async () => {
    await fixture.journal.setFence('operator');
    const { fence } = await fixture.journal.readFenceState();
    const attempt = newAttempt();
    await expect(fixture.journal.insertAttempt(attempt)).resolves.toEqual({ kind: 'fence_changed' });
    await expect(fixture.journal.find(attempt)).resolves.toBeNull();
    const knowing = { ...attempt, fenceSince: fence?.since ?? 0 };
    await expect(fixture.journal.insertAttempt(knowing)).resolves.toEqual({ kind: 'started' });
    await fixture.journal.setFence(null);
    await expect(
      fixture.journal.insertAttempt(newAttempt({ fenceSince: fence?.since ?? 0 })),
    ).resolves.toEqual({ kind: 'fence_changed' });
  });

  test('prevents only those inserts of a batch that are based on another state of the fence', async () => {
    const attempts = [newAttempt(), newAttempt({ fenceSince: 1 }), newAttempt({ reservesExternalId: true })];
    const results = await Promise.all(attempts.map((attempt) => fixture.journal.insertAttempt(attempt)));
    expect(results.map(({ kind }) => kind)).toEqual(['started', 'fence_changed', 'started']);
  });

  test('is read with a sequence number that grows with each new attempt', async () => {
    await begunAs(fixture.journal, 'in_progress', newAttempt());
    const { lastAttemptSeq } = await fixture.journal.readFenceState();
    await begunAs(fixture.journal, 'in_progress', newAttempt());
    expect((await fixture.journal.readFenceState()).lastAttemptSeq).toBeGreaterThan(lastAttemptSeq);
  });
});

describeSqliteJournal('The fence of a journal that may have lost attempts', (fixture) => {
  test('is raised when a backup has replaced the database file, but not when the same file is opened again', async () => {
    const file = fixture.store.url.slice('file:'.length).replace(/[^/]+$/, 'restored.db');
    const open = () => openJournal(`file:${file}`, JOURNAL_TIMEOUT_MS);
    const first = await open();
    const payment = await created(first);
    await first.close();
    const again = await open();
    await expect(again.readFenceState()).resolves.toMatchObject({ fence: null });
    await again.recordObservation(observationOf(payment));
    await again.close();
    copyFileSync(file, `${file}.backup`);
    renameSync(`${file}.backup`, file);
    const restored = await open();
    await expect(restored.readFenceState()).resolves.toMatchObject({ fence: { reason: 'restored' } });
    await restored.recordObservation(observationOf(payment, COMPLETED));
    const { changes } = await readPage(restored, rangeOf(payment));
    await restored.close();
    const [pending, processing, completed] = changes.map(({ position }) => position.epoch);
    expect(processing).toBe(pending);
    expect(completed).toBeGreaterThan(processing!);
  });
});

describePostgresJournal('The fence of a journal that may have lost attempts', (fixture) => {
  test.each([
    ['another server', "'7000000000000000000/00000001/' || split_part(identity, '/', 3)", 'restored'],
    ['a timeline before a failover', "regexp_replace(identity, '/[0-9A-F]+/', '/0000000A/')", 'failover'],
    ['another table, as before a restore', "regexp_replace(identity, '[0-9]+$', '1')", 'restored'],
  ])('is raised when the journal was last written to %s', async (_what, identity, reason) => {
    await fixture.journal.setFence(null);
    await fixture.store.rows(`UPDATE journal_state SET identity = ${identity}`);
    const attempt = newAttempt();
    await expect(fixture.journal.insertAttempt(attempt)).resolves.toEqual({ kind: 'fence_changed' });
    const { fence } = await fixture.journal.readFenceState();
    expect(fence?.reason).toBe(reason);
    // Reading the state again does not raise it again.
    await expect(fixture.journal.readFenceState()).resolves.toMatchObject({ fence });
  });

  const LATER_TIMELINE = `UPDATE journal_state SET identity = regexp_replace(identity, '/[0-9A-F]+/', '/0000000A/')`;

  test('is seen by every instance that reads it while another instance raises it', async () => {
    const journals = [fixture.journal, await fixture.open(), await fixture.open()];
    await Promise.all(journals.map((journal) => journal.readFenceState()));
    for (let round = 0; round < 5; round += 1) {
      await fixture.journal.setFence(null);
      await fixture.store.rows(LATER_TIMELINE);
      const states = await Promise.all(journals.map((journal) => journal.readFenceState()));
      expect(states.map(({ fence }) => fence?.reason)).toEqual(journals.map(() => 'failover'));
    }
  });

  test('is raised by a failover to a server whose clock is behind', async () => {
    const future = Date.now() + 60_000;
    await fixture.store.rows(`UPDATE journal_state SET fence_since = ${future}, fence_reason = 'operator'`);
    await fixture.store.rows(LATER_TIMELINE);
    await expect(fixture.journal.readFenceState()).resolves.toMatchObject({ fence: { reason: 'failover' } });
    await fixture.journal.setFence(null);
  });
});

describePostgresJournal('A journal', (fixture) => {
  test('refuses every attempt while synchronous_commit is off', async () => {
    const [row] = await fixture.store.rows('SELECT current_database() AS name');
    await fixture.store.rows(`ALTER DATABASE ${String(row?.['name'])} SET synchronous_commit = off`);
    const journal = await fixture.open();
    const { fence } = await fixture.journal.readFenceState();
    const attempt = newAttempt({ fenceSince: fence?.since ?? 0 });
    await expect(reasonOf(journal.insertAttempt(attempt))).resolves.toBe('not_durable');
    await expect(reasonOf(journal.checkWrite(0))).resolves.toBe('not_durable');
    await expect(journal.find(attempt)).resolves.toBeNull();
    await fixture.store.rows(`ALTER DATABASE ${String(row?.['name'])} RESET synchronous_commit`);
  });
});
