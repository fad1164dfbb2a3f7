import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { lazyLruCache } from '../../shared/lazy-lru-cache';
import { listAttemptsStatement } from './attempt-list';
import { readAttemptPages, type AttemptsByStartQuery } from './attempts-by-start';
import { backgroundTimeLimitMs, monotonicMs } from './deadline';
import { DIALECTS } from './dialects';
import {
  TRANSACTION_KINDS,
  JournalBusy,
  MAX_LEASE_MS,
  OBSERVER_EXCLUSIVE_CLAIM_MS,
  type Attempt,
  type AttemptKey,
  type TransactionKind,
  type AttemptQuery,
  type AttemptClaim,
  type ConfirmBeginResult,
  type ConfirmClaim,
  type EndedConfirm,
  type ConfirmedInput,
  type PaymentRef,
  type CreatorAndKind,
  type Journal,
  type NewAttempt,
  type AttemptFields,
  type TransactionRef,
  type UnknownOutcomeCount,
} from './journal';
import { keyHashSql, ATTEMPT_SELECT_LIST_BY_DIALECT } from './attempt-tables';
import {
  FIND_BY_KEY,
  ATTEMPT_GROUP_ID_SUBQUERY,
  OPEN_ATTEMPT_CONDITION,
  attemptFromRow,
  idCondition,
  idConditionValues,
  type Row,
  type SqlValue,
} from './rows';
import { createProposalStore } from './settlement-proposals';
import { SqlChanges } from './sql-changes';
import { keyHash, shortHash, STORED_TEXT_SQL_BY_DIALECT, toStoredBytes, type Dialect } from './stored-values';

const MAX_QUEUED_LIST_CALLS = 16;
const MAX_KNOWN_ATTEMPT_GROUPS = 10_000;

const FIND_BY_ID = `SELECT * FROM attempts WHERE ${idCondition('stored_id')} AND service = ?`;

const UNKNOWN_OUTCOME_OF_SERVICE_CONDITION = `${OPEN_ATTEMPT_CONDITION} AND state = 'u' AND service = ?`;

/** Returns the condition for a lease that has ended, or is void (see MAX_LEASE_MS). Parameter: now. */
const leaseEndedCondition = (column: string): string =>
  `abs(${column} - ? - ${MAX_LEASE_MS / 2}) > ${MAX_LEASE_MS / 2}`;

/** Condition for open attempts without a valid lease. Parameter: now. */
const CLAIMABLE_CONDITION = `${OPEN_ATTEMPT_CONDITION} AND ${leaseEndedCondition('lease_until')}`;

const ORDER_BY_NEWEST_LIMIT_1 = 'ORDER BY started_at DESC, seq DESC LIMIT 1';
const FROM_SUCCEEDED_IN_GROUP = "FROM stored_attempts WHERE state = 's' AND group_id =";

/** Selects the id of a client's newest transaction on a channel; if the client has none, of any transaction there. */
const SELECT_ANY_TRANSACTION_ID_ON_CHANNEL = `SELECT transaction_id FROM attempts WHERE ${keyHashSql('stored_id')} = (
  SELECT ${keyHashSql('id')} FROM (SELECT COALESCE(
    (SELECT id ${FROM_SUCCEEDED_IN_GROUP} ${ATTEMPT_GROUP_ID_SUBQUERY} ${ORDER_BY_NEWEST_LIMIT_1}),
    (SELECT id FROM (
      SELECT (SELECT id ${FROM_SUCCEEDED_IN_GROUP} attempt_groups.id LIMIT 1) AS id FROM attempt_groups
      WHERE channel = ? AND service = ? AND kind = ?) AS others
     WHERE id IS NOT NULL LIMIT 1)) AS id) AS newest)`;

/** If `suspect_hashes` is longer than this, it becomes `unknown` when a hash is added: it has at most 55 hashes. */
const MAX_SUSPECT_HASHES_LENGTH = 4000;

/**
 * Claims a payment for a confirm. If an earlier claim exists and its lease has not ended, returns no row. If that lease
 * has ended, replaces the earlier claim, and adds its input hash to `suspect_hashes`: the hashes of inputs with which
 * the payment may have been confirmed.
 */
