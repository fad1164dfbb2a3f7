import { chmodSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { describePostgres, emptyPostgres, openStore, type Store } from '../support/stores';
import { startChild } from './support/fixture';
import { newAttempt } from './support/samples';

const STEPS = 'SELECT name FROM applied_migrations ORDER BY name';
const STARTED = { kind: 'started' };

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
