import { READ_DEADLINE_MS } from '../deadline';
import type {
  BeginResult,
  ConfirmResult,
  Journal,
  NewAttempt,
  Outcome,
  PurgeProgress,
  PurgeStep,
} from '../journal';
import { fileOpenError, JournalOpenError } from '../journal-open-error';
import { migrate } from '../migrations';
import {
  FIND,
  INSERT_COLUMNS,
  OPEN,
  UPSERT_RELEASED_KEY,
  insertValues,
  isReleased,
  readAttempt,
  upsertReservation,
  type Row,
} from '../rows';
import { END_CONFIRM, SqlJournal, type SqlValue } from '../sql-journal';
import type { Statement } from './messages';
import { purgeStep } from './purge';
import { sql, SqliteThread } from './thread';

const RESERVE = `INSERT INTO reservations (service, channel, external_id, attempt_id) VALUES (?, ?, ?, ?)
  ${upsertReservation(`NOT EXISTS (
    SELECT 1 FROM attempts a
    WHERE a.id = reservations.attempt_id AND a.outcome IN ('in_progress', 'succeeded', 'unknown'))`)}`;

const INSERT = `INSERT INTO attempts (${INSERT_COLUMNS.join(', ')}, outcome)
  SELECT ${INSERT_COLUMNS.map(() => '?').join(', ')}, 'in_progress'
  WHERE ? = 0 OR EXISTS (
    SELECT 1 FROM reservations WHERE service = ? AND channel = ? AND external_id = ? AND attempt_id = ?)
  ${UPSERT_RELEASED_KEY} RETURNING id`;

/** Returns a row when another attempt created the transaction. */
const CREATED_BY_ANOTHER = `SELECT other.id FROM attempts AS mine JOIN attempts AS other
  ON other.transaction_id = ? AND other.service = mine.service AND other.kind = mine.kind AND other.id <> mine.id
  WHERE mine.id = ?`;

const SETTLE = `UPDATE attempts
  SET outcome = ?, settled_at = ?, transaction_id = ?, status = ?, lease_until = 0, next_check_at = NULL
  WHERE id = ? AND ${OPEN}`;

const SETTLE_AS_UNKNOWN = `UPDATE attempts
  SET outcome = 'unknown', lease_until = 0, next_check_at = ?, checks = checks + 1,
    absent_lookups = COALESCE(?, absent_lookups), absent_ms = COALESCE(?, absent_ms),
    absent_observer = COALESCE(?, absent_observer)
  WHERE id = ? AND ${OPEN}`;

/**
 * Searches the index by id and client only, so that it reads no row of another client. The unary plus keeps a planner
 * without statistics from using the other conditions and reading all that the client ever created.
 */
const FIND_CREATED = `WITH creator AS (SELECT ? AS service, ? AS client, ? AS kind),
  input AS MATERIALIZED (
    SELECT key AS place, value ->> 0 AS channel, value ->> 1 AS transaction_id, value ->> 2 AS external_id
    FROM json_each(?))
  SELECT input.place, found.* FROM creator CROSS JOIN input CROSS JOIN attempts AS found
  WHERE found.seq = CASE WHEN input.transaction_id IS NOT NULL
    THEN (SELECT seq FROM attempts AS own
      WHERE own.transaction_id = input.transaction_id AND own.client = creator.client
        AND +own.service = creator.service AND +own.kind = creator.kind AND +own.channel = input.channel
        AND (input.external_id IS NULL OR own.external_id = input.external_id))
    ELSE (SELECT seq FROM attempts AS own
      WHERE own.external_id = input.external_id AND own.client = creator.client
        AND +own.service = creator.service AND +own.kind = creator.kind AND +own.channel = input.channel
        AND own.outcome IN ('succeeded', 'unknown')
      ORDER BY seq DESC LIMIT 1)
    END`;

