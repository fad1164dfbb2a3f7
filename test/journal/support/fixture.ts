import path from 'node:path';
import { openJournal } from '../../../src/datasources/journal/create-journal';
import { ChildProcess } from '../../support/child-process';
import { JOURNAL_TIMEOUT_MS } from '../../support/timeouts';
import { describePostgres, emptyPostgres, openStore, type Store, type StoreKind } from '../../support/stores';
import type { JournalHandlers } from './journal-child';

export const startChild = (url: string): Promise<ChildProcess<JournalHandlers>> =>
  ChildProcess.start<JournalHandlers>(path.join(__dirname, 'journal-child.ts'), { args: [url] });

type Journal = Awaited<ReturnType<typeof openJournal>>;

/** A store and its journals, closed after the last test of the block. */
export interface JournalFixture {
  store: Store;
  /** A journal with a long timeout, for busy machines. */
  journal: Journal;
  open(): Promise<Journal>;
}

function useFixture(kind: StoreKind): JournalFixture {
  const journals: Journal[] = [];
  const fixture = {
    open: async () => {
      const journal = await openJournal(fixture.store.url, JOURNAL_TIMEOUT_MS);
      journals.push(journal);
      return journal;
    },
  } as JournalFixture;
  beforeAll(async () => {
    fixture.store = await openStore(kind);
    fixture.journal = await fixture.open();
    await fixture.journal.ping();
  });
  afterAll(async () => {
    await Promise.all(journals.map((journal) => journal.close()));
    await fixture.store.drop();
  });
  return fixture;
}

type Define = (fixture: JournalFixture) => void;

export const describeSqliteJournal = (subject: string, define: Define): void =>
  describe(`${subject} (SQLite)`, () => define(useFixture('SQLite')));

export const describePostgresJournal = (subject: string, define: Define): void =>
  describePostgres(`${subject} (PostgreSQL)`, () => define(useFixture('PostgreSQL')));

export function describeJournals(subject: string, define: Define): void {
  describeSqliteJournal(subject, define);
  describePostgresJournal(subject, define);
}

/** `describe` for each kind of store, with a function that returns the store of a test, which is empty at first. */
export function describeEmptyStores(subject: string, define: (store: () => Store) => void): void {
  const defineOn = (open: () => Promise<Store>) => (): void => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.drop());
    define(() => store);
  };
  describe(
    `${subject} (SQLite)`,
    defineOn(() => openStore('SQLite')),
  );
  describePostgres(`${subject} (PostgreSQL)`, defineOn(emptyPostgres));
}
