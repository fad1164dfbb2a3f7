import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openJournal } from '../../../src/datasources/journal/create-journal';
import type { Journal, NewAttempt } from '../../../src/datasources/journal/journal';
import { objectsOf, temporaryFolder } from '../../audit/support/files';
import { describePostgres, openStore, type Store, type StoreKind } from '../../support/stores';
import { newAttempt } from '../../journal/support/samples';
import { JOURNAL_TIMEOUT_MS } from '../../support/timeouts';
import { NOBODY } from './doctor';
import { run, type Ran } from './run';

export const BECAUSE = ['--reason', 'the service says so'] as const;

interface RunAs {
  env?: Record<string, string>;
  /** The name of the user of the operating system. */
  user?: string;
}

/** A journal with its audit log, and the operator's commands on both. */
export interface Desk {
  store: Store;
  journal: Journal;
  auditFile: string;
  env: Record<string, string>;
  /** Begins an attempt in the journal and leaves its outcome unknown. */
  unknown(given?: Partial<NewAttempt>): Promise<NewAttempt>;
  outcomeOf(id: string): Promise<string | undefined>;
  /** Runs `paygraph attempts …` in this process. */
  attempts(args: readonly string[], as?: RunAs): Promise<Ran>;
  /** Returns the lines of the audit log about an attempt. */
  linesAbout(id: string): ReturnType<typeof objectsOf>;
  /** Writes a file for --file and returns its path. */
  file(name: string, content: string | Buffer): string;
}

async function openDesk(kind: StoreKind): Promise<Desk & { close(): Promise<void> }> {
  const store = await openStore(kind);
  const journal = await openJournal(store.url, JOURNAL_TIMEOUT_MS);
  const auditFile = path.join(temporaryFolder(), 'audit.log');
  const env = { DATABASE_URL: store.url, SERVICE_BASE_URL: NOBODY, AUDIT_LOG_FILE: auditFile };
  return {
    store,
    journal,
    auditFile,
    env,
    unknown: async (given) => {
      const attempt = newAttempt({ service: NOBODY, startedAt: Date.UTC(2026, 0, 1), ...given });
      await journal.insertAttempt(attempt);
      await journal.recordOutcome(attempt.id, { outcome: 'unknown', nextRecheckAt: Date.UTC(2026, 0, 2) });
      return attempt;
    },
    outcomeOf: async (id) => (await journal.findById(NOBODY, id))?.outcome,
    attempts: async (args, { env: more, user } = {}) => {
      const userInfo = jest.spyOn(os, 'userInfo');
      if (user !== undefined) userInfo.mockReturnValue({ ...os.userInfo(), username: user });
      return run(['attempts', ...args], { ...env, ...more }).finally(() => userInfo.mockRestore());
    },
    linesAbout: (id) => objectsOf(auditFile).filter((line) => line['attempt'] === id),
    file: (name, content) => {
      const file = path.join(temporaryFolder(), name);
      writeFileSync(file, content);
      return file;
    },
    close: async () => {
      await journal.close();
      await store.drop();
    },
  };
}

function describeDesk(name: string, kind: StoreKind, define: (desk: () => Desk) => void): void {
  const block = kind === 'SQLite' ? describe : describePostgres;
  block(`${name} (${kind})`, () => {
    let desk: Awaited<ReturnType<typeof openDesk>>;
    beforeAll(async () => {
      desk = await openDesk(kind);
    });
    afterAll(() => desk.close());
    define(() => desk);
  });
}

/** Defines tests that do not depend on the store. */
export const describeSqliteDesk = (name: string, define: (desk: () => Desk) => void): void =>
  describeDesk(name, 'SQLite', define);

/** Defines tests that run on both stores. */
export function describeDesks(name: string, define: (desk: () => Desk) => void): void {
  describeDesk(name, 'SQLite', define);
  describeDesk(name, 'PostgreSQL', define);
}
