import { openJournal } from '../../src/datasources/journal/create-journal';
import type { Journal } from '../../src/datasources/journal/journal';
import { describePostgres, emptyPostgres, openStore, type Store } from '../support/stores';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { generateAttempts } from './support/generated';
import { claimOf, COMPLETED, observationOf, rangeOf, readPage, type Created } from './support/observations';
import { begunAs, newAttempt, OUTCOMES } from './support/samples';

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

function describeUpgrades(kind: Store['kind'], define: (store: () => Store) => void): void {
  let store: Store;
  const block = kind === 'SQLite' ? describe : describePostgres;
  block(`A journal without the record of changes (${kind})`, () => {
    beforeEach(async () => {
      store = await (kind === 'SQLite' ? openStore('SQLite') : emptyPostgres());
    });
    afterEach(() => store.drop());
    define(() => store);
  });
}

const open = (store: Store): Promise<Journal> => openJournal(store.url, JOURNAL_TIMEOUT_MS);

const countFollowed = async (store: Store): Promise<number> => {
  const [row] = await store.rows('SELECT count(*) AS count FROM followed_transactions');
  return Number(row?.['count']);
};

/** Generates attempts that succeeded an hour ago within one second, and removes the record of changes. */
async function generate(store: Store, count: number): Promise<void> {
  const journal = await open(store);
  await journal.ping();
  await journal.close();
  await generateAttempts(store, { count, service: 'service-1', settledFrom: Date.now() - HOUR_MS });
  await store.rows('UPDATE stored_attempts SET settled_at = settled_at - settled_at % 1000');
  await removeChanges(store);
}

for (const kind of ['SQLite', 'PostgreSQL'] as const)
  describeUpgrades(kind, (store) => {
    test('follows after its upgrade what it created in the 7 days before', async () => {
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
      const recent = [
        await succeeded(now - 6 * DAY_MS),
        await succeeded(now - HOUR_MS),
        await succeeded(now),
      ];
      await succeeded(now - 8 * DAY_MS);
      await begunAs(before, 'rejected', newAttempt({ service }));
      await begunAs(before, 'unknown', newAttempt({ service }));
      await before.close();
      await removeChanges(store());
      const after = await open(store());
      const found = await after.claimFollowed(
        claimOf(recent[0]!, { now: now + 1, limit: 10, youngLimit: 0 }),
      );
      expect(new Map(found.map((each) => [each.transactionId, [each.status, each.createdAt]]))).toEqual(
        new Map(
          recent.map(({ transactionId }) => [transactionId, [null, Number(transactionId.split(' ')[1])]]),
        ),
      );
      for (const payment of recent)
        await expect(after.recordObservation(observationOf(payment, COMPLETED))).resolves.toBe('recorded');
      const { changes } = await readPage(after, rangeOf(recent[0]!));
      expect(changes).toHaveLength(3);
      await after.close();
    });

    test('is upgraded once among instances that start together', async () => {
      await generate(store(), 5_000);
      const journals = await Promise.all([1, 2, 3].map(() => open(store())));
      const begun = await Promise.all(journals.map((journal) => journal.insertAttempt(newAttempt())));
      expect(begun).toEqual(journals.map(() => ({ kind: 'started' })));
      await Promise.all(journals.map((journal) => journal.close()));
      await expect(countFollowed(store())).resolves.toBe(5_000);
    });

    test('follows each transaction once if the upgrade is interrupted', async () => {
      await generate(store(), 500);
      await (await open(store())).close();
      await store().rows("DELETE FROM applied_migrations WHERE name > '0011-changes'");
      await store().rows('DELETE FROM followed_transactions WHERE id > 200');
      await (await open(store())).close();
      await expect(countFollowed(store())).resolves.toBe(500);
    });
  });
