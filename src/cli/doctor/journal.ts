import { existsSync } from 'node:fs';
import {
  inspectPostgres,
  weaknessCodes,
  inspectSqlite,
  type JournalFacts,
  type PostgresFacts,
} from '../../datasources/journal/diagnostics';
import {
  classifyJournalError,
  journalErrorText,
  diagnoseSqliteError,
} from '../../datasources/journal/journal-error';
import { sqlitePathOf } from '../../datasources/journal/create-journal';
import { findingOf, type CheckContext, type Finding } from './check';
import { checkWritableFile } from './files';

/** Maximum time in ms to wait while another process locks the SQLite file. */
const SQLITE_BUSY_TIMEOUT_MS = 1_000;
const POSTGRES_QUERY_TIMEOUT_MS = 4_000;
const HOUR_MS = 60 * 60 * 1000;

/**
 * Checks that the journal is usable and migrated and, for PostgreSQL, its durability, notifications and clock. With a
 * real payment service, also checks that no attempt has an unknown outcome.
 */
export async function checkJournal({ config, now }: CheckContext): Promise<Finding[]> {
  const journalUrl = config.journal.url.reveal();
  const sqlitePath = sqlitePathOf(journalUrl);
  const { findings, journalFacts } =
    sqlitePath === undefined ? await checkPostgres(journalUrl) : await checkSqlite(sqlitePath);
  if (!journalFacts) return findings;
  const unknownOutcomesFinding = config.sandbox
    ? findingOf.skipped('Attempts of unknown outcome are not checked with the embedded sandbox.')
    : checkUnknownOutcomes(journalFacts, now());
  return [...findings, checkMigrations(journalFacts), unknownOutcomesFinding];
}

/**
 * Result of the inspection of the journal. `journalFacts` is undefined if the journal does not exist yet or cannot be
 * read.
 */
interface JournalInspection {
  findings: Finding[];
  journalFacts?: JournalFacts;
}

async function checkSqlite(sqlitePath: string): Promise<JournalInspection> {
  const findings = checkWritableFile('DATABASE_URL', sqlitePath);
  if (!existsSync(sqlitePath) || findings.some(({ status }) => status === 'failed')) return { findings };
  try {
    return { findings, journalFacts: await inspectSqlite(sqlitePath, SQLITE_BUSY_TIMEOUT_MS) };
  } catch (error) {
    const reason = journalErrorText(classifyJournalError(diagnoseSqliteError(error, sqlitePath)));
    const message = `DATABASE_URL: ${sqlitePath} is unusable: ${reason}.`;
    return { findings: [findingOf.failed('sqlite_unusable', message)] };
  }
}

async function checkPostgres(postgresUrl: string): Promise<JournalInspection> {
  try {
    const postgresFacts = await inspectPostgres(postgresUrl, POSTGRES_QUERY_TIMEOUT_MS);
    const findings = [
      checkTablesWritable(postgresFacts),
      checkDurability(postgresFacts),
      checkListenNotify(postgresFacts),
      checkDatabaseClock(postgresFacts),
    ];
    return { findings, journalFacts: postgresFacts };
  } catch (error) {
    const reason = journalErrorText(classifyJournalError(error));
    const message = `DATABASE_URL: PostgreSQL cannot be used: ${reason}.`;
    return { findings: [findingOf.failed('postgres_unusable', message)] };
  }
}

const checkTablesWritable = (postgresFacts: PostgresFacts): Finding =>
  postgresFacts.isWritable
    ? findingOf.ok('The tables of the journal are writable.')
    : findingOf.failed('tables_not_writable', 'The tables of the journal are not writable.');

function checkDurability(postgresFacts: PostgresFacts): Finding {
  const notDurableText =
    'A crash of PostgreSQL could lose committed transactions, so creates and confirms are rejected.';
  const asynchronousStandbyText =
    'PostgreSQL has standbys, but no synchronous one: a failover can lose the latest attempts.';
  const failoverUnnoticedText =
    'The database user cannot execute pg_control_system(): the gateway cannot detect a failover.';
  const weaknesses = weaknessCodes(postgresFacts);
  if (weaknesses.includes('journal_not_durable'))
    return findingOf.failed('journal_not_durable', notDurableText);
  if (weaknesses.includes('asynchronous_standby'))
    return findingOf.warning('asynchronous_standby', asynchronousStandbyText);
  if (weaknesses.includes('failover_unnoticed'))
    return findingOf.warning('failover_unnoticed', failoverUnnoticedText);
  return findingOf.ok(
    'Committed transactions survive a crash of PostgreSQL, and the gateway can detect a failover.',
  );
}

function checkListenNotify({ canListen }: PostgresFacts): Finding {
  if (canListen === null)
    return findingOf.skipped('LISTEN and NOTIFY were not checked: the server is a standby.');
  if (canListen) return findingOf.ok('LISTEN and NOTIFY work.');
  const message = 'LISTEN and NOTIFY do not work: instances cannot notify each other of changes.';
  return findingOf.warning('no_notifications', message);
}

function checkDatabaseClock(postgresFacts: PostgresFacts): Finding {
  if (!weaknessCodes(postgresFacts).includes('database_clock'))
    return findingOf.ok('The clock of this machine agrees with that of PostgreSQL.');
  const differenceSeconds = Math.round(postgresFacts.clockDifferenceMs / 1000);
  return findingOf.warning(
    'database_clock',
    `The clock of PostgreSQL is ${Math.abs(differenceSeconds)} s ${differenceSeconds < 0 ? 'behind' : 'ahead of'} that of this machine.`,
  );
}

function checkMigrations({ pendingMigrations, unknownMigrations }: JournalFacts): Finding {
  const pendingMessage = `Migrations are pending: ${pendingMigrations.join(', ')}.`;
  const newerMessage = `A newer version of the gateway has migrated the tables (${unknownMigrations.join(', ')}).`;
  if (unknownMigrations.length > 0) return findingOf.failed('journal_newer', newerMessage);
  if (pendingMigrations.length > 0) return findingOf.warning('migrations_pending', pendingMessage);
  return findingOf.ok('All migrations of the journal are applied.');
}

function checkUnknownOutcomes(
  { unknownOutcomes: { count, oldestStartedAt } }: JournalFacts,
  now: number,
): Finding {
  if (count === 0 || oldestStartedAt === null) return findingOf.ok('No attempt has an unknown outcome.');
  const oldestAgeHours = ((now - oldestStartedAt) / HOUR_MS).toFixed(1);
  return findingOf.warning(
    'unknown_outcomes',
    `Attempts of unknown outcome: ${count}; the oldest is ${oldestAgeHours} h old.`,
  );
}
