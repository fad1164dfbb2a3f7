import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openJournal } from '../../../src/datasources/journal/create-journal';
import type { Journal, NewAttempt } from '../../../src/datasources/journal/journal';
import { objectsOf, temporaryFolder } from '../../audit/support/files';
import { openStore, type Store, type StoreKind } from '../../support/stores';
import { newAttempt } from '../../journal/support/samples';
import { JOURNAL_TIMEOUT_MS } from '../../support/timeouts';
import { NOBODY } from './doctor';
import { describeKinds } from './kinds';
import { run, type Ran } from './run';

export const BECAUSE = ['--reason', 'the service says so'] as const;

interface RunAs {
  env?: Record<string, string>;
  /** The name of the user of the operating system. */
  user?: string;
}

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

  /** Runs `paygraph attempts …` in this process. */
  readonly attempts = async (args: readonly string[], { env, user }: RunAs = {}): Promise<Ran> => {
    const userInfo = jest.spyOn(os, 'userInfo');
    if (user !== undefined) userInfo.mockReturnValue({ ...os.userInfo(), username: user });
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

const describeDesk = (name: string, kinds: readonly StoreKind[], define: Define): void =>
  describeKinds(name, kinds, (kind) => {
    let desk: Desk;
    beforeAll(async () => {
      const store = await openStore(kind);
      desk = new Desk(store, await openJournal(store.url, JOURNAL_TIMEOUT_MS));
    });
    afterAll(async () => {
      await desk.journal.close();
      await desk.store.drop();
    });
    define(() => desk);
  });

/** Defines tests that do not depend on the store. */
export const describeSqliteDesk = (name: string, define: Define): void =>
  describeDesk(name, ['SQLite'], define);

/** Defines tests that run on both stores. */
export const describeDesks = (name: string, define: Define): void =>
  describeDesk(name, ['SQLite', 'PostgreSQL'], define);
