import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { PositionExpired, type ChangeRange } from '../../src/datasources/journal/changes';
import { until } from '../support/latch';
import { withClient } from '../support/stores';
import { describeJournals, describePostgresJournal, describeSqliteJournal } from './support/fixture';
import {
  claimOf,
  COMPLETED,
  CREATED,
  created,
  observationOf,
  rangeOf,
  readPage,
  statusesOf,
} from './support/observations';
import { newAttempt, OUTCOMES, purgeAll } from './support/samples';

describeJournals('The recorded status changes', (fixture) => {
  test('contain the first status and each later status or sub-state once', async () => {
    const payment = await created(fixture.journal, { currency: 'INR', value: '12.50', method: 'upi' });
    let now = 4_000;
    const observe = (given = {}) => {
      now += 10;
      const observation = observationOf(payment, { requestedAt: now, observedAt: now + 5, ...given });
      return fixture.journal.recordObservation(observation);
    };
    await expect(observe()).resolves.toBe('recorded');
    await expect(observe()).resolves.toBe('unchanged');
    await expect(observe({ state: 'WAITING_FOR_UTR' })).resolves.toBe('recorded');
    await expect(observe({ status: 'MISPAID', received: '11.00' })).resolves.toBe('recorded');
    await expect(observe(COMPLETED)).resolves.toBe('recorded');
    await expect(observe(COMPLETED)).resolves.toBe('not_followed');
    const { changes, hasMore, endPosition, hasUnreadableChanges } = await readPage(
      fixture.journal,
      rangeOf(payment),
    );
    const { transactionId, externalId } = payment;
    const common = { transactionId, externalId, method: 'upi', currency: 'INR', value: '12.50' };
    expect(changes).toMatchObject(
      [
        { previousStatus: null, status: 'PENDING', state: 'WAITING_FOR_CODE', recordedAt: 3_000 },
        { previousStatus: 'PENDING', status: 'PROCESSING', recordedAt: 4_015 },
        { previousStatus: 'PROCESSING', status: 'PROCESSING', state: 'WAITING_FOR_UTR', recordedAt: 4_035 },
        { previousStatus: 'PROCESSING', status: 'MISPAID', received: '11.00', recordedAt: 4_045 },
        { previousStatus: 'MISPAID', status: 'COMPLETED', recordedAt: 4_055 },
      ].map((change) => ({ state: null, received: null, ...common, ...change })),
    );
    expect([hasMore, endPosition, hasUnreadableChanges]).toEqual([false, changes.at(-1)?.position, false]);
  });

  test('begin with the first lookup if the response to the create was lost', async () => {
    const payment = await created(fixture.journal, {}, null);
    await expect(readPage(fixture.journal, rangeOf(payment))).resolves.toMatchObject({ changes: [] });
    const [followed] = await fixture.journal.claimFollowed(claimOf(payment, { now: 3_000 }));
    expect(followed).toMatchObject({ transactionId: payment.transactionId, status: null, changedAt: 3_000 });
    const observation = observationOf(payment, { requestedAt: 2_000 });
    await expect(fixture.journal.recordObservation(observation)).resolves.toBe('recorded');
    const { changes } = await readPage(fixture.journal, rangeOf(payment));
    expect(changes).toMatchObject([{ previousStatus: null, status: 'PROCESSING' }]);
  });

  test('contain only the create if the transaction was completed at once', async () => {
    const payment = await created(fixture.journal, {}, COMPLETED);
    const page = await readPage(fixture.journal, rangeOf(payment));
    expect(statusesOf(page)).toEqual(['COMPLETED']);
    await expect(fixture.journal.claimFollowed(claimOf(payment))).resolves.toEqual([]);
    await expect(fixture.journal.recordObservation(observationOf(payment))).resolves.toBe('not_followed');
  });

  test('contain a create once, and neither rejected creates nor transactions that the gateway did not create', async () => {
    const payment = await created(fixture.journal);
    const { service, channel, transactionId } = payment;
    const outcome = { ...OUTCOMES.succeeded, transactionId, observedState: CREATED };
    await fixture.journal.recordOutcome(payment.id, outcome);
    const other = newAttempt({ service, channel });
    await fixture.journal.insertAttempt(other);
    await expect(fixture.journal.recordOutcome(other.id, outcome)).resolves.toBe(false);
    await fixture.journal.recordOutcome(other.id, OUTCOMES.rejected);
    const [id, kind] = [randomUUID(), 'payout'] as const;
    for (const given of [{ transactionId: id }, { kind }, { channel: id }, { service: id }]) {
      const recording = fixture.journal.recordObservation(observationOf(payment, given));
      await expect(recording).resolves.toBe('not_followed');
    }
    expect(statusesOf(await readPage(fixture.journal, rangeOf(payment)))).toEqual(['PENDING']);
    await expect(fixture.journal.countFollowed(service)).resolves.toMatchObject({ followed: 1 });
  });

  test('contain no response that is older than the last recorded status, unless the response has a final status', async () => {
    const payment = await created(fixture.journal);
    const observe = (given: object) => fixture.journal.recordObservation(observationOf(payment, given));
    await expect(observe({ requestedAt: 4_000, observedAt: 4_100 })).resolves.toBe('recorded');
    const older = { requestedAt: 4_050, observedAt: 4_200, nextLookupAt: 9_000 };
    await expect(observe({ ...older, status: 'PENDING' })).resolves.toBe('outdated');
    const due = await fixture.journal.claimFollowed(claimOf(payment, { now: 4_200 }));
    expect(due).toMatchObject([{ status: 'PROCESSING' }]);
    await expect(observe({ ...older, ...COMPLETED })).resolves.toBe('recorded');
    const page = await readPage(fixture.journal, rangeOf(payment));
    expect(statusesOf(page)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  });

  test('can be read page by page, filtered by channel, kind, client and service', async () => {
    const [service, channel, client] = [randomUUID(), randomUUID(), 'shop 2'];
    const first = await created(fixture.journal, { service, channel });
    const second = await created(fixture.journal, { service, channel, client });
    const payout = await created(fixture.journal, { service, channel, client, kind: 'payout' });
    const elsewhere = await created(fixture.journal, { service, client });
    await created(fixture.journal, { channel });
    const read = async (given: Partial<ChangeRange>): Promise<string[]> => {
      const ids: string[] = [];
      for (let after = given.after ?? null, hasMore = true; hasMore;) {
        const page = await readPage(fixture.journal, rangeOf(first, { limit: 1, ...given, after }));
        ids.push(...page.changes.map(({ transactionId }) => transactionId));
        ({ endPosition: after, hasMore } = page);
      }
      return ids;
    };
    const ids = [first, second, payout, elsewhere].map(({ transactionId }) => transactionId);
    await expect(read({})).resolves.toEqual(ids.slice(0, 3));
    await expect(read({ channel: null })).resolves.toEqual(ids);
    await expect(read({ clientByKind: { payment: null } })).resolves.toEqual(ids.slice(0, 2));
    await expect(read({ clientByKind: { payment: client } })).resolves.toEqual([ids[1]]);
    await expect(read({ clientByKind: { payout: null, payment: 'shop' } })).resolves.toEqual([
      ids[0],
      ids[2],
    ]);
    await expect(read({ clientByKind: {} })).resolves.toEqual([]);
    const page = await readPage(fixture.journal, rangeOf(first, { clientByKind: { payment: 'nobody' } }));
    const newest = await fixture.journal.newestChange(service, channel);
    expect(page).toMatchObject({ changes: [], hasMore: false, endPosition: newest });
    await expect(read({ after: newest })).resolves.toEqual([]);
  });

  test('cannot be read from a position after which changes of the channel were purged', async () => {
    await purgeAll(fixture.journal, 'changes', 1e13);
    const [service, channel] = [randomUUID(), randomUUID()];
    const first = await created(fixture.journal, { service, channel });
    await created(fixture.journal, { service, channel });
    const elsewhere = await created(fixture.journal, { service });
    const { changes } = await readPage(fixture.journal, rangeOf(first));
    const [oldest, newest] = changes.map(({ position }) => position);
    const start = { epoch: 0, xid: 0, seq: 0 };
    const read = (given: object) => readPage(fixture.journal, rangeOf(first, given));
    await expect(read({ after: start })).resolves.toMatchObject({ changes });
    const oneStep = { target: 'changes', expiredBefore: 3_001, maxExaminedCount: 1, after: null } as const;
    await expect(fixture.journal.purgeStep(oneStep)).resolves.toMatchObject({ deletedCount: 1 });
    await expect(read({ after: start })).rejects.toThrow(PositionExpired);
    await expect(read({ after: start })).rejects.toMatchObject({ oldestPosition: oldest });
    await expect(read({ after: oldest })).resolves.toMatchObject({ changes: [changes[1]] });
    await expect(read({ after: null })).resolves.toMatchObject({ changes: [changes[1]] });
    await expect(read({ channel: null, after: start })).rejects.toThrow(PositionExpired);
    const untouched = await readPage(fixture.journal, rangeOf(elsewhere, { after: start }));
    expect(untouched.changes).toHaveLength(1);
    await purgeAll(fixture.journal, 'changes', 3_001);
    await expect(read({ after: oldest })).rejects.toMatchObject({ oldestPosition: newest });
    await expect(read({ after: null })).resolves.toMatchObject({ changes: [], endPosition: newest });
    await expect(fixture.journal.newestChange(service, channel)).resolves.toEqual(newest);
  });
});

describeJournals('Reading status changes in order', (fixture) => {
  test('returns the changes that were recorded before the fence was raised, then those recorded after it', async () => {
    const payment = await created(fixture.journal);
    await fixture.journal.setFence('operator');
    await fixture.journal.setFence(null);
    await fixture.journal.recordObservation(observationOf(payment));
    const { changes } = await readPage(fixture.journal, rangeOf(payment));
    expect(changes.map(({ status }) => status)).toEqual(['PENDING', 'PROCESSING']);
    expect(changes[1]!.position.epoch).toBeGreaterThan(changes[0]!.position.epoch);
  });
});

describeSqliteJournal('Reading status changes in order', (fixture) => {
  test('syncs new changes to disk before a reader gets them, and syncs them only once', async () => {
    const payment = await created(fixture.journal);
    using database = new DatabaseSync(fixture.store.url.slice('file:'.length), { readOnly: true });
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

describePostgresJournal('Reading status changes in order', (fixture) => {
  test('withholds a new change while an earlier database transaction that writes changes is in progress', async () => {
    const early = await created(fixture.journal);
    const waiting = await created(fixture.journal);
    const late = await created(fixture.journal);
    const other = await fixture.open();
    await readPage(other, rangeOf(late));
    // Locks the second row of a batch, so that the batch waits when it already has a database transaction id.
    const behind = await withClient(fixture.store.url, async (holder) => {
      await holder.query('BEGIN');
      await holder.query(
        `SELECT 1 FROM followed_transactions WHERE id = (SELECT max(id) - 1 FROM followed_transactions) FOR UPDATE`,
      );
      const recording = Promise.all(
        [early, waiting].map((payment) =>
          fixture.journal.recordObservation(observationOf(payment, COMPLETED)),
        ),
      );
      const isWaiting =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      await until(async () => (await fixture.store.rows(isWaiting)).length > 0);
      await expect(other.recordObservation(observationOf(late, COMPLETED))).resolves.toBe('recorded');
      const behind = await other.readChanges(rangeOf(late));
      expect(statusesOf(behind)).toEqual(['PENDING']);
      expect(behind.hasUnreadableChanges).toBe(true);
      // Repeated, because the reader also examines the database transaction that delays it.
      const endsAt = performance.now() + 200;
      while (performance.now() < endsAt)
        expect(statusesOf(await other.readChanges(rangeOf(late)))).toEqual(['PENDING']);
      await holder.query('COMMIT');
      await expect(recording).resolves.toEqual(['recorded', 'recorded']);
      return behind;
    });
    const rest = await until(
      () => other.readChanges({ ...rangeOf(late), after: behind.endPosition }),
      ({ changes }) => changes.length > 0,
    );
    expect(statusesOf(rest)).toEqual(['COMPLETED']);
    const rows = await fixture.store.rows('SELECT xid FROM changes ORDER BY seq DESC LIMIT 3');
    const xids = rows.map(({ xid }) => Number(xid));
    expect(Math.min(...xids)).toBeLessThan(rest.changes[0]!.position.xid);
  });

  test('is not delayed by database transactions that write no changes', async () => {
    await withClient(fixture.store.url, async (client) => {
      await client.query('BEGIN; CREATE TABLE others (id INTEGER)');
      const payment = await created(fixture.journal);
      const page = await readPage(fixture.journal, rangeOf(payment));
      expect(statusesOf(page)).toEqual(['PENDING']);
      const newest = await fixture.journal.newestChange(payment.service, payment.channel);
      expect(newest).toEqual(page.endPosition);
    });
  });

  test('returns the changes that were recorded before a move to another database server, then those recorded after it', async () => {
    const [first, second] = [await created(fixture.journal), await created(fixture.journal)];
    // As after a failover to a server whose database transaction ids are lower.
    await fixture.store.rows('UPDATE changes SET xid = xid + 1000000');
    await fixture.store.rows("UPDATE change_epoch SET identity = 'another server'");
    const before = await readPage(fixture.journal, rangeOf(first));
    expect(statusesOf(before)).toEqual(['PENDING']);
    await expect(fixture.journal.recordObservation(observationOf(first))).resolves.toBe('recorded');
    const after = await readPage(fixture.journal, rangeOf(first, { after: before.endPosition }));
    expect(statusesOf(after)).toEqual(['PROCESSING']);
    expect(after.endPosition.epoch).toBeGreaterThan(before.endPosition.epoch);
    expect(after.endPosition.xid).toBeLessThan(before.endPosition.xid);
    await fixture.store.rows("UPDATE change_epoch SET identity = 'another server'");
    await expect(fixture.journal.recordObservation(observationOf(second))).resolves.toBe('recorded');
  });

  test('returns the status from a lookup as the first change if the create was recorded just after a move to another database server', async () => {
    await fixture.store.rows("UPDATE change_epoch SET identity = 'another server'");
    const payment = await created(fixture.journal);
    const due = await fixture.journal.claimFollowed(claimOf(payment, { now: 3_000 }));
    expect(due).toMatchObject([{ transactionId: payment.transactionId, status: null }]);
    await expect(fixture.journal.recordObservation(observationOf(payment))).resolves.toBe('recorded');
    const { changes } = await readPage(fixture.journal, rangeOf(payment));
    expect(changes).toMatchObject([{ previousStatus: null, status: 'PROCESSING' }]);
  });
});
