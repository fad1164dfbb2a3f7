import { chmodSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { openJournal } from '../../src/datasources/journal/create-journal';
import type { Journal, NewAttempt } from '../../src/datasources/journal/journal';
import type { MigrationStore } from '../../src/datasources/journal/convert-attempts';
import { migrate } from '../../src/datasources/journal/migrations';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { describePostgres, emptyPostgres, openStore, type Row, type Store } from '../support/stores';
import { createFirstJournal, firstAttempt, firstUnknown, insertFirst } from './support/first-journal';
import { startChild } from './support/fixture';
import { newAttempt, newClaim, OUTCOMES } from './support/samples';

const STEPS = 'SELECT name FROM applied_migrations ORDER BY name';
const STARTED = { kind: 'started' };

/** `describe` for each kind of store, with a function that creates an empty one. */
function describeStoresWithout(title: string, define: (empty: () => Promise<Store>) => void): void {
  describe(`${title} (SQLite)`, () => define(() => openStore('SQLite')));
  describePostgres(`${title} (PostgreSQL)`, () => define(emptyPostgres));
}

/** An INSERT of settled attempts with the keys `many 1`, `many 2`, … */
function manyAttempts(store: Store, count: number): string {
  const numbers =
    store.kind === 'SQLite'
      ? `(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count}) SELECT n FROM numbers)`
      : `(SELECT n FROM generate_series(1, ${count}) AS n)`;
  const { id: _, key: __, external_id: ___, transaction_id: ____, ...rest } = firstAttempt('many');
  const values = Object.values(rest).map((value) =>
    typeof value === 'string' ? `'${value}'` : String(value),
  );
  return `INSERT INTO attempts (id, key, external_id, transaction_id, ${Object.keys(rest).join(', ')})
    SELECT 'many ' || n, 'many ' || n, 'order ' || n, 'tx ' || n, ${values.join(', ')} FROM ${numbers} AS numbers`;
}

/** Returns what a migration needs, on a connection of its own. */
async function migrationStore(store: Store): Promise<{ migration: MigrationStore; close(): Promise<void> }> {
  const inTransaction =
    (begin: string, execute: MigrationStore['execute']): MigrationStore['transaction'] =>
    async (work) => {
      await execute(begin);
      const result = await work();
      await execute('COMMIT');
      return result;
    };
  if (store.kind === 'SQLite') {
    const database = new DatabaseSync(fileOf(store));
    const execute: MigrationStore['execute'] = async (text, values = []) =>
      database.prepare(text).all(...values);
    const transaction = inTransaction('BEGIN IMMEDIATE', execute);
    return { migration: { dialect: 'sqlite', execute, transaction }, close: async () => database.close() };
  }
  const client = new Client(store.url);
  await client.connect();
  const execute: MigrationStore['execute'] = async (text, values = []) => {
    let count = 0;
    const numbered = text.replaceAll('?', () => `$${(count += 1)}`);
    return (await client.query<Row>(numbered, [...values])).rows;
  };
  const transaction = inTransaction('BEGIN', execute);
  return { migration: { dialect: 'postgres', execute, transaction }, close: () => client.end() };
}

const fileOf = ({ url }: Store): string => url.slice('file:'.length);

async function expectOneMigration(store: Store): Promise<void> {
  const children = await Promise.all([1, 2, 3].map(() => startChild(store.url)));
  const responses = await Promise.all(children.map((child) => child.call('begin', [newAttempt()])));
  expect(responses.flat()).toEqual(children.map(() => STARTED));
  const steps = await store.rows(STEPS);
  expect(steps.length).toBeGreaterThan(0);
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  await Promise.all(children.map((child) => child.kill()));
}

describePostgres('Migrations (PostgreSQL)', () => {
  let store: Store;

  beforeEach(async () => {
    store = await emptyPostgres();
  });

  afterEach(() => store.drop());

  test('are applied once among concurrent processes', () => expectOneMigration(store));

  test('roll back a failed step, and are retried', async () => {
    await store.rows('CREATE TABLE confirms (in_the_way TEXT)');
    const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
    await expect(journal.insertAttempt(newAttempt())).rejects.toMatchObject({ name: 'JournalUnavailable' });
    await expect(store.rows("SELECT 1 FROM pg_tables WHERE tablename = 'attempts'")).resolves.toEqual([]);
    await store.rows('DROP TABLE confirms');
    await expect(journal.insertAttempt(newAttempt())).resolves.toEqual(STARTED);
    await journal.close();
  });
});

describeStoresWithout('A journal from before the first release', (empty) => {
  const service = 'service-1';
  const find = (journal: Journal, key: string) => journal.find({ service, client: 'shop', key });

  let store: Store;

  beforeEach(async () => {
    store = await empty();
    await createFirstJournal(store);
  });

  afterEach(() => store.drop());

  test('keeps its attempts, with outcomes and reserved external ids', async () => {
    const uuid = '01234567-89ab-4def-8123-456789abcdef';
    const absence = { absent_lookups: 2, absent_ms: 70, absent_observer: 'a' };
    await insertFirst(store, [
      firstAttempt('paid'),
      firstAttempt('uuids', { external_id: uuid, transaction_id: uuid, client: 'another client' }),
      firstAttempt('refused', { outcome: 'rejected', transaction_id: null, status: null }),
      firstUnknown('lost', { kind: 'payout', checks: 3, ...absence }),
      firstAttempt('payout', { kind: 'payout' }),
    ]);
    const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
    await expect(find(journal, 'paid')).resolves.toMatchObject({
      fingerprint: '0a1b2c3d-0123-4567-89ab-cdef01234567',
      externalId: 'order paid',
      publicDetails: '{"last4":"1111"}',
      outcome: 'succeeded',
      transactionId: 'tx paid',
      status: 'COMPLETED',
      startedAt: 1_000,
      settledAt: 3_000,
    });
    const withUuids = { key: 'uuids', client: 'another client', externalId: uuid };
    await expect(journal.findByTransaction(service, 'payment', uuid)).resolves.toMatchObject(withUuids);
    await expect(find(journal, 'lost')).resolves.toMatchObject({
      outcome: 'unknown',
      sendUntil: 2_000,
      serviceStartedAt: 900,
      recheckCount: 3,
      absence: { lookups: 2, spanMs: 70, observer: 'a' },
    });
    const begin = (given: Partial<NewAttempt>) =>
      journal.insertAttempt(newAttempt({ service, channel: 'channel-1', ...given }));
    await expect(begin({ key: 'paid' })).resolves.toMatchObject({ kind: 'exists' });
    await expect(begin({ key: 'refused' })).resolves.toEqual(STARTED);
    for (const externalId of ['order lost', 'order payout']) {
      const { kind } = await begin({ kind: 'payout', reserve: true, externalId });
      expect(kind).toBe('reserved');
    }
    const due = (await journal.claimDue(newClaim(service), 10)).find(({ key }) => key === 'lost');
    await expect(journal.recordOutcome(due!.id, OUTCOMES.succeeded)).resolves.toBe(true);
    await expect(journal.readState()).resolves.toMatchObject({ fence: null });
    await journal.close();
  });

  test('is copied with what an old gateway writes meanwhile', async () => {
    for (const key of ['open 0', 'open 1', 'open 2']) await insertFirst(store, [firstUnknown(key)]);
    await store.rows(manyAttempts(store, 2_500));
    const { migration, close } = await migrationStore(store);
    let isLate = false;
    const execute: MigrationStore['execute'] = async (text, values) => {
      const rows = await migration.execute(text, values);
      // After the first batch was read, before it is written.
      if (text.includes('seq > ?') && !isLate) {
        isLate = true;
        const settled = "outcome = 'succeeded', transaction_id = 'tx late', settled_at = 5";
        const late = [
          () => store.rows(`UPDATE attempts SET ${settled} WHERE key = 'open 1'`),
          () => insertFirst(store, [firstUnknown('late')]),
        ];
        // SQLite has one writer at a time.
        if (store.kind === 'PostgreSQL') for (const write of late) await write();
        else between.push(...late);
      }
      return rows;
    };
    const between: (() => Promise<unknown>)[] = [];
    const transaction: MigrationStore['transaction'] = async (work) => {
      const result = await migration.transaction(work);
      for (const write of between.splice(0)) await write();
      return result;
    };
    await migrate({ ...migration, execute, transaction });
    await close();
    const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
    await expect(find(journal, 'late')).resolves.toMatchObject({ outcome: 'unknown' });
    const late = { outcome: 'succeeded', transactionId: 'tx late' };
    await expect(find(journal, 'open 1')).resolves.toMatchObject(late);
    await expect(find(journal, 'open 2')).resolves.toMatchObject({ outcome: 'unknown' });
    await expect(find(journal, 'many 2500')).resolves.toMatchObject({ outcome: 'succeeded' });
    const [row] = await store.rows('SELECT count(*) AS count FROM attempts');
    expect(Number(row?.['count'])).toBe(2_504);
    await journal.close();
  });
});

describe('A SQLite file', () => {
  let store: Store;

  beforeEach(async () => {
    store = await openStore('SQLite');
  });

  afterEach(() => store.drop());

  const modesOf = (file: string): number[] =>
    ['', '-wal', '-shm'].map((end) => statSync(`${file}${end}`).mode & 0o777);

  test('is migrated once among concurrent processes', () => expectOneMigration(store));

  test('is readable by its owner only, whatever the umask', async () => {
    const before = process.umask(0o000);
    try {
      const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
      await journal.insertAttempt(newAttempt());
      expect(modesOf(fileOf(store))).toEqual([0o600, 0o600, 0o600]);
      await journal.close();
    } finally {
      process.umask(before);
    }
  });

  test.each([
    ['0666', '0600', 0o666, 0o600],
    ['0640', '0640', 0o640, 0o640],
  ])('with mode %s has mode %s after it is opened again', async (_before, _after, mode, expected) => {
    await (await openJournal(store.url, JOURNAL_TIMEOUT_MS)).close();
    chmodSync(fileOf(store), mode);
    const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
    await journal.insertAttempt(newAttempt());
    expect(modesOf(fileOf(store))).toEqual([expected, expected, expected]);
    await journal.close();
  });

  test('is refused if it is not a database, or if its folder is a file', async () => {
    const file = path.join(path.dirname(path.dirname(fileOf(store))), 'notes.txt');
    writeFileSync(file, 'This is a text, and by no means a database. '.repeat(100));
    await expect(openJournal(`file:${file}`)).rejects.toMatchObject({ name: 'JournalOpenError' });
    await expect(openJournal(`file:${file}/journal.db`)).rejects.toMatchObject({ name: 'JournalOpenError' });
  });
});
