import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  inspectPostgres,
  inspectSqlite,
  type JournalState,
  type PostgresState,
} from '../../datasources/journal/diagnostics';
import { faultOf, faultText } from '../../datasources/journal/journal-error';
import { failed, ok, skipped, warning, wordOf, type Check, type Finding } from './check';
import { isFolderForFiles, isWritable, nearestExistingParent, freeDiskSpace } from './filesystem';

/** How long a gateway that writes may keep the file. */
const BUSY_MS = 1_000;
const ANSWER_MS = 4_000;
/** The journal's statements need AS MATERIALIZED and plan_cache_mode. */
const OLDEST_POSTGRES = 120_000;

/** Whether the journal can be reached and written, is up to date, and holds creates that nobody knows the outcome of. */
export const journal: Check = {
  name: 'journal',
  run: async ({ config, now }) => {
    const url = config.journal.url.reveal();
    const isFile = url.startsWith('file:');
    const found = isFile ? await inFile(path.resolve(url.slice('file:'.length))) : await inPostgres(url);
    if (!found.state) return found.findings;
    const open = config.sandbox
      ? skipped('Unknown outcomes: with the embedded sandbox there are none that matter.')
      : unknownOutcomes(found.state, now());
    return [...found.findings, ...steps(found.state), open];
  },
};

interface Found {
  findings: Finding[];
  /** Undefined where it could not be looked at. */
  state?: JournalState;
}

async function inFile(file: string): Promise<Found> {
  const folder = nearestExistingParent(file);
  if (!existsSync(file)) {
    if (isFolderForFiles(folder))
      return { findings: [ok(`${file} is not there yet: the gateway makes it.`), freeDiskSpace(folder)] };
    return { findings: [notWritable(folder), freeDiskSpace(folder)] };
  }
  if (statSync(file).isDirectory())
    return {
      findings: [
        failed(`${file} is a folder.`, 'DATABASE_URL has to name a file in it.'),
        freeDiskSpace(folder),
      ],
    };
  try {
    const state = await inspectSqlite(file, BUSY_MS);
    // SQLite makes two files beside it.
    const isGood = state.isWritable && isWritable(file) && isWritable(folder);
    return {
      findings: [isGood ? ok(`${file} can be read and written.`) : notWritable(file), freeDiskSpace(folder)],
      state,
    };
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    const says = `${file} cannot be opened (${errcode === undefined ? wordOf(error) : `SQLite ${errcode}`}).`;
    return { findings: [failed(says, SQLITE_MENDS[errcode ?? 0] ?? SQLITE_MEND), freeDiskSpace(folder)] };
  }
}

const SQLITE_MEND = 'DATABASE_URL has to name a file of this gateway, which its user may read and write.';
/** By SQLite's result codes. */
const SQLITE_MENDS: Readonly<Record<number, string>> = {
  5: 'Another process keeps the file to itself: a backup, or a tool that has it open. End it.',
  11: 'The file is damaged: stop the gateway, keep the file, and put the latest backup in its place.',
  26: 'The file is no SQLite database: DATABASE_URL names another file than the journal.',
};

const notWritable = (place: string): Finding =>
  failed(
    `${place} cannot be written.`,
    'Give it to the user of the gateway (chown), with its folder; or mount the disk for writing.',
  );

async function inPostgres(url: string): Promise<Found> {
  try {
    const state = await inspectPostgres(url, ANSWER_MS);
    return { findings: [...judgePostgres(state)], state };
  } catch (error) {
    const fault = faultOf(error);
    const mend = POSTGRES_MENDS[fault.code ?? fault.reason] ?? POSTGRES_MEND;
    return { findings: [failed(`PostgreSQL cannot be used: ${faultText(fault)}.`, mend)] };
  }
}

const POSTGRES_MEND =
  'Check host, port and database in DATABASE_URL, that the server is up and has connections left, and that pg_hba.conf lets this machine in.';
/** By the codes of PostgreSQL; by the reason where there is no code. */
const POSTGRES_MENDS: Readonly<Record<string, string>> = {
  authentication_failed: 'Put the password into DATABASE_URL, with its reserved characters percent-encoded.',
  '28P01': 'The password in DATABASE_URL is wrong.',
  '28000': "The server does not let this user in: check DATABASE_URL and the server's pg_hba.conf.",
  '3D000': 'The database that DATABASE_URL names is not there: CREATE DATABASE makes it.',
  '53300': 'The server has no connection left: raise max_connections, or end those that nobody uses.',
  '25006':
    'None of the hosts in DATABASE_URL can be written: all that answer are standbys, or the database is set read-only.',
  '08P01':
    'PgBouncer refuses a parameter of the connection: add options to its ignore_startup_parameters, or connect past it.',
};

function* judgePostgres({ version, isWritable: canWrite, canListen }: PostgresState): Generator<Finding> {
  const number = `${Math.floor(version / 10_000)}`;
  yield version < OLDEST_POSTGRES
    ? failed(`This is PostgreSQL ${number}.`, 'The journal needs PostgreSQL 12 or newer.')
    : ok(`PostgreSQL ${number} answers.`);
  yield canWrite
    ? ok('Its tables can be written.')
    : failed(
        'Its tables cannot be written.',
        'The server may be a read-only replica, or the user lacks rights: GRANT SELECT, INSERT, UPDATE, DELETE on the tables, or CREATE on the schema where there are none yet.',
      );
  if (canListen === null) yield skipped('LISTEN and NOTIFY: a standby takes none.');
  else
    yield canListen
      ? ok('LISTEN and NOTIFY work: instances tell each other of changes.')
      : warning(
          'LISTEN and NOTIFY do not work: instances cannot tell each other of changes.',
          'PgBouncer in transaction mode does this: connect past it, or use its session mode. Until then others see changes at their next look.',
        );
}

function* steps({ pendingMigrations, unknownMigrations }: JournalState): Generator<Finding> {
  if (unknownMigrations.length > 0)
    yield failed(
      `The tables are of a newer version (${unknownMigrations.join(', ')}).`,
      'Run the version of the gateway that made them; an older one is not meant to.',
    );
  else if (pendingMigrations.length > 0)
    yield warning(
      `The tables are not up to date (missing: ${pendingMigrations.join(', ')}).`,
      'paygraph migrate brings them up to date; the gateway does so itself when it starts.',
    );
  else yield ok('The tables are up to date.');
}

const HOUR_MS = 60 * 60 * 1000;

function unknownOutcomes({ unknown: { count, oldestStartedAt } }: JournalState, now: number): Finding {
  if (count === 0 || oldestStartedAt === null) return ok('No outcome is unknown.');
  const hours = ((now - oldestStartedAt) / HOUR_MS).toFixed(1);
  return warning(
    `The outcome of ${count} ${count === 1 ? 'create is' : 'creates is'} unknown, the oldest for ${hours} h.`,
    'The gateway looks for them by itself. If they stay: paygraph attempts list, ask the service, then paygraph attempts settle (docs/exactly-once.md).',
  );
}
