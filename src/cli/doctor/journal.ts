import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  inspectPostgres,
  inspectSqlite,
  type JournalState,
  type PostgresState,
} from '../../datasources/journal/diagnostics';
import { describeJournalError, journalErrorText, sqliteError } from '../../datasources/journal/journal-error';
import { failed, ok, skipped, warning, type CheckContext, type Finding } from './check';
import { checkDiskSpace, checkWritable, isWritable, notWritable } from './files';

/** How long a running gateway may lock the SQLite file. */
const BUSY_TIMEOUT_MS = 1_000;
const QUERY_TIMEOUT_MS = 4_000;
const HOUR_MS = 60 * 60 * 1000;

/** Checks that the journal can be reached and written, is migrated, and has no old attempts of unknown outcome. */
export async function checkJournal({ config, now }: CheckContext): Promise<Finding[]> {
  const url = config.journal.url.reveal();
  const { findings, state } = url.startsWith('file:')
    ? await checkSqlite(path.resolve(url.slice('file:'.length)))
    : await checkPostgres(url);
  if (!state) return findings;
  const unknown = config.sandbox
    ? skipped('Unknown outcomes are not checked with the embedded sandbox.')
    : checkUnknownOutcomes(state, now());
  return [...findings, checkMigrations(state), unknown];
}

interface Inspected {
  findings: Finding[];
  /** Undefined where the journal does not exist yet or cannot be read. */
  state?: JournalState;
}

async function checkSqlite(file: string): Promise<Inspected> {
  const disk = checkDiskSpace(file);
  const writable = checkWritable(file);
  if (!existsSync(file) || statSync(file).isDirectory()) return { findings: [writable, disk] };
  try {
    const state = await inspectSqlite(file, BUSY_TIMEOUT_MS);
    // SQLite creates two files in the same folder.
    const isGood = state.isWritable && isWritable(path.dirname(file));
    return { findings: [isGood ? writable : notWritable(`${file} or its folder`), disk], state };
  } catch (error) {
    const { message, errcode } = error as { message: string; errcode?: number };
    const reason = journalErrorText(
      describeJournalError(errcode === undefined ? error : sqliteError(message, errcode, file)),
    );
    return { findings: [failed('sqlite_unusable', `${file} cannot be used: ${reason}.`), disk] };
  }
}

async function checkPostgres(url: string): Promise<Inspected> {
  try {
    const state = await inspectPostgres(url, QUERY_TIMEOUT_MS);
    return { findings: [checkTables(state), checkNotifications(state)], state };
  } catch (error) {
    return {
      findings: [
        failed(
          'postgres_unusable',
          `PostgreSQL cannot be used: ${journalErrorText(describeJournalError(error))}.`,
        ),
      ],
    };
  }
}

const checkTables = (state: PostgresState): Finding =>
  state.isWritable
    ? ok('The tables are writable.')
    : failed('tables_not_writable', 'The tables are not writable.');

function checkNotifications({ canListen }: PostgresState): Finding {
  if (canListen === null) return skipped('LISTEN and NOTIFY are not available on a standby.');
  if (canListen) return ok('LISTEN and NOTIFY work.');
  return warning(
    'no_notifications',
    'LISTEN and NOTIFY do not work: instances cannot notify each other of changes.',
  );
}

function checkMigrations({ pendingMigrations, unknownMigrations }: JournalState): Finding {
  if (unknownMigrations.length > 0)
    return failed(
      'journal_newer',
      `A newer version has migrated the tables (${unknownMigrations.join(', ')}).`,
    );
  if (pendingMigrations.length > 0)
    return warning('migrations_pending', `Migrations are pending: ${pendingMigrations.join(', ')}.`);
  return ok('All migrations are applied.');
}

function checkUnknownOutcomes({ unknown: { count, oldestStartedAt } }: JournalState, now: number): Finding {
  if (count === 0 || oldestStartedAt === null) return ok('No attempt has an unknown outcome.');
  const hours = ((now - oldestStartedAt) / HOUR_MS).toFixed(1);
  return warning('unknown_outcomes', `Attempts of unknown outcome: ${count}; the oldest is ${hours} h old.`);
}
