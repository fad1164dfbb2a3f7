import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { openJournal } from '../../src/datasources/journal/open';
import { PostgresJournal } from '../../src/datasources/journal/postgres-journal';
import { PATIENT_MS } from '../support/patience';
import { OtherProcess } from './support/other-process';
import { asBegun, begunAs, newAttempt } from './support/samples';
import { inBothStores, inPostgres, inSqlite, postgresPlace, sqlitePlace, type Place } from './support/stores';

const STEPS = 'SELECT name FROM applied_migrations ORDER BY name';

inBothStores((room) => {
  test('a journal that is opened again holds what it held', async () => {
    const attempt = await begunAs(room.journal, 'in_progress', newAttempt());
    const steps = await room.place.rows(STEPS);
    const again = await room.another();
    await expect(again.find(attempt)).resolves.toMatchObject(asBegun(attempt));
    await expect(room.place.rows(STEPS)).resolves.toEqual(steps);
    expect(steps.length).toBeGreaterThan(0);
  });
});

describe('on a new place', () => {
  inSqlite(() => {
    test('several processes that start at once make the tables once', () => startAtOnce(sqlitePlace()));

    test('a file that another process is just making is waited for', async () => {
      const { url } = sqlitePlace();
      const file = url.slice('file:'.length);
      mkdirSync(path.dirname(file));
      const other = new DatabaseSync(file);
      other.exec('CREATE TABLE other (x); BEGIN IMMEDIATE; INSERT INTO other VALUES (1)');
      setTimeout(() => other.exec('COMMIT'), 300);
      const journal = await openJournal(url, PATIENT_MS);
      await expect(journal.begin(newAttempt())).resolves.toEqual({ kind: 'started' });
      await journal.close();
      other.close();
    });
  });

  inPostgres((room) => {
    test('several processes that start at once make the tables once', async () =>
      startAtOnce(await postgresPlace()));

    test('the steps that were taken are told, and taken once', async () => {
      const place = await postgresPlace();
      const journals = [1, 2].map(() => new PostgresJournal(place.url, PATIENT_MS));
      const told = await Promise.all(journals.map((journal) => journal.migrate()));
      expect(told.flat().sort()).toEqual((await room.place.rows(STEPS)).map(({ name }) => name));
      await Promise.all(journals.map((journal) => journal.close()));
      await place.drop();
    });

    test('a step that fails leaves nothing behind and is tried again', async () => {
      const place = await postgresPlace();
      await place.rows('CREATE TABLE confirms (in_the_way TEXT)');
      const journal = await openJournal(place.url, PATIENT_MS);
      await expect(journal.begin(newAttempt())).rejects.toMatchObject({ name: 'JournalUnavailable' });
      await expect(place.rows("SELECT 1 FROM pg_tables WHERE tablename = 'attempts'")).resolves.toEqual([]);
      await place.rows('DROP TABLE confirms');
      await expect(journal.begin(newAttempt())).resolves.toEqual({ kind: 'started' });
      await journal.close();
      await place.drop();
    });

    test('a journal that was closed makes no tables', async () => {
      const journal = new PostgresJournal(room.place.url);
      await journal.close();
      await expect(journal.migrate()).rejects.toMatchObject({ name: 'JournalUnavailable' });
    });
  });
});

async function startAtOnce(place: Place): Promise<void> {
  const others = await Promise.all([1, 2, 3].map(() => OtherProcess.start(place.url)));
  const answers = await Promise.all(others.map((other) => other.begin([newAttempt()])));
  expect(answers.flat()).toEqual(others.map(() => ({ kind: 'started' })));
  const steps = await place.rows(STEPS);
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
  await Promise.all(others.map((other) => other.kill()));
  await place.drop();
}

inSqlite((room) => {
  /** The modes of the file and of what SQLite keeps beside it. */
  const modesOf = (file: string): (number | undefined)[] =>
    ['', '-wal', '-shm'].map(
      (end) => (statSync(`${file}${end}`, { throwIfNoEntry: false })?.mode ?? 0) & 0o777,
    );

  test('a new file is for its owner alone, whatever the umask is', async () => {
    const before = process.umask(0o000);
    try {
      const { url } = sqlitePlace();
      const journal = await openJournal(url, PATIENT_MS);
      await journal.begin(newAttempt());
      expect(modesOf(url.slice('file:'.length))).toEqual([0o600, 0o600, 0o600]);
      await journal.close();
    } finally {
      process.umask(before);
    }
  });

  test.each([
    [0o644, 0o600],
    [0o666, 0o600],
    [0o640, 0o640],
  ])('a file of mode %o is opened as %o', async (mode, expected) => {
    const { url } = sqlitePlace();
    const file = url.slice('file:'.length);
    await (await openJournal(url, PATIENT_MS)).close();
    chmodSync(file, mode);
    const journal = await openJournal(url, PATIENT_MS);
    await journal.begin(newAttempt());
    expect(modesOf(file)).toEqual([expected, expected, expected]);
    await journal.close();
  });

  test('a file that is no database is refused at opening', async () => {
    const path = `${room.place.url.slice('file:'.length)}.txt`;
    writeFileSync(path, 'This is a text, and by no means a database. '.repeat(100));
    await expect(openJournal(`file:${path}`)).rejects.toThrow(/not a database/);
  });

  test('a file that stands where the folder should be is refused at opening', async () => {
    await expect(openJournal(`${room.place.url}/journal.db`)).rejects.toThrow(
      /ENOTDIR|EEXIST|unable to open/,
    );
  });
});
