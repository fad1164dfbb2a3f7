import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { listStatement } from './attempt-list';
import { READ_DEADLINE_MS, monotonicMs } from './deadline';
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
  type Creator,
  type Journal,
  type TransactionRef,
  type UnknownCount,
} from './journal';
import { FIND, OPEN, readAttempt, type Row } from './rows';

/** Parameters are written as `?`. */
export type SqlValue = string | number | null;

/** Where the two stores need different SQL for the same query. */
interface Dialect {
  /** The table `attempts`, with a hint for the index to read. */
  attemptsBy(index: string): string;
  /** Clause of a SELECT that locks its rows and skips those that are locked. */
  skipLocked: string;
  /** Parameters: service, client, kind, and a JSON array of [channel, transaction id or null, external id or null]. */
  findCreated: string;
  maxConcurrentLists: number;
}

const MAX_QUEUED_LISTS = 16;

const UNKNOWN = `${OPEN} AND outcome = 'unknown' AND service = ?`;

/** Attempts whose lease has expired, or is longer than a lease can be. */
const CLAIMABLE = `${OPEN} AND abs(lease_until - ? - ${MAX_LEASE_MS / 2}) > ${MAX_LEASE_MS / 2}`;

/** Head start of the instance that made the last counted lookup: only it can measure the time since. */
const OBSERVER_GRACE_MS = 5000;

const ON_CHANNEL = 'SELECT transaction_id FROM attempts WHERE channel = ? AND service = ?';

/** The client's own last transaction on a channel, else any. Both are ranges of attempts_by_start. */
const CREATED_ON_CHANNEL = `SELECT transaction_id FROM (
    SELECT * FROM (${ON_CHANNEL} AND client = ? AND kind = ? AND outcome = 'succeeded'
      ORDER BY started_at DESC, seq DESC LIMIT 1) AS own
    UNION ALL
    SELECT * FROM (${ON_CHANNEL} AND kind = ? AND outcome = 'succeeded' LIMIT 1) AS others) AS found LIMIT 1`;

/** Maximum length of the stored hashes in characters: about 55 of them. */
const MAX_SUSPECT_HASHES = 4000;

/** Also takes over a confirm whose owner died or whose result is unknown, and adds its input to the suspect ones. */
const BEGIN_CONFIRM = `INSERT INTO confirms (service, channel, transaction_id, id, owner, lease_until, input_hash)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (service, channel, transaction_id) DO UPDATE SET
    id = excluded.id, owner = excluded.owner, lease_until = excluded.lease_until, suspect = 1,
    input_hash = excluded.input_hash,
    suspect_hashes = CASE
      WHEN confirms.suspect_hashes LIKE '%' || confirms.input_hash || '%' THEN confirms.suspect_hashes
      WHEN length(confirms.suspect_hashes) > ${MAX_SUSPECT_HASHES} THEN 'unknown'
      ELSE trim(confirms.suspect_hashes || ' ' || confirms.input_hash) END
    WHERE confirms.lease_until < ? RETURNING suspect, suspect_hashes`;

/** Parameter: the id of the claim. */
export const END_CONFIRM: Record<ConfirmResult['outcome'], string> = {
  known: 'DELETE FROM confirms WHERE id = ?',
  unknown: 'UPDATE confirms SET lease_until = 0 WHERE id = ?',
  not_carried_out: "UPDATE confirms SET lease_until = 0, input_hash = '' WHERE id = ?",
};

type StoreSpecific =
  'time' | 'insertAttempt' | 'recordOutcome' | 'endConfirm' | 'purgeStep' | 'checkWrite' | 'close';

/** The SQL that both stores share. */
export abstract class SqlJournal implements Omit<Journal, StoreSpecific> {
  readonly #lists;

  protected constructor(
    readonly deadlineMs: number,
    private readonly dialect: Dialect,
  ) {
    this.#lists = bulkhead(dialect.maxConcurrentLists, MAX_QUEUED_LISTS);
  }

