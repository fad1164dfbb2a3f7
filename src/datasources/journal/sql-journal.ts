import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { listStatement } from './attempt-list';
import { READ_TIME_LIMIT_MS, monotonicMs } from './deadline';
import {
  ATTEMPT_KINDS,
  JournalBusy,
  MAX_LEASE_MS,
  type Attempt,
  type AttemptKey,
  type AttemptKind,
  type AttemptPage,
  type Claim,
  type ConfirmBeginResult,
  type ConfirmClaim,
  type ConfirmResult,
  type ConfirmedInput,
  type ConfirmedPayment,
  type CreateScope,
  type Journal,
  type TransactionRef,
  type UnknownCount,
} from './journal';
import { FIND_BY_KEY, IS_OPEN, attemptFromRow, type Row } from './rows';

/** Value of a parameter, which is written as `?` in a statement. */
export type SqlValue = string | number | null;

/** Parts of the SQL that differ between the two stores. */
interface Dialect {
  /** Returns the table `attempts`, with a hint for the index to read if the store supports hints. */
  attemptsTable(index: string): string;
  /** Clause of a SELECT that locks its rows and skips rows that are already locked. */
  skipLocked: string;
  /** Parameters: service, client, kind, and a JSON array of [channel, transaction id or null, external id or null]. */
  findCreated: string;
  maxConcurrentLists: number;
}

const MAX_QUEUED_LISTS = 16;

const IS_UNKNOWN = `${IS_OPEN} AND outcome = 'unknown' AND service = ?`;

/** Attempts whose lease has expired, or is longer than a lease can be. */
const IS_CLAIMABLE = `${IS_OPEN} AND abs(lease_until - ? - ${MAX_LEASE_MS / 2}) > ${MAX_LEASE_MS / 2}`;

/** Time in ms for which only the instance that made the last counted lookup may claim an attempt that is due. */
const OBSERVER_GRACE_MS = 5000;

const ON_CHANNEL = 'SELECT transaction_id FROM attempts WHERE channel = ? AND service = ?';

/** Selects the client's newest transaction on a channel, else one of any client. Both read attempts_by_start. */
const CREATED_ON_CHANNEL = `SELECT transaction_id FROM (
    SELECT * FROM (${ON_CHANNEL} AND client = ? AND kind = ? AND outcome = 'succeeded'
      ORDER BY started_at DESC, seq DESC LIMIT 1) AS own
    UNION ALL
    SELECT * FROM (${ON_CHANNEL} AND kind = ? AND outcome = 'succeeded' LIMIT 1) AS others) AS found LIMIT 1`;

/** Length in characters beyond which the stored hashes are replaced by `unknown`: about 55 hashes. */
const MAX_SUSPECT_HASHES_LENGTH = 4000;

/** Claims a payment. Replaces a confirm whose owner died or whose result is unknown, and keeps its input hash. */
const BEGIN_CONFIRM = `INSERT INTO confirms (service, channel, transaction_id, id, owner, lease_until, input_hash)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (service, channel, transaction_id) DO UPDATE SET
    id = excluded.id, owner = excluded.owner, lease_until = excluded.lease_until, suspect = 1,
    input_hash = excluded.input_hash,
    suspect_hashes = CASE
      WHEN confirms.suspect_hashes LIKE '%' || confirms.input_hash || '%' THEN confirms.suspect_hashes
      WHEN length(confirms.suspect_hashes) > ${MAX_SUSPECT_HASHES_LENGTH} THEN 'unknown'
      ELSE trim(confirms.suspect_hashes || ' ' || confirms.input_hash) END
    WHERE confirms.lease_until < ? RETURNING suspect, suspect_hashes`;

/** Statements that end a confirm. Parameter: the id of the claim. */
export const END_CONFIRM: Record<ConfirmResult['outcome'], string> = {
  known: 'DELETE FROM confirms WHERE id = ?',
  unknown: 'UPDATE confirms SET lease_until = 0 WHERE id = ?',
  not_carried_out: "UPDATE confirms SET lease_until = 0, input_hash = '' WHERE id = ?",
};