const BEGIN_CONFIRM = `INSERT INTO confirms (service, channel, transaction_id, id, owner, lease_until, input_hash)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (service, channel, transaction_id) DO UPDATE SET
    id = excluded.id, owner = excluded.owner, lease_until = excluded.lease_until, suspect = 1,
    input_hash = excluded.input_hash,
    suspect_hashes = CASE
      WHEN confirms.suspect_hashes LIKE '%' || confirms.input_hash || '%' THEN confirms.suspect_hashes
      WHEN length(confirms.suspect_hashes) > ${MAX_SUSPECT_HASHES_LENGTH} THEN 'unknown'
      ELSE trim(confirms.suspect_hashes || ' ' || confirms.input_hash) END
    WHERE ${leaseEndedCondition('confirms.lease_until')} RETURNING suspect, suspect_hashes`;

/** For each outcome of a confirm, the statement that records it and releases the claim. Parameter: id of the claim. */
export const END_CONFIRM_BY_OUTCOME: Record<EndedConfirm['outcome'], string> = {
  known: 'DELETE FROM confirms WHERE id = ?',
  unknown: 'UPDATE confirms SET lease_until = 0 WHERE id = ?',
  not_carried_out: "UPDATE confirms SET lease_until = 0, input_hash = '' WHERE id = ?",
};

/** The methods of the journal that are the same in PostgreSQL and SQLite. */
export abstract class SqlJournal extends SqlChanges implements Partial<Journal> {
  /**
   * Cache of the keys (see attemptGroupKey) of existing attempt groups. An insert does not create a cached group first.
   * If a failover of PostgreSQL has lost a cached group, insertAttempt() creates it again.
   */
  protected readonly knownGroupKeys = lazyLruCache<string, true>(MAX_KNOWN_ATTEMPT_GROUPS);
  readonly #listBulkhead;
  /** For operators: the outcomes that wait for the approval of a second operator. */
  readonly proposalStore = createProposalStore((text, ...values) => this.write(text, ...values));

  protected constructor(
    readonly timeLimitMs: number,
    dialect: Dialect,
  ) {
    super(dialect);
    this.#listBulkhead = bulkhead(DIALECTS[dialect].maxConcurrentLists, MAX_QUEUED_LIST_CALLS);
  }

  /**
   * SELECT of findCreated(). Parameters: service, client, kind, and a JSON array with an element for each ref. The
   * element is [channel, transaction id, its hash, external id, its hash]. An id is given by the hexadecimal digits of
   * its stored bytes. A missing id or hash is null.
   */
  protected abstract readonly creatingAttemptsStatement: string;

  protected abstract read(text: string, ...values: SqlValue[]): Promise<Row[]>;
  protected abstract write(text: string, ...values: SqlValue[]): Promise<Row[]>;

  /** For operators: yields pages of attempts of all clients. Rejects with JournalUnavailable on failure. */
  attemptPagesByStart(query: AttemptsByStartQuery): AsyncGenerator<Attempt[], void> {
    return readAttemptPages(this.dialect, (text, values) => this.readSeparately(text, values), query);
  }

  async find(attemptKey: AttemptKey): Promise<Attempt | null> {
    return firstAttempt(await this.read(FIND_BY_KEY, keyHash(attemptKey)));
  }

  async findById(serviceName: string, attemptId: string): Promise<Attempt | null> {
    return firstAttempt(await this.read(FIND_BY_ID, ...idConditionValues(attemptId), serviceName));
  }

  async findByTransaction(
    serviceName: string,
    kind: TransactionKind,
    transactionId: string,
  ): Promise<Attempt | null> {
    const text =
      'SELECT * FROM attempts WHERE transaction_hash = ? AND transaction_id = ? AND service = ? AND kind = ?';
    return firstAttempt(await this.read(text, shortHash(transactionId), transactionId, serviceName, kind));
  }