  protected abstract read(text: string, ...values: SqlValue[]): Promise<Row[]>;
  protected abstract write(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** Reads on separate connections, so that no create waits for it. @param until its end, by `monotonicMs` */
  protected abstract readInBackground(text: string, values: SqlValue[], until?: number): Promise<Row[]>;

  async find({ service, client, key }: AttemptKey): Promise<Attempt | null> {
    return first(await this.read(FIND, service, client, key));
  }

  async findById(service: string, id: string): Promise<Attempt | null> {
    return first(await this.read('SELECT * FROM attempts WHERE id = ? AND service = ?', id, service));
  }

  async findByTransaction(service: string, kind: AttemptKind, transaction: string): Promise<Attempt | null> {
    const text = 'SELECT * FROM attempts WHERE transaction_id = ? AND service = ? AND kind = ?';
    return first(await this.read(text, transaction, service, kind));
  }

  async findCreated(
    { service, client, kind }: Creator,
    refs: readonly TransactionRef[],
  ): Promise<(Attempt | null)[]> {
    const list = refs.map((ref) => [ref.channel, ref.transactionId ?? null, ref.externalId ?? null]);
    const rows = await this.read(this.dialect.findCreated, service, client, kind, JSON.stringify(list));
    const byIndex = new Map(rows.map((row) => [Number(row['place']), readAttempt(row)]));
    return refs.map((_, index) => byIndex.get(index) ?? null);
  }

  async hasRival(attempt: Attempt): Promise<boolean> {
    const { service, channel, externalId, kind, method, currency, value, id } = attempt;
    const text = `SELECT 1 FROM attempts WHERE service = ? AND channel = ? AND external_id = ? AND kind = ? AND method = ?
      AND currency = ? AND value = ? AND id <> ? AND ${OPEN} LIMIT 1`;
    return (
      (await this.read(text, service, channel, externalId, kind, method, currency, value, id)).length > 0
    );
  }

  async createdBeside({ service, channel, client, kind }: Attempt): Promise<string | null> {
    const values = [channel, service, client, kind, channel, service, kind];
    const [row] = await this.read(CREATED_ON_CHANNEL, ...values);
    return row ? String(row['transaction_id']) : null;
  }

  async list(page: AttemptPage): Promise<Attempt[]> {
    const { text, values } = listStatement(page, this.dialect.attemptsBy);
    const until = monotonicMs() + Math.max(this.deadlineMs, READ_DEADLINE_MS);
    try {
      const rows = await this.#lists.execute(() => this.readInBackground(text, values, until));
      return rows.map(readAttempt);
    } catch (error) {
      throw error instanceof BulkheadRejectedError ? new JournalBusy(error) : error;
    }
  }

  async findAny(service: string, name: string): Promise<Attempt | null> {
    const byId = 'SELECT * FROM attempts WHERE id = ? AND service = ?';
    const found = first(await this.readInBackground(byId, [name, service]));
    if (found) return found;
    // Searches the whole index of keys, but reads at most two rows of the table.
    const byKey = `SELECT * FROM attempts WHERE seq IN (
      SELECT seq FROM attempts WHERE service = ? AND key = ? ORDER BY client LIMIT 2)`;
    const rows = await this.readInBackground(byKey, [service, name]);
    return rows.length === 1 ? first(rows) : null;
  }

  async unknown(service: string, limit: number): Promise<Attempt[]> {
    // Materialized: otherwise the planner may walk all attempts in the order of seq.
    const text = `WITH unknown AS MATERIALIZED (SELECT * FROM attempts WHERE ${UNKNOWN})
      SELECT * FROM unknown ORDER BY seq LIMIT ?`;
    return (await this.readInBackground(text, [service, limit])).map(readAttempt);
  }

  async countUnknown(service: string): Promise<UnknownCount[]> {
    const text = `SELECT kind, count(*) AS count, min(started_at) AS oldest FROM attempts WHERE ${UNKNOWN} GROUP BY kind`;
    const rows = await this.readInBackground(text, [service]);
    return ATTEMPT_KINDS.map((kind) => {
      const row = rows.find((each) => each['kind'] === kind);
      return { kind, count: Number(row?.['count'] ?? 0), oldestAt: row ? Number(row['oldest']) : null };
    });
  }

  async renew(owner: string, leaseUntil: number): Promise<void> {
    // Attempts whose outcome is being recorded are locked, and need no renewal.
    const attempts = `UPDATE attempts SET lease_until = ? WHERE id IN (
      SELECT id FROM attempts WHERE owner = ? AND ${OPEN} AND outcome = 'in_progress' ${this.dialect.skipLocked})`;
    const confirms = 'UPDATE confirms SET lease_until = ? WHERE owner = ? AND lease_until > 0';
    await Promise.all([this.write(attempts, leaseUntil, owner), this.write(confirms, leaseUntil, owner)]);
  }

  async claim(id: string, { owner, now, leaseUntil }: Claim): Promise<Attempt | null> {
    const text = `UPDATE attempts SET outcome = 'unknown', owner = ?, lease_until = ?
      WHERE id = ? AND ${CLAIMABLE} RETURNING *`;
    return first(await this.write(text, owner, leaseUntil, id, now));
  }

  async claimDue({ service, owner, now, leaseUntil }: Claim, limit: number): Promise<Attempt[]> {
    const text = `UPDATE attempts SET outcome = 'unknown', owner = ?, lease_until = ? WHERE id IN (
      SELECT id FROM attempts WHERE ${CLAIMABLE} AND service = ? AND (next_check_at IS NULL OR next_check_at <=
        CAST(? AS BIGINT) - CASE WHEN absent_observer IN ('', ?) THEN 0 ELSE ${OBSERVER_GRACE_MS} END)
      ORDER BY next_check_at NULLS FIRST LIMIT ? ${this.dialect.skipLocked}) RETURNING *`;
    return (await this.write(text, owner, leaseUntil, now, service, now, owner, limit)).map(readAttempt);
  }

  async beginConfirm(claim: ConfirmClaim): Promise<ConfirmBeginResult | null> {
    const { service, channel, transactionId, id, owner, leaseUntil, inputHash, now } = claim;
    const values = [service, channel, transactionId, id, owner, leaseUntil, inputHash, now];
    const [row] = await this.write(BEGIN_CONFIRM, ...values);
    if (!row) return null;
    const unresolvedHashes = String(row['suspect_hashes']).split(' ').filter(Boolean);
    return { previousOutcomeUnknown: Number(row['suspect']) === 1, unresolvedHashes };
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

const first = (rows: readonly Row[]): Attempt | null => (rows[0] ? readAttempt(rows[0]) : null);
