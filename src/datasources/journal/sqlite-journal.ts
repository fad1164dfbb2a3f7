import type { SQLInputValue } from 'node:sqlite';
import type {
  Attempt,
  AttemptKey,
  AttemptKind,
  AttemptPage,
  Begun,
  Claim,
  ConfirmClaim,
  Journal,
  NewAttempt,
  Settlement,
  UnknownCount,
} from './journal';
import { findCreatedInSqlite } from './find-created';
import { migrate } from './migrations';
import {
  BEGIN_COLUMNS,
  TAKE_OVER_CONFIRM,
  TAKE_OVER_FREED_KEY,
  beginValues,
  isFree,
  readAttempt,
  readUnknownCounts,
  takeOverReservation,
  type Row,
} from './rows';
import { SqliteThread, type Statement } from './sqlite-thread';

const sql = (text: string, ...params: SQLInputValue[]): Statement => ({ sql: text, params });

const RESERVE = `INSERT INTO reservations (service, channel, external_id, attempt_id) VALUES (?, ?, ?, ?)
  ${takeOverReservation(`NOT EXISTS (
    SELECT 1 FROM attempts a
    WHERE a.id = reservations.attempt_id AND a.outcome IN ('in_progress', 'succeeded', 'unknown'))`)}`;

const BEGIN = `INSERT INTO attempts (${BEGIN_COLUMNS.join(', ')}, outcome)
  SELECT ${BEGIN_COLUMNS.map(() => '?').join(', ')}, 'in_progress'
  WHERE ? = 0 OR EXISTS (
    SELECT 1 FROM reservations WHERE service = ? AND channel = ? AND external_id = ? AND attempt_id = ?)
  ${TAKE_OVER_FREED_KEY} RETURNING id`;

const FIND = 'SELECT * FROM attempts WHERE service = ? AND client = ? AND key = ?';

/** In these words the index of open attempts is used. */
const OPEN = "outcome IN ('in_progress', 'unknown')";
const CLAIMABLE = `${OPEN} AND lease_until < ?`;

/** Whether another attempt has created a transaction. */
const HELD_BY_ANOTHER = `SELECT other.id FROM attempts AS mine JOIN attempts AS other
  ON other.transaction_id = ? AND other.service = mine.service AND other.kind = mine.kind AND other.id <> mine.id
  WHERE mine.id = ?`;

const SETTLE = `UPDATE attempts
  SET outcome = ?, settled_at = ?, transaction_id = ?, status = ?, lease_until = 0, next_check_at = NULL
  WHERE id = ? AND ${OPEN}`;

const SETTLE_AS_UNKNOWN = `UPDATE attempts
  SET outcome = 'unknown', lease_until = 0, next_check_at = ?, checks = checks + 1 WHERE id = ? AND ${OPEN}`;
const PURGE_STEP = 500;

/** The journal in a SQLite file; several processes of one machine may share it. */
export class SqliteJournal implements Journal {
  private constructor(
    private readonly thread: SqliteThread,
    readonly deadlineMs: number,
  ) {}

  /** Opens the file and brings its tables up to date. */
  static async open(file: string, deadlineMs: number): Promise<SqliteJournal> {
    const thread = await SqliteThread.open(file, deadlineMs);
    const execute = (text: string): Promise<Row[]> => thread.runPatiently(text);
    try {
      // Outside of it another process might be at the same work.
      await execute('BEGIN IMMEDIATE');
      await migrate({ dialect: 'sqlite', execute });
      await execute('COMMIT');
    } catch (error) {
      await thread.close();
      throw error;
    }
    return new SqliteJournal(thread, deadlineMs);
  }

