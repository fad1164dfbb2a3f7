import { randomUUID } from 'node:crypto';
import type { FollowLookupClaim, ObservedState } from '../../src/datasources/journal/changes';
import { openJournal } from '../../src/datasources/journal/create-journal';
import type { Journal } from '../../src/datasources/journal/journal';
import type { Store } from '../support/stores';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { describeEmptyStores, describeJournals } from './support/fixture';
import {
  claimOf,
  COMPLETED,
  CREATED,
  created,
  observationOf,
  rangeOf,
  readPage,
  type Created,
} from './support/observations';
import { begunAs, newAttempt, OUTCOMES, purgeAll } from './support/samples';

const idsOf = (payments: readonly (Created | undefined)[]): string[] =>
  payments.map((payment) => payment!.transactionId).sort();

describeJournals('Transactions that the gateway polls for status changes', (fixture) => {
  /** Creates payments that are due at the given times. */
  const dueAt = (service: string, times: readonly (number | null)[]): Promise<Created[]> =>
    Promise.all(
      times.map((nextLookupAt) => created(fixture.journal, { service }, { ...CREATED, nextLookupAt })),
    );

  const claimed = async (journal: Journal, claim: FollowLookupClaim): Promise<string[]> =>
    (await journal.claimFollowed(claim)).map(({ transactionId }) => transactionId).sort();

  test('are claimed when they are due, with the fields that a lookup needs', async () => {
    const service = randomUUID();
    const payments = await dueAt(service, [9_000, 10_000, 10_001, null]);
    await dueAt(randomUUID(), [1]);
    const found = await fixture.journal.claimFollowed(claimOf(payments[0]!));
    expect(found.map(({ transactionId }) => transactionId).sort()).toEqual(idsOf(payments.slice(0, 2)));
    expect(found.find(({ transactionId }) => transactionId === payments[0]!.transactionId)).toEqual({
      followedId: expect.any(Number) as number,
      kind: 'payment',
      channel: payments[0]!.channel,
      transactionId: payments[0]!.transactionId,
      status: 'PENDING',
      state: 'WAITING_FOR_CODE',
      createSucceededAt: 3_000,
      changedAt: 3_000,
      failures: 0,
    });
  });

  test('are claimed by one instance at a time, and again when the lease has expired', async () => {
    const service = randomUUID();
    const payments = await dueAt(service, Array<number>(30).fill(9_000));
    const other = await fixture.open();
    const claim = claimOf(payments[0]!, { limit: 20 });
    const both = await Promise.all([claimed(fixture.journal, claim), claimed(other, claim)]);
    const rest = await claimed(other, { ...claim, limit: 30 });
    expect([...both.flat(), ...rest].sort()).toEqual(idsOf(payments));
    await expect(claimed(other, { ...claim, now: 19_999 })).resolves.toEqual([]);
    await expect(claimed(other, { ...claim, now: 20_000, limit: 30 })).resolves.toEqual(idsOf(payments));
  });

  test('are claimed in this order: recently changed transactions up to a limit, then those that have been due longest', async () => {
    const service = randomUUID();
    const payments = await dueAt(service, [1_000, 2_000, 3_000, 9_000, 9_100, 9_200]);
    const [old, young] = [payments.slice(0, 3), payments.slice(3)];
    const seen = { requestedAt: 8_000, observedAt: 8_500, nextLookupAt: 9_500 };
    for (const payment of young) await fixture.journal.recordObservation(observationOf(payment, seen));
    const claim = claimOf(payments[0]!, { youngIfChangedAfter: 8_000, limit: 3, youngLimit: 2 });
    const first = await claimed(fixture.journal, claim);
    const left = young.filter(({ transactionId }) => !first.includes(transactionId));
    expect(left).toHaveLength(1);
    expect(first).toHaveLength(3);
    expect(first).toContain(old[0]!.transactionId);
    const second = await claimed(fixture.journal, { ...claim, youngLimit: 0 });
    expect(second).toEqual(idsOf([...old.slice(1), ...left]));
  });

  test('are due again at the scheduled time, with the number of failed lookups since the last success', async () => {
    const [first, second] = await dueAt(randomUUID(), [9_000, 9_000]);
    const claim = claimOf(first!);
    const [one, two] = await fixture.journal.claimFollowed(claim);
    await fixture.journal.scheduleFollowed([
      { ...one!, nextLookupAt: 12_000, failures: 3 },
      { ...two!, nextLookupAt: null, failures: 0 },
      { ...one!, followedId: 1e9, nextLookupAt: 1, failures: 0 },
    ]);
    const later = { ...claim, now: 30_000 };
    await expect(fixture.journal.claimFollowed(later)).resolves.toMatchObject([
      { followedId: one!.followedId, failures: 3 },
    ]);
    const succeeded = observationOf(one!.transactionId === first!.transactionId ? first! : second!);
    await fixture.journal.recordObservation({ ...succeeded, nextLookupAt: 25_000 });
    await expect(fixture.journal.claimFollowed(later)).resolves.toMatchObject([
      { followedId: one!.followedId, failures: 0 },
    ]);
  });

  test('are due again at the time of the latest change if it was recorded after the claim', async () => {
    const [payment] = await dueAt(randomUUID(), [9_000]);
    const claim = claimOf(payment!);
    const [followed] = await fixture.journal.claimFollowed(claim);
    const seen = { requestedAt: 10_000, observedAt: 10_500, nextLookupAt: 11_000 };
    await fixture.journal.recordObservation(observationOf(payment!, seen));
    await fixture.journal.scheduleFollowed([{ ...followed!, nextLookupAt: 1_000_000, failures: 0 }]);
    await expect(claimed(fixture.journal, { ...claim, now: 11_000 })).resolves.toEqual(idsOf([payment]));
  });

  test('are counted until their status is final', async () => {
    const service = randomUUID();
    const count = () => fixture.journal.countFollowed(service);
    await expect(count()).resolves.toEqual({ followed: 0, due: 0, oldestDueAt: null });
    const [first] = await dueAt(service, [4_000, 3_500, null, 1e15]);
    await expect(count()).resolves.toEqual({ followed: 3, due: 2, oldestDueAt: 3_500 });
    await fixture.journal.recordObservation(observationOf(first!, COMPLETED));
    await expect(count()).resolves.toEqual({ followed: 2, due: 1, oldestDueAt: 3_500 });
  });

  test('are purged after the retention time, in steps', async () => {
    const service = randomUUID();
    const purge = (expiredBefore: number) => purgeAll(fixture.journal, 'followed', expiredBefore, 4);
    await purge(1e13);
    const payments = await dueAt(service, Array<number>(10).fill(9_000));
    await expect(purge(3_000)).resolves.toEqual([0]);
    await expect(purge(3_001)).resolves.toEqual([4, 4, 2]);
    await expect(fixture.journal.claimFollowed(claimOf(payments[0]!))).resolves.toEqual([]);
    const late = observationOf(payments[0]!, COMPLETED);
    await expect(fixture.journal.recordObservation(late)).resolves.toBe('not_followed');
  });

  test('have each state recorded once, without a deadlock, when three instances process them concurrently', async () => {
    const service = randomUUID();
    const observed: ObservedState = { ...CREATED, nextLookupAt: 1 };
    const payments = await Promise.all(
      Array.from({ length: 40 }, () => created(fixture.journal, { service }, observed)),
    );
    const instances = [fixture.journal, await fixture.open(), await fixture.open()];
    const claim = claimOf(payments[0]!, { limit: 40, youngLimit: 20 });
    await Promise.all(
      instances.map(async (journal, index) => {
        for (let round = 0; round < 10; round += 1) {
          const now = 4_000 + round;
          const found = await journal.claimFollowed({ ...claim, now, leaseUntil: now });
          const order = index % 2 === 0 ? payments : payments.toReversed();
          const schedules = found
            .toReversed()
            .map((followed) => ({ ...followed, nextLookupAt: now, failures: 1 }));
          const seen = { state: `S${round}`, requestedAt: now, observedAt: now };
          await Promise.all([
            journal.scheduleFollowed(schedules),
            ...order.map((payment) => journal.recordObservation(observationOf(payment, seen))),
          ]);
        }
      }),
    );
    const page = await readPage(fixture.journal, { ...rangeOf(payments[0]!), channel: null, limit: 500 });
    expect(page.changes).toHaveLength(40 * 11);
  });
});

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Removes the record of changes, so that the journal is that of an earlier version. */
async function removeChanges(store: Store): Promise<void> {
  const isSqlite = store.kind === 'SQLite';
  const statements = [
    isSqlite
      ? 'DROP TRIGGER create_change_feed'
      : 'DROP TRIGGER create_change_feeds ON attempt_groups; DROP FUNCTION create_change_feeds, raise_change_epoch',
    ...['changes', 'followed_transactions', 'change_feeds', 'change_epoch'].map(
      (name) => `DROP TABLE ${name}`,
    ),
    "DELETE FROM applied_migrations WHERE name > '0010-stored-attempts'",
  ];
  for (const statement of statements) await store.rows(statement);
}

