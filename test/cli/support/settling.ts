import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Journal, NewAttempt } from '../../../src/datasources/journal/journal';
import { objectsOf, temporaryFolder } from '../../audit/support/files';
import type { Store } from '../../support/stores';
import { describeJournals, describeSqliteJournal, type JournalFixture } from '../../journal/support/fixture';
import { newAttempt } from '../../journal/support/samples';
import { NOBODY } from './doctor';
import { run, type Ran } from './run';

export const USER = os.userInfo().username;
export const BECAUSE = ['--reason', 'the service says so'] as const;

/** A journal with its audit log, and the operator's commands on both. Its methods can be destructured. */
export class Desk {
  readonly auditFile = path.join(temporaryFolder(), 'audit.log');
  readonly env: Record<string, string>;

  constructor(
    readonly store: Store,
    readonly journal: Journal,
  ) {
    this.env = { DATABASE_URL: store.url, SERVICE_BASE_URL: NOBODY, AUDIT_LOG_FILE: this.auditFile };
  }

  /** Begins an attempt in the journal and leaves its outcome unknown. */
  readonly unknown = async (given: Partial<NewAttempt> = {}): Promise<NewAttempt> => {
    const attempt = newAttempt({ service: NOBODY, startedAt: Date.UTC(2026, 0, 1), ...given });
    await this.journal.insertAttempt(attempt);
    await this.journal.recordOutcome(attempt.id, { outcome: 'unknown', nextRecheckAt: Date.UTC(2026, 0, 2) });
    return attempt;
  };

  readonly outcomeOf = async (id: string): Promise<string | undefined> =>
    (await this.journal.findById(NOBODY, id))?.outcome;

  /** Runs `paygraph attempts …` in this process, as a user of the operating system. */
  readonly attempts = async (
    args: readonly string[],
    { env = {}, user = USER }: { env?: Record<string, string>; user?: string } = {},
  ): Promise<Ran> => {
    const userInfo = jest.spyOn(os, 'userInfo').mockReturnValue({ ...os.userInfo(), username: user });
    return run(['attempts', ...args], { ...this.env, ...env }).finally(() => userInfo.mockRestore());
  };

  /** Returns the lines of the audit log about an attempt. */
  readonly linesAbout = (id: string): ReturnType<typeof objectsOf> =>
    objectsOf(this.auditFile).filter((line) => line['attempt'] === id);

  /** Writes a file for --file and returns its path. */
  readonly file = (name: string, content: string | Buffer): string => {
    const file = path.join(temporaryFolder(), name);
    writeFileSync(file, content);
    return file;
  };
}

type Define = (desk: () => Desk) => void;

const withDesk =
  (define: Define) =>
  (fixture: JournalFixture): void => {
    let desk: Desk;
    beforeAll(() => {
      desk = new Desk(fixture.store, fixture.journal);
    });
    define(() => desk);
  };

/** Defines tests that do not depend on the store. */
export const describeSqliteDesk = (name: string, define: Define): void =>
  describeSqliteJournal(name, withDesk(define));

/** Defines tests that run on both stores. */
export const describeDesks = (name: string, define: Define): void => describeJournals(name, withDesk(define));
