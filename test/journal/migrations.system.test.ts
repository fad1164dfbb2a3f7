import { chmodSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { openJournal } from '../../src/datasources/journal/create-journal';
import type { Journal, NewAttempt } from '../../src/datasources/journal/journal';
import type { MigrationDatabase } from '../../src/datasources/journal/convert-attempts';
import { migrate } from '../../src/datasources/journal/migrations';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import {
  describePostgres,
  emptyPostgres,
  openStore,
  withClient,
  type Row,
  type Store,
} from '../support/stores';
import { createFirstJournal, firstAttempt, firstUnknown, insertFirst, asSql } from './support/first-journal';
import { describeEmptyStores, startChild } from './support/fixture';
import { newAttempt, newClaim, OUTCOMES } from './support/samples';

const STARTED = { kind: 'started' };

const service = 'service-1';
const find = (journal: Journal, key: string) => journal.find({ service, client: 'shop', key });

const fileOf = ({ url }: Store): string => url.slice('file:'.length);

describeEmptyStores('Migrations', (store) => {
  test('are applied only once when three processes start concurrently', async () => {
    const children = await Promise.all([1, 2, 3].map(() => startChild(store().url)));
    const responses = await Promise.all(children.map((child) => child.call('begin', [newAttempt()])));
    expect(responses.flat()).toEqual(children.map(() => STARTED));
    const steps = (await store().rows('SELECT name FROM applied_migrations')).map(({ name }) => name);
    expect(steps.length).toBeGreaterThan(0);
    expect(new Set(steps).size).toBe(steps.length);
    await Promise.all(children.map((child) => child.kill()));
  });
});

describePostgres('Migrations (PostgreSQL)', () => {
  test('are rolled back when one of them fails, and are retried', async () => {
    const store = await emptyPostgres();
    await store.rows('CREATE TABLE confirms (in_the_way TEXT)');
    const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
    await expect(journal.insertAttempt(newAttempt())).rejects.toMatchObject({ name: 'JournalUnavailable' });
    await expect(store.rows("SELECT 1 FROM pg_tables WHERE tablename = 'attempts'")).resolves.toEqual([]);
    await store.rows('DROP TABLE confirms');
    await expect(journal.insertAttempt(newAttempt())).resolves.toEqual(STARTED);
    await journal.close();
    await store.drop();
  });
});

describeEmptyStores('A journal from before the first release', (store) => {
  test('is migrated with its attempts, outcomes and reserved external ids', async () => {
    await createFirstJournal(store());
    const uuid = '01234567-89ab-4def-8123-456789abcdef';
    const absence = { absent_lookups: 2, absent_ms: 70, absent_observer: 'a' };
    await insertFirst(store(), [
      firstAttempt('paid'),
      firstAttempt('uuids', { external_id: uuid, transaction_id: uuid, client: 'another client' }),
      firstAttempt('refused', { outcome: 'rejected', transaction_id: null, status: null }),
      firstUnknown('lost', { kind: 'payout', checks: 3, ...absence }),
      firstAttempt('payout', { kind: 'payout' }),
    ]);
    const journal = await openJournal(store().url, JOURNAL_TIMEOUT_MS);
    await expect(find(journal, 'paid')).resolves.toMatchObject({
      fingerprint: '0a1b2c3d-0123-4567-89ab-cdef01234567',
      externalId: 'order paid',
      publicDetails: '{"last4":"1111"}',
      outcome: 'succeeded',
      transactionId: 'tx paid',
      wireStatus: 'COMPLETED',
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
      absence: { lookupCount: 2, spanMs: 70, observerId: 'a' },
    });
    const begin = (given: Partial<NewAttempt>) =>
      journal.insertAttempt(newAttempt({ service, channel: 'channel-1', ...given }));
    await expect(begin({ key: 'paid' })).resolves.toMatchObject({ kind: 'exists' });
    await expect(begin({ key: 'refused' })).resolves.toEqual(STARTED);
    for (const externalId of ['order lost', 'order payout']) {
      const { kind } = await begin({ kind: 'payout', reservesExternalId: true, externalId });
      expect(kind).toBe('reserved');
    }
    const due = (await journal.claimDue(newClaim(service), 10)).find(({ key }) => key === 'lost');
    await expect(journal.recordOutcome(due!.id, OUTCOMES.succeeded)).resolves.toBe(true);
    await expect(journal.readFenceState()).resolves.toMatchObject({ fence: null });
    await journal.close();
  });
});

describePostgres('A journal from before the first release', () => {
  test('is migrated with the attempts that an old gateway writes during the migration', async () => {
    const store = await emptyPostgres();
    await createFirstJournal(store);
    await insertFirst(store, [firstUnknown('open 1'), firstUnknown('open 2')]);
    // More than one batch.
    const { id: _, key: __, external_id: ___, transaction_id: ____, ...rest } = firstAttempt('many');
    await store.rows(`INSERT INTO attempts (id, key, external_id, transaction_id, ${Object.keys(rest).join(', ')})
      SELECT 'many ' || n, 'many ' || n, 'order ' || n, 'tx ' || n, ${Object.values(rest).map(asSql).join(', ')}
      FROM generate_series(1, 2500) AS n`);
    let isLate = false;
    await withClient(store.url, async (client) => {
      const execute: MigrationDatabase['execute'] = async (text, values = []) => {
        let count = 0;
        const numbered = text.replaceAll('?', () => `$${(count += 1)}`);
        const { rows } = await client.query<Row>(numbered, [...values]);
        // After the first batch was read, before it is written.
        if (text.includes('seq > ?') && !isLate) {
          isLate = true;
          const settled = "outcome = 'succeeded', transaction_id = 'tx late', settled_at = 5";
          await store.rows(`UPDATE attempts SET ${settled} WHERE key = 'open 1'`);
          await insertFirst(store, [firstUnknown('late')]);
        }
        return rows;
      };
      const transaction: MigrationDatabase['runInTransaction'] = async (work) => {
        await execute('BEGIN');
        const result = await work();
        await execute('COMMIT');
        return result;
      };
      await migrate({ dialect: 'postgres', execute, runInTransaction: transaction });
    });
    const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
    for (const [key, expected] of [
      ['late', { outcome: 'unknown' }],
      ['open 1', { outcome: 'succeeded', transactionId: 'tx late' }],
      ['open 2', { outcome: 'unknown' }],
      ['many 2500', { outcome: 'succeeded' }],
    ] as const)
      await expect(find(journal, key)).resolves.toMatchObject(expected);
    const [row] = await store.rows('SELECT count(*) AS count FROM attempts');
    expect(Number(row?.['count'])).toBe(2_503);
    await journal.close();
    await store.drop();
  });
});

describe('The file of a SQLite journal', () => {
  let store: Store;

  beforeEach(async () => {
    store = await openStore('SQLite');
  });

  afterEach(() => store.drop());

  /** Opens the journal, writes to it, and returns the modes of its files. */
  const modes = async (): Promise<number[]> => {
    const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
    await journal.insertAttempt(newAttempt());
    const found = ['', '-wal', '-shm'].map((end) => statSync(`${fileOf(store)}${end}`).mode & 0o777);
    await journal.close();
    return found;
  };

  test('is readable by its owner only, whatever the umask', async () => {
    const before = process.umask(0o000);
    const found = await modes().finally(() => process.umask(before));
    expect(found).toEqual([0o600, 0o600, 0o600]);
  });

  test.each([
    ['0666', '0600', 0o666, 0o600],
    ['0640', '0640', 0o640, 0o640],
  ])('with mode %s has mode %s after it is opened again', async (_before, _after, mode, expected) => {
    await modes();
    chmodSync(fileOf(store), mode);
    expect(await modes()).toEqual([expected, expected, expected]);
  });

  test('is refused if it is not a database, or if its folder is a file', async () => {
    const file = path.join(path.dirname(path.dirname(fileOf(store))), 'notes.txt');
    writeFileSync(file, 'This is a text, and by no means a database. '.repeat(100));
    await expect(openJournal(`file:${file}`)).rejects.toMatchObject({ name: 'JournalOpenError' });
    await expect(openJournal(`file:${file}/journal.db`)).rejects.toMatchObject({ name: 'JournalOpenError' });
  });
});