const open = (store: Store): Promise<Journal> => openJournal(store.url, JOURNAL_TIMEOUT_MS);

describeEmptyStores('The upgrade of a journal without recorded status changes', (store) => {
  test('adds the transactions of the last 7 days to polling exactly once, even if it is interrupted', async () => {
    const service = 'service-1';
    const before = await open(store());
    const succeeded = async (settledAt: number): Promise<Created> => {
      const transactionId = `transaction ${settledAt}`;
      const attempt = newAttempt({ service, channel: 'channel-1' });
      await begunAs(before, 'in_progress', attempt);
      await before.recordOutcome(attempt.id, { ...OUTCOMES.succeeded, transactionId, settledAt });
      return { ...attempt, transactionId };
    };
    const now = Date.now();
    const recent = [];
    for (const age of [6 * DAY_MS, HOUR_MS, 0]) recent.push(await succeeded(now - age));
    await succeeded(now - 8 * DAY_MS);
    await begunAs(before, 'rejected', newAttempt({ service }));
    await begunAs(before, 'unknown', newAttempt({ service }));
    await before.close();
    await removeChanges(store());
    const interrupted = await open(store());
    await interrupted.ping();
    await interrupted.close();
    await store().rows("DELETE FROM applied_migrations WHERE name > '0011-changes'");
    await store().rows('DELETE FROM followed_transactions WHERE id > 1');
    const [after, ...others] = [await open(store()), await open(store()), await open(store())];
    await Promise.all([after, ...others].map((journal) => journal.ping()));
    await Promise.all(others.map((journal) => journal.close()));
    const found = await after.claimFollowed(claimOf(recent[0]!, { now: now + 1, youngLimit: 0 }));
    expect(found.map(({ transactionId }) => transactionId).sort()).toEqual(idsOf(recent));
    for (const { transactionId, status, createSucceededAt } of found)
      expect({ status, transactionId }).toEqual({
        status: null,
        transactionId: `transaction ${createSucceededAt}`,
      });
    for (const payment of recent)
      await expect(after.recordObservation(observationOf(payment, COMPLETED))).resolves.toBe('recorded');
    const { changes } = await readPage(after, rangeOf(recent[0]!));
    expect(changes).toHaveLength(3);
    await after.close();
  });
});