  async findCreated(
    { service, client, kind }: CreatorAndKind,
    refs: readonly TransactionRef[],
  ): Promise<(Attempt | null)[]> {
    const refTuples = refs.map(({ channel, transactionId, externalId }) => [
      channel,
      ...toHexAndHash(transactionId),
      ...toHexAndHash(externalId),
    ]);
    const values = [service, client, kind, JSON.stringify(refTuples)];
    const rows = await this.read(this.creatingAttemptsStatement, ...values);
    const attemptByRefIndex = new Map(rows.map((row) => [Number(row['place']), attemptFromRow(row)]));
    return refs.map((_, index) => attemptByRefIndex.get(index) ?? null);
  }

  async hasRival(attempt: AttemptFields): Promise<boolean> {
    const { service, channel, externalId, kind, method, currency, value, id } = attempt;
    const text = `SELECT 1 FROM attempts WHERE external_id_hash = ? AND external_id = ? AND service = ? AND channel = ?
      AND kind = ? AND method = ? AND (kind = 'payout' OR (currency = ? AND value = ?)) AND id <> ? AND ${OPEN_ATTEMPT_CONDITION} LIMIT 1`;
    const values = [shortHash(externalId), externalId, service, channel, kind, method, currency, value, id];
    return (await this.read(text, ...values)).length > 0;
  }

  async findSucceededOnChannel({ service, channel, client, kind }: AttemptFields): Promise<string | null> {
    const values = [service, client, channel, kind, channel, service, kind];
    const [row] = await this.read(SELECT_ANY_TRANSACTION_ID_ON_CHANNEL, ...values);
    return row ? String(row['transaction_id']) : null;
  }

  async list(query: AttemptQuery): Promise<Attempt[]> {
    const { text, values } = listAttemptsStatement(query, DIALECTS[this.dialect].attemptsFromItem);
    const deadlineMs = monotonicMs() + backgroundTimeLimitMs(this.timeLimitMs);
    try {
      const rows = await this.#listBulkhead.execute(() => this.readSeparately(text, values, deadlineMs));
      return rows.map(attemptFromRow);
    } catch (error) {
      throw error instanceof BulkheadRejectedError ? new JournalBusy(error) : error;
    }
  }

  async findAny(serviceName: string, idOrKey: string): Promise<Attempt | null> {
    const [rowById] = await this.readSeparately(FIND_BY_ID, [...idConditionValues(idOrKey), serviceName]);
    if (rowById) return attemptFromRow(rowById);
    const text = 'SELECT DISTINCT client FROM attempt_groups WHERE service = ?';
    const clientRows = await this.readSeparately(text, [serviceName]);
    const rows: Row[] = [];
    for (const { client } of clientRows) {
      const hash = keyHash({ service: serviceName, client: String(client), key: idOrKey });
      rows.push(...(await this.readSeparately(FIND_BY_KEY, [hash])));
      if (rows.length > 1) return null;
    }
    return firstAttempt(rows);
  }

  async unknown(serviceName: string, limit: number): Promise<Attempt[]> {
    // MATERIALIZED makes the planner select the unknown attempts first, by their index, and sort only these.
    const text = `WITH unknown AS MATERIALIZED (SELECT * FROM attempts WHERE ${UNKNOWN_OUTCOME_OF_SERVICE_CONDITION})
      SELECT * FROM unknown ORDER BY seq LIMIT ?`;
    return (await this.readSeparately(text, [serviceName, limit])).map(attemptFromRow);
  }

  async countUnknown(serviceName: string): Promise<UnknownOutcomeCount[]> {
    const text = `SELECT kind, count(*) AS count, min(started_at) AS oldest FROM attempts WHERE ${UNKNOWN_OUTCOME_OF_SERVICE_CONDITION} GROUP BY kind`;
    const rows = await this.readSeparately(text, [serviceName]);
    return TRANSACTION_KINDS.map((kind) => {
      const { count = 0, oldest }: Row = rows.find((row) => row['kind'] === kind) ?? {};
      return { kind, count: Number(count), oldestStartedAt: oldest === undefined ? null : Number(oldest) };
    });
  }