const RECORD_CONFIRMED = `INSERT INTO confirmed (service, channel, transaction_id, input_hash, status, confirmed_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const CHECK_WRITE = `INSERT INTO write_checks (id, checked_at, filler) VALUES (1, ?, zeroblob(?))
  ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, filler = excluded.filler`;

/** The journal in a SQLite file, which several processes of one machine may share. */
export class SqliteJournal extends SqlJournal implements Journal {
  private constructor(
    private readonly thread: SqliteThread,
    /** A read-only connection in a second thread. */
    private readonly background: SqliteThread,
    deadlineMs: number,
  ) {
    super(deadlineMs, {
      attemptsBy: (index) => `attempts INDEXED BY ${index}`,
      skipLocked: '',
      findCreated: FIND_CREATED,
      maxConcurrentLists: 1,
    });
  }

  /** Opens the file and applies pending migrations. */
  static async open(file: string, deadlineMs: number): Promise<SqliteJournal> {
    const thread = await SqliteThread.open(file, deadlineMs);
    const execute = (text: string): Promise<Row[]> => thread.runPatiently(text);
    try {
      // Locks out other processes that start at the same time.
      await execute('BEGIN IMMEDIATE');
      await migrate({ dialect: 'sqlite', execute });
      await execute('COMMIT');
      const background = await SqliteThread.open(file, Math.max(deadlineMs, READ_DEADLINE_MS), true);
      return new SqliteJournal(thread, background, deadlineMs);
    } catch (error) {
      await thread.close();
      throw error instanceof JournalOpenError ? error : fileOpenError(file, error);
    }
  }

  async insertAttempt(attempt: NewAttempt): Promise<BeginResult> {
    const { service, client, key, channel, externalId, id, reserve } = attempt;
    const reservation = [service, channel, externalId, id];
    const [row] = await this.#writeAll(
      ...(reserve ? [sql(RESERVE, ...reservation)] : []),
      sql(INSERT, ...insertValues(attempt), reserve ? 1 : 0, ...reservation),
      sql(FIND, service, client, key),
    );
    if (!row) return { kind: 'reserved' };
    if (row['id'] === id) return { kind: 'started' };
    const found = readAttempt(row);
    return isReleased(found) ? { kind: 'reserved' } : { kind: 'exists', attempt: found };
  }

  async recordOutcome(id: string, result: Outcome): Promise<boolean> {
    if (result.outcome === 'unknown') {
      const { lookups = null, spanMs = null, observer = null } = result.absence ?? {};
      await this.write(SETTLE_AS_UNKNOWN, result.nextRecheckAt, lookups, spanMs, observer, id);
      return true;
    }
    const { outcome, settledAt } = result;
    if (outcome !== 'succeeded') {
      await this.write(SETTLE, outcome, settledAt, null, null, id);
      return true;
    }
    const { transactionId, status } = result;
    const others = await this.#writeAll(
      sql(CREATED_BY_ANOTHER, transactionId, id),
      sql(SETTLE, outcome, settledAt, transactionId, status, id),
    );
    return others.length === 0;
  }

  async endConfirm(id: string, { outcome, confirmed }: ConfirmResult): Promise<void> {
    const records = confirmed.map(({ service, channel, transactionId, inputHash, status, confirmedAt }) =>
      sql(RECORD_CONFIRMED, service, channel, transactionId, inputHash, status, confirmedAt),
    );
    await this.#writeAll(...records, sql(END_CONFIRM[outcome], id));
  }

  /** The machine's clock: all processes that share a file run on one machine. */
  async time(): Promise<number> {
    return Promise.resolve(Date.now());
  }

  purgeStep(step: PurgeStep): Promise<PurgeProgress> {
    return purgeStep(this.thread, step);
  }

  async checkWrite(bytes: number): Promise<void> {
    await this.thread.run({ write: true, statements: [sql(CHECK_WRITE, Date.now(), bytes)] }, 'low');
  }

  async close(): Promise<void> {
    // The last connection to close checkpoints the write-ahead log, so it must be able to write.
    await this.background.close();
    await this.thread.close();
  }

  protected read(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.thread.run({ write: false, statements: [sql(text, ...values)] });
  }

  protected write(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#writeAll(sql(text, ...values));
  }

  protected readInBackground(text: string, values: SqlValue[]): Promise<Row[]> {
    return this.background.run({ write: false, statements: [sql(text, ...values)] });
  }

  #writeAll(...statements: Statement[]): Promise<Row[]> {
    return this.thread.run({ write: true, statements });
  }
}
