import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { openJournal } from '../../../src/datasources/journal/open';
import type { Journal, NewAttempt } from '../../../src/datasources/journal/journal';
import { objectsOf, temporaryFolder } from '../../audit/support/files';
import { openStore, postgresAnswers, type Store, type StoreKind } from '../../exactly-once/support/stores';
import { newAttempt } from '../../journal/support/samples';
import { PATIENT_MS } from '../../support/patience';
import { NOBODY } from './doctor';
import type { Ran } from './run';

const PROGRAM = path.resolve(__dirname, '../../../bin/paygraph.mjs');

export const BECAUSE = ['--reason', 'the service says so'] as const;

interface As {
  env?: Record<string, string>;
  /** Another user of the operating system, by number; needs root. */
  uid?: number;
}

/** A journal with its audit log, and the operator's commands as processes of their own. */
export interface Desk {
  store: Store;
  journal: Journal;
  auditFile: string;
  env: Record<string, string>;
  /** Begins an attempt in the journal and leaves its outcome unknown. */
  unknown(given?: Partial<NewAttempt>): Promise<NewAttempt>;
  outcomeOf(id: string): Promise<string | undefined>;
  /** `paygraph attempts …` in a process of its own. */
  attempts(args: readonly string[], as?: As): Promise<Ran>;
  /** The lines of the audit log about an attempt. */
  linesAbout(id: string): ReturnType<typeof objectsOf>;
  /** Writes a file for --file and returns its path. */
  file(name: string, content: string | Buffer): string;
}

async function openDesk(kind: StoreKind): Promise<Desk & { close(): Promise<void> }> {
  const store = await openStore(kind);
  const journal = await openJournal(store.url, PATIENT_MS);
  const auditFile = path.join(temporaryFolder(), 'audit.log');
  const env = { DATABASE_URL: store.url, SERVICE_BASE_URL: NOBODY, AUDIT_LOG_FILE: auditFile };
  return {
    store,
    journal,
    auditFile,
    env,
    unknown: async (given) => {
      const attempt = newAttempt({ service: NOBODY, startedAt: Date.UTC(2026, 0, 1), ...given });
      await journal.begin(attempt);
      await journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: Date.UTC(2026, 0, 2) });
      return attempt;
    },
    outcomeOf: async (id) => (await journal.findById(NOBODY, id))?.outcome,
    attempts: (args, as) => runProgram(['attempts', ...args], { ...as, env: { ...env, ...as?.env } }),
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

/** `paygraph …` in a process of its own. */
export async function runProgram(args: readonly string[], { env, uid }: As): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid }),
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

/** The same tests against both stores. */
export function describeDesks(name: string, define: (desk: () => Desk) => void): void {
  const inStore = (kind: StoreKind): void =>
    describe(`${name} (${kind})`, () => {
      let desk: Awaited<ReturnType<typeof openDesk>>;
      beforeAll(async () => {
        desk = await openDesk(kind);
      });
      afterAll(() => desk.close());
      define(() => desk);
    });
  inStore('SQLite');
  if (postgresAnswers()) return inStore('PostgreSQL');
  console.warn(`SKIPPED: "${name}" against PostgreSQL. None answers at TEST_DATABASE_URL.`);
  describe.skip(`${name} (PostgreSQL; SKIPPED, none answers)`, () => {
    test('needs a PostgreSQL', () => undefined);
  });
}