  async begin(attempt: NewAttempt): Promise<Begun> {
    const { service, client, key, channel, externalId, id, reserve } = attempt;
    const reservation = [service, channel, externalId, id];
    const [row] = await this.#write(
      ...(reserve ? [sql(RESERVE, ...reservation)] : []),
      sql(BEGIN, ...beginValues(attempt), reserve ? 1 : 0, ...reservation),
      sql(FIND, service, client, key),
    );
    if (!row) return { kind: 'reserved' };
    if (row['id'] === id) return { kind: 'started' };
    const found = readAttempt(row);
    return isFree(found) ? { kind: 'reserved' } : { kind: 'exists', attempt: found };
  }

  async settle(id: string, settlement: Settlement): Promise<boolean> {
    if (settlement.outcome === 'unknown') {
      await this.#write(sql(SETTLE_AS_UNKNOWN, settlement.nextCheckAt, id));
      return true;
    }
    const { outcome, settledAt } = settlement;
    if (outcome !== 'succeeded') {
      await this.#write(sql(SETTLE, outcome, settledAt, null, null, id));
      return true;
    }
    const { transactionId, status } = settlement;
    const others = await this.#write(
      sql(HELD_BY_ANOTHER, transactionId, id),
      sql(SETTLE, outcome, settledAt, transactionId, status, id),
    );
    return others.length === 0;
  }

  async find({ service, client, key }: AttemptKey): Promise<Attempt | null> {
    return this.#readOne(sql(FIND, service, client, key));
  }

  async findByTransaction(
    service: string,
    kind: AttemptKind,
    transactionId: string,
  ): Promise<Attempt | null> {
    const text = 'SELECT * FROM attempts WHERE transaction_id = ? AND service = ? AND kind = ?';
    return this.#readOne(sql(text, transactionId, service, kind));
  }

  readonly findCreated = findCreatedInSqlite((text, params) =>
    this.thread.run({ write: false, statements: [sql(text, ...params)] }),
  );

  async list({ service, client, channel, kinds, outcome, before, limit }: AttemptPage): Promise<Attempt[]> {
    const [only = null] = kinds?.length === 1 ? kinds : [];
    const text = `SELECT * FROM attempts WHERE service = ? AND client = ? AND channel = ?
      AND (? IS NULL OR kind = ?) AND (? IS NULL OR outcome = ?) AND (? IS NULL OR seq < ?) ORDER BY seq DESC LIMIT ?`;
    const [asked, from] = [outcome ?? null, before ?? null];
    return this.#read(sql(text, service, client, channel, only, only, asked, asked, from, from, limit));
  }

  async renew(owner: string, leaseUntil: number): Promise<void> {
    await this.#write(
      sql(
        `UPDATE attempts SET lease_until = ? WHERE owner = ? AND ${OPEN} AND outcome = 'in_progress'`,
        leaseUntil,
        owner,
      ),
      sql('UPDATE confirms SET lease_until = ? WHERE owner = ? AND lease_until > 0', leaseUntil, owner),
    );
  }

  async claim(id: string, { owner, now, leaseUntil }: Claim): Promise<Attempt | null> {
    const text = `UPDATE attempts SET outcome = 'unknown', owner = ?, lease_until = ? WHERE id = ? AND ${CLAIMABLE} RETURNING *`;
    const rows = await this.#write(sql(text, owner, leaseUntil, id, now));
    return rows[0] ? readAttempt(rows[0]) : null;
  }

  async claimDue({ service, owner, now, leaseUntil }: Claim, limit: number): Promise<Attempt[]> {
    const text = `UPDATE attempts SET outcome = 'unknown', owner = ?, lease_until = ? WHERE id IN (
      SELECT id FROM attempts WHERE ${CLAIMABLE} AND service = ? AND (next_check_at IS NULL OR next_check_at <= ?)
      ORDER BY next_check_at LIMIT ?) RETURNING *`;
    const rows = await this.#write(sql(text, owner, leaseUntil, now, service, now, limit));
    return rows.map(readAttempt);
  }

  async beginConfirm(claim: ConfirmClaim): Promise<{ suspect: boolean } | null> {
    const { service, channel, transactionId, id, owner, leaseUntil, now } = claim;
    const text = `INSERT INTO confirms (service, channel, transaction_id, id, owner, lease_until) VALUES (?, ?, ?, ?, ?, ?)
      ${TAKE_OVER_CONFIRM} WHERE confirms.lease_until < ? RETURNING suspect`;
    const rows = await this.#write(sql(text, service, channel, transactionId, id, owner, leaseUntil, now));
    return rows[0] ? { suspect: rows[0]['suspect'] === 1 } : null;
  }

  async endConfirm(id: string, known: boolean): Promise<void> {
    await this.#write(
      known
        ? sql('DELETE FROM confirms WHERE id = ?', id)
        : sql('UPDATE confirms SET lease_until = 0 WHERE id = ?', id),
    );
  }

  async findById(service: string, id: string): Promise<Attempt | null> {
    return this.#readOne(sql('SELECT * FROM attempts WHERE id = ? AND service = ?', id, service));
  }

  async findAny(service: string, name: string): Promise<Attempt | null> {
    const text = 'SELECT * FROM attempts WHERE service = ? AND (id = ? OR key = ?) LIMIT 2';
    const found = await this.#read(sql(text, service, name, name));
    return found.length === 1 ? (found[0] ?? null) : null;
  }

  async unknown(service: string, limit: number): Promise<Attempt[]> {
    const text = `SELECT * FROM attempts WHERE ${OPEN} AND outcome = 'unknown' AND service = ? ORDER BY seq LIMIT ?`;
    return this.#read(sql(text, service, limit));
  }

  async countUnknown(service: string): Promise<UnknownCount[]> {
    const text = `SELECT kind, count(*) AS count, min(started_at) AS oldest FROM attempts
      WHERE ${OPEN} AND outcome = 'unknown' AND service = ? GROUP BY kind`;
    return readUnknownCounts(await this.thread.run({ write: false, statements: [sql(text, service)] }));
  }

  async purge(settledBefore: number): Promise<number> {
    // Little by little: nobody who writes meanwhile has to wait for all of it.
    const text = `DELETE FROM attempts WHERE id IN (
      SELECT id FROM attempts WHERE settled_at < ? ORDER BY settled_at LIMIT ${PURGE_STEP}) RETURNING id`;
    let purged = 0;
    for (let rows: Row[] = [{}]; rows.length > 0; purged += rows.length) {
      rows = await this.#write(sql(text, settledBefore));
    }
    await this.#write(sql('DELETE FROM reservations WHERE attempt_id NOT IN (SELECT id FROM attempts)'));
    return purged;
  }

  async ping(): Promise<void> {
    await this.#read(sql('SELECT * FROM attempts LIMIT 0'));
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  #write(...statements: Statement[]): Promise<Row[]> {
    return this.thread.run({ write: true, statements });
  }

  async #read(statement: Statement): Promise<Attempt[]> {
    const rows = await this.thread.run({ write: false, statements: [statement] });
    return rows.map(readAttempt);
  }

  async #readOne(statement: Statement): Promise<Attempt | null> {
    const [found] = await this.#read(statement);
    return found ?? null;
  }
}