type StoreSpecific =
  | 'time'
  | 'insertAttempt'
  | 'recordOutcome'
  | 'endConfirm'
  | 'purgeStep'
  | 'checkWrite'
  | 'readState'
  | 'setFence'
  | 'close';

/** The queries that PostgreSQL and SQLite share. */
export abstract class SqlJournal implements Omit<Journal, StoreSpecific> {
  readonly #lists;

  protected constructor(
    readonly timeLimitMs: number,
    private readonly dialect: Dialect,
  ) {
    this.#lists = bulkhead(dialect.maxConcurrentLists, MAX_QUEUED_LISTS);
  }

  protected abstract read(text: string, ...values: SqlValue[]): Promise<Row[]>;
  protected abstract write(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** Reads on separate connections, so that no create waits. @param until end of the time limit; SQLite ignores it */
  protected abstract readInBackground(text: string, values: SqlValue[], until?: number): Promise<Row[]>;

  async find({ service, client, key }: AttemptKey): Promise<Attempt | null> {
    return firstAttempt(await this.read(FIND_BY_KEY, service, client, key));
  }

  async findById(service: string, id: string): Promise<Attempt | null> {
    return firstAttempt(await this.read('SELECT * FROM attempts WHERE id = ? AND service = ?', id, service));
  }

  async findByTransaction(service: string, kind: AttemptKind, transaction: string): Promise<Attempt | null> {
    const text = 'SELECT * FROM attempts WHERE transaction_id = ? AND service = ? AND kind = ?';
    return firstAttempt(await this.read(text, transaction, service, kind));
  }

  async findCreated(
    { service, client, kind }: CreateScope,
    refs: readonly TransactionRef[],
  ): Promise<(Attempt | null)[]> {
    const list = refs.map((ref) => [ref.channel, ref.transactionId ?? null, ref.externalId ?? null]);
    const rows = await this.read(this.dialect.findCreated, service, client, kind, JSON.stringify(list));
    const byIndex = new Map(rows.map((row) => [Number(row['place']), attemptFromRow(row)]));
    return refs.map((_, index) => byIndex.get(index) ?? null);
  }

  async hasRival(attempt: Attempt): Promise<boolean> {
    const { service, channel, externalId, kind, method, currency, value, id } = attempt;
    const text = `SELECT 1 FROM attempts WHERE service = ? AND channel = ? AND external_id = ? AND kind = ? AND method = ?
      AND currency = ? AND value = ? AND id <> ? AND ${IS_OPEN} LIMIT 1`;
    return (
      (await this.read(text, service, channel, externalId, kind, method, currency, value, id)).length > 0
    );
  }

  async findSucceededOnChannel({ service, channel, client, kind }: Attempt): Promise<string | null> {
    const values = [channel, service, client, kind, channel, service, kind];
    const [row] = await this.read(CREATED_ON_CHANNEL, ...values);
    return row ? String(row['transaction_id']) : null;
  }

  async list(page: AttemptPage): Promise<Attempt[]> {
    const { text, values } = listStatement(page, this.dialect.attemptsTable);
    const until = monotonicMs() + Math.max(this.timeLimitMs, READ_TIME_LIMIT_MS);
    try {
      const rows = await this.#lists.execute(() => this.readInBackground(text, values, until));
      return rows.map(attemptFromRow);
    } catch (error) {
      throw error instanceof BulkheadRejectedError ? new JournalBusy(error) : error;
    }
  }

  async findAny(service: string, idOrKey: string): Promise<Attempt | null> {
    const byId = 'SELECT * FROM attempts WHERE id = ? AND service = ?';
    const found = firstAttempt(await this.readInBackground(byId, [idOrKey, service]));
    if (found) return found;
    // Searches the whole index of keys, but reads at most two rows of the table.
    const byKey = `SELECT * FROM attempts WHERE seq IN (
      SELECT seq FROM attempts WHERE service = ? AND key = ? ORDER BY client LIMIT 2)`;
    const rows = await this.readInBackground(byKey, [service, idOrKey]);
    return rows.length === 1 ? firstAttempt(rows) : null;
  }

  async unknown(service: string, limit: number): Promise<Attempt[]> {
    // Materialized, because otherwise the planner may scan all attempts in the order of seq.
    const text = `WITH unknown AS MATERIALIZED (SELECT * FROM attempts WHERE ${IS_UNKNOWN})
      SELECT * FROM unknown ORDER BY seq LIMIT ?`;
    return (await this.readInBackground(text, [service, limit])).map(attemptFromRow);
  }

  async countUnknown(service: string): Promise<UnknownCount[]> {
    const text = `SELECT kind, count(*) AS count, min(started_at) AS oldest FROM attempts WHERE ${IS_UNKNOWN} GROUP BY kind`;
    const rows = await this.readInBackground(text, [service]);
    return ATTEMPT_KINDS.map((kind) => {
      const row = rows.find((each) => each['kind'] === kind);
      return { kind, count: Number(row?.['count'] ?? 0), oldestAt: row ? Number(row['oldest']) : null };
    });
  }

  async renew(owner: string, leaseUntil: number): Promise<void> {
    // Skips locked attempts: their outcome is being recorded, so they need no renewal.
    const attempts = `UPDATE attempts SET lease_until = ? WHERE id IN (
      SELECT id FROM attempts WHERE owner = ? AND ${IS_OPEN} AND outcome = 'in_progress' ${this.dialect.skipLocked})`;
    const confirms = 'UPDATE confirms SET lease_until = ? WHERE owner = ? AND lease_until > 0';
    await Promise.all([this.write(attempts, leaseUntil, owner), this.write(confirms, leaseUntil, owner)]);
  }

  async claim(id: string, { owner, now, leaseUntil }: Claim): Promise<Attempt | null> {
    const text = `UPDATE attempts SET outcome = 'unknown', owner = ?, lease_until = ?
      WHERE id = ? AND ${IS_CLAIMABLE} RETURNING *`;
    return firstAttempt(await this.write(text, owner, leaseUntil, id, now));
  }

  async claimDue({ service, owner, now, leaseUntil }: Claim, limit: number): Promise<Attempt[]> {
    const text = `UPDATE attempts SET outcome = 'unknown', owner = ?, lease_until = ? WHERE id IN (
      SELECT id FROM attempts WHERE ${IS_CLAIMABLE} AND service = ? AND (next_check_at IS NULL OR next_check_at <=
        CAST(? AS BIGINT) - CASE WHEN absent_observer IN ('', ?) THEN 0 ELSE ${OBSERVER_GRACE_MS} END)
      ORDER BY next_check_at NULLS FIRST LIMIT ? ${this.dialect.skipLocked}) RETURNING *`;
    return (await this.write(text, owner, leaseUntil, now, service, now, owner, limit)).map(attemptFromRow);
  }

  async beginConfirm(claim: ConfirmClaim): Promise<ConfirmBeginResult | null> {
    const { service, channel, transactionId, id, owner, leaseUntil, inputHash, now } = claim;
    const values = [service, channel, transactionId, id, owner, leaseUntil, inputHash, now];
    const [row] = await this.write(BEGIN_CONFIRM, ...values);
    if (!row) return null;
    const unresolvedInputHashes = String(row['suspect_hashes']).split(' ').filter(Boolean);
    return { previousOutcomeUnknown: Number(row['suspect']) === 1, unresolvedInputHashes };
  }

  async confirmedInputs({ service, channel, transactionId }: ConfirmedPayment): Promise<ConfirmedInput[]> {
    const text = 'SELECT * FROM confirmed WHERE service = ? AND channel = ? AND transaction_id = ?';
    const rows = await this.read(text, service, channel, transactionId);
    return rows.map((row) => ({
      service,
      channel,
      transactionId,
      inputHash: String(row['input_hash']),
      status: String(row['status']),
      confirmedAt: Number(row['confirmed_at']),
    }));
  }

  async ping(): Promise<void> {
    await this.read('SELECT seq FROM attempts LIMIT 0');
  }
}

const firstAttempt = (rows: readonly Row[]): Attempt | null => (rows[0] ? attemptFromRow(rows[0]) : null);