  async renew(owner: string, leaseUntil: number, ids: readonly string[]): Promise<void> {
    const { dialect } = this;
    const { inClause, jsonElements, skipLockedClause } = DIALECTS[dialect];
    const inIds = inClause(`SELECT value ->> 0 FROM ${jsonElements}`);
    const idsJson = JSON.stringify(ids.map((id) => [id]));
    // Locked rows are skipped: their outcomes are being recorded, so their leases are not needed any more.
    const attemptsSql = `UPDATE stored_attempts SET lease_until = ? WHERE ${keyHashSql('id')} IN (
      SELECT ${keyHashSql('id')} FROM stored_attempts WHERE owner = ? AND ${OPEN_ATTEMPT_CONDITION} AND state = 'p'
        AND ${STORED_TEXT_SQL_BY_DIALECT[dialect]('id')} ${inIds} ${skipLockedClause})`;
    const confirmsSql = `UPDATE confirms SET lease_until = ? WHERE owner = ? AND lease_until > 0 AND id ${inIds}`;
    const values = [leaseUntil, owner, idsJson];
    await Promise.all([this.write(attemptsSql, ...values), this.write(confirmsSql, ...values)]);
  }

  async claim(attemptId: string, { owner, now, leaseUntil }: AttemptClaim): Promise<Attempt | null> {
    const text = `UPDATE stored_attempts SET state = 'u', owner = ?, lease_until = ?
      WHERE ${idCondition('id')} AND ${CLAIMABLE_CONDITION} RETURNING ${ATTEMPT_SELECT_LIST_BY_DIALECT[this.dialect]}`;
    return firstAttempt(await this.write(text, owner, leaseUntil, ...idConditionValues(attemptId), now));
  }

  async claimDue({ service, owner, now, leaseUntil }: AttemptClaim, limit: number): Promise<Attempt[]> {
    const text = `UPDATE stored_attempts SET state = 'u', owner = ?, lease_until = ? WHERE ${keyHashSql('id')} IN (
      SELECT ${keyHashSql('id')} FROM stored_attempts WHERE ${CLAIMABLE_CONDITION}
        AND group_id IN (SELECT id FROM attempt_groups WHERE service = ?)
        AND (next_check_at IS NULL OR next_check_at <=
          CAST(? AS BIGINT) - CASE WHEN COALESCE(absent_observer, '') IN ('', ?) THEN 0 ELSE ${OBSERVER_EXCLUSIVE_CLAIM_MS} END)
      ORDER BY next_check_at NULLS FIRST LIMIT ? ${DIALECTS[this.dialect].skipLockedClause}) RETURNING ${ATTEMPT_SELECT_LIST_BY_DIALECT[this.dialect]}`;
    return (await this.write(text, owner, leaseUntil, now, service, now, owner, limit)).map(attemptFromRow);
  }

  async beginConfirm(claim: ConfirmClaim): Promise<ConfirmBeginResult | null> {
    const { service, channel, transactionId, confirmId, owner, leaseUntil, inputHash, now } = claim;
    const values = [service, channel, transactionId, confirmId, owner, leaseUntil, inputHash, now];
    const [row] = await this.write(BEGIN_CONFIRM, ...values);
    if (!row) return null;
    const unresolvedInputHashes = String(row['suspect_hashes']).split(' ').filter(Boolean);
    return { isEarlierOutcomeUnknown: Number(row['suspect']) === 1, unresolvedInputHashes };
  }

  async confirmedInputs({ service, channel, transactionId }: PaymentRef): Promise<ConfirmedInput[]> {
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
    await this.read('SELECT seq FROM stored_attempts LIMIT 0');
  }
}

/** Identifies a row of `attempt_groups`: the service, client, channel and kind that attempts share. */
export const attemptGroupKey = ({ service, client, channel, kind }: NewAttempt): string =>
  JSON.stringify([service, client, channel, kind]);

const toHexAndHash = (text: string | undefined): [string, number] | [null, null] =>
  text === undefined ? [null, null] : [Buffer.from(toStoredBytes(text)).toString('hex'), shortHash(text)];

const firstAttempt = (rows: readonly Row[]): Attempt | null => (rows[0] ? attemptFromRow(rows[0]) : null);
