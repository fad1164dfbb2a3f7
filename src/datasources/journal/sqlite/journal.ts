import { READ_DEADLINE_MS } from '../deadline';
import type {
  Attempt,
  AttemptKey,
  AttemptKind,
  AttemptPage,
  BeginResult,
  Claim,
  Journal,
  NewAttempt,
  PurgeProgress,
  PurgeStep,
  Outcome,
  UnknownCount,
} from '../journal';
import { findCreatedInSqlite } from '../find-created';
import { fileOpenError, JournalOpenError } from '../journal-open-error';
import { migrate } from '../migrations';
import {
  BEGIN_COLUMNS,
  OPEN,
  UPSERT_RELEASED_KEY,
  beginValues,
  isReleased,
  leaseIsOver,
  CREATED_ON_CHANNEL,
  createdValues,
  observerGrace,
  readAttempt,
  rival,
  rivalValues,
  upsertReservation,
  type Row,
} from '../rows';
import { SqliteAttemptReads } from './attempt-reads';
import { SqliteConfirms } from './confirms';
import { purgeStep } from './purge';
import { sql, SqliteThread, type Statement } from './thread';

const unnumbered = (): string => '?';

const RESERVE = `INSERT INTO reservations (service, channel, external_id, attempt_id) VALUES (?, ?, ?, ?)
  ${upsertReservation(`NOT EXISTS (
    SELECT 1 FROM attempts a
    WHERE a.id = reservations.attempt_id AND a.outcome IN ('in_progress', 'succeeded', 'unknown'))`)}`;

const BEGIN = `INSERT INTO attempts (${BEGIN_COLUMNS.join(', ')}, outcome)
  SELECT ${BEGIN_COLUMNS.map(() => '?').join(', ')}, 'in_progress'
  WHERE ? = 0 OR EXISTS (
    SELECT 1 FROM reservations WHERE service = ? AND channel = ? AND external_id = ? AND attempt_id = ?)
  ${UPSERT_RELEASED_KEY} RETURNING id`;

const FIND = 'SELECT * FROM attempts WHERE service = ? AND client = ? AND key = ?';

const CLAIMABLE = `${OPEN} AND ${leaseIsOver('?')}`;

/** Whether another attempt has created a transaction. */
const HELD_BY_ANOTHER = `SELECT other.id FROM attempts AS mine JOIN attempts AS other
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

const CHECK_WRITE = `INSERT INTO write_checks (id, checked_at, filler) VALUES (1, ?, zeroblob(?))
  ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, filler = excluded.filler`;

/** The journal in a SQLite file; several processes of one machine may share it. */
export class SqliteJournal implements Journal {
  readonly #confirms: SqliteConfirms;
  readonly beginConfirm: Journal['beginConfirm'] = (claim) => this.#confirms.begin(claim);
  readonly endConfirm: Journal['endConfirm'] = (id, result) => this.#confirms.end(id, result);
  readonly confirmedInputs: Journal['confirmedInputs'] = (payment) => this.#confirms.confirmedInputs(payment);

  private constructor(
    private readonly thread: SqliteThread,
    private readonly reads: SqliteAttemptReads,
    readonly deadlineMs: number,
  ) {
    this.#confirms = new SqliteConfirms(thread);
  }

  /** Opens the file and brings its tables up to date. */
  static async open(file: string, deadlineMs: number): Promise<SqliteJournal> {
    const thread = await SqliteThread.open(file, deadlineMs);
    const execute = (text: string): Promise<Row[]> => thread.runPatiently(text);
    try {
      // Outside of it another process might be at the same work.
      await execute('BEGIN IMMEDIATE');
      await migrate({ dialect: 'sqlite', execute });
      await execute('COMMIT');
      const reads = await SqliteAttemptReads.open(file, Math.max(deadlineMs, READ_DEADLINE_MS));
      return new SqliteJournal(thread, reads, deadlineMs);
    } catch (error) {
      await thread.close();
      throw error instanceof JournalOpenError ? error : fileOpenError(file, error);
    }
  }

  async insertAttempt(attempt: NewAttempt): Promise<BeginResult> {
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
    return isReleased(found) ? { kind: 'reserved' } : { kind: 'exists', attempt: found };
  }

  async recordOutcome(id: string, settlement: Outcome): Promise<boolean> {
    if (settlement.outcome === 'unknown') {
      const { lookups = null, spanMs = null, observer = null } = settlement.absence ?? {};
      await this.#write(sql(SETTLE_AS_UNKNOWN, settlement.nextRecheckAt, lookups, spanMs, observer, id));
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

  list(page: AttemptPage): Promise<Attempt[]> {
    return this.reads.list(page);
  }

  async hasRival(attempt: Attempt): Promise<boolean> {
    return (await this.#readRows(sql(rival(unnumbered), ...rivalValues(attempt)))).length > 0;
  }

  async createdBeside(attempt: Attempt): Promise<string | null> {
    const [row] = await this.#readRows(sql(CREATED_ON_CHANNEL, ...createdValues(attempt)));
    return row ? String(row['transaction_id']) : null;
  }

  /** The machine's clock: the processes that share a file run on one machine. */
  async time(): Promise<number> {
    return Promise.resolve(Date.now());
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
      SELECT id FROM attempts WHERE ${CLAIMABLE} AND service = ?
        AND (next_check_at IS NULL OR next_check_at <= ? - ${observerGrace('?')})
      ORDER BY next_check_at LIMIT ?) RETURNING *`;
    const rows = await this.#write(sql(text, owner, leaseUntil, now, service, now, owner, limit));
    return rows.map(readAttempt);
  }

  async findById(service: string, id: string): Promise<Attempt | null> {
    return this.#readOne(sql('SELECT * FROM attempts WHERE id = ? AND service = ?', id, service));
  }

  findAny(service: string, name: string): Promise<Attempt | null> {
    return this.reads.findAny(service, name);
  }

  unknown(service: string, limit: number): Promise<Attempt[]> {
    return this.reads.unknown(service, limit);
  }

  countUnknown(service: string): Promise<UnknownCount[]> {
    return this.reads.countUnknown(service);
  }

  purgeStep(step: PurgeStep): Promise<PurgeProgress> {
    return purgeStep(this.thread, step);
  }

  async checkWrite(bytes: number): Promise<void> {
    await this.thread.run({ write: true, statements: [sql(CHECK_WRITE, Date.now(), bytes)] }, 'low');
  }

  async ping(): Promise<void> {
    await this.#read(sql('SELECT * FROM attempts LIMIT 0'));
  }

  async close(): Promise<void> {
    // The last one to close the file has to be able to write it: it takes in the write-ahead log.
    await this.reads.close();
    await this.thread.close();
  }

  #write(...statements: Statement[]): Promise<Row[]> {
    return this.thread.run({ write: true, statements });
  }

  #readRows(statement: Statement): Promise<Row[]> {
    return this.thread.run({ write: false, statements: [statement] });
  }

  async #read(statement: Statement): Promise<Attempt[]> {
    return (await this.#readRows(statement)).map(readAttempt);
  }

  async #readOne(statement: Statement): Promise<Attempt | null> {
    const [found] = await this.#read(statement);
    return found ?? null;
  }
}
