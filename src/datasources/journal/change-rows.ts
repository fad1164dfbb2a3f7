import { STORED_TEXT_SQL_BY_DIALECT, type Dialect } from './stored-values';
import {
  BEFORE_FIRST_CHANGE,
  type ChangePosition,
  type ChangeRange,
  type ChangeBatch,
  type RecordedChange,
} from './changes';
import { TRANSACTION_KINDS, type TransactionKind } from './journal';
import { textOrNull, type Row, type SqlValue, type SqlWithValues } from './rows';

/**
 * Selects the current epoch (see ChangePosition), the horizon and `is_current`. The horizon is an id of a database
 * transaction: no database transaction with a lower id can still commit a change. A change is readable if it belongs to
 * an earlier epoch, or if its `xid` is below the horizon (docs/decisions/0022-record-of-changes.md). In SQLite, every
 * committed change is readable. `is_current` is false if the journal has moved to another database since the epoch
 * began. The parameter is a known lower bound of the horizon, or 0 if none is known.
 */
const EPOCH_SELECT_BY_DIALECT = {
  sqlite: 'SELECT epoch, max(1, ?) AS horizon, TRUE AS is_current FROM change_epoch',
  postgres: `SELECT epoch, GREATEST(txid_snapshot_xmin(txid_current_snapshot()), ?::bigint) AS horizon,
    identity = journal_identity() AS is_current FROM change_epoch`,
};

const READABLE_CHANGE_CONDITION = '(epoch, xid) < ((SELECT epoch FROM state), (SELECT horizon FROM state))';
/** Selects the changes of one merchant channel. Needs a CTE `feed`. */
const CHANNEL_FEED_CONDITION = 'feed_id = (SELECT id FROM feed)';
const POSITION_COLUMNS = ['epoch', 'xid', 'seq'];
const POSITION_COLUMN_LIST = POSITION_COLUMNS.join(', ');
const NEWEST_FIRST_ORDER = POSITION_COLUMNS.map((columnName) => `${columnName} DESC`).join(', ');

/**
 * Columns that hasJournalMoved(), lastPurgedPosition() and lastExaminedPosition() read: `is_current`, the
 * position of the last purged change, and the position in the CTE `page_end`.
 */
const POSITIONS_SELECT_LIST = `state.is_current, purged_epoch, purged_xid, purged_seq,
  page_end.epoch AS last_epoch, page_end.xid AS last_xid, page_end.seq AS last_seq`;
/** FROM items for POSITIONS_SELECT_LIST. It joins the CTEs `state`, `feed` and `page_end`. */
const POSITIONS_FROM_ITEMS = 'state LEFT JOIN feed ON TRUE LEFT JOIN page_end ON TRUE';

const CHANGE_COLUMN_LIST = `method, currency, value, status, changes.state, previous_status, received, recorded_at`;

/** Maximum number of changes that a read of all channels or of one client examines; `limit + 1` if that is greater. */
const MAX_EXAMINED_CHANGES = 1000;

/** Returns the SQL condition that selects the rows of `attempt_groups` whose changes are read (see ClientByKind). */
function clientsCondition({ clientByKind }: ChangeRange): SqlWithValues {
  const values: SqlValue[] = [];
  const kindConditions = TRANSACTION_KINDS.flatMap((kind) => {
    const client = clientByKind[kind];
    if (client === undefined) return [];
    if (client === null) return [`kind = '${kind}'`];
    values.push(client);
    return [`(kind = '${kind}' AND client = ?)`];
  });
  return { text: kindConditions.length > 0 ? `(${kindConditions.join(' OR ')})` : 'FALSE', values };
}

/** Returns the maximum number of changes to examine: more than `limit`, to find out whether more changes follow. */
const examinedChangesLimit = ({ channel, clientByKind, limit }: ChangeRange): number =>
  channel !== null && TRANSACTION_KINDS.every((kind) => clientByKind[kind] === null)
    ? limit + 1
    : Math.max(limit + 1, MAX_EXAMINED_CHANGES);

/**
 * Returns the SELECT of a channel's row in `change_feeds`. If `channel` is null, the SELECT finds the service's row
 * whose last purged change is the newest.
 */
const feedRowSelect = (channel: string | null): string =>
  `SELECT id, purged_epoch, purged_xid, purged_seq FROM change_feeds WHERE service = ?
    ${channel === null ? `ORDER BY purged_epoch DESC, purged_xid DESC, purged_seq DESC LIMIT 1` : 'AND channel = ?'}`;

/**
 * Returns the statement that reads a range of changes. The result has a row for each change, at most `limit + 1` rows.
 * If no change is found, the result is one row without a change. Every row also has POSITIONS_SELECT_LIST, `horizon`,
 * `examined` (the number of changes that the statement examined) and `has_unreadable` (see ChangeBatch).
 * @param minHorizon known lower bound of the horizon (see EPOCH_SELECT_BY_DIALECT); 0 if none is known
 */
export function readChangesStatement(dialect: Dialect, range: ChangeRange, minHorizon = 0): SqlWithValues {
  const { service, channel, after, limit } = range;
  const { epoch, xid, seq } = after ?? BEFORE_FIRST_CHANGE;
  const storedBytesToText = STORED_TEXT_SQL_BY_DIALECT[dialect];
  const feedCondition = channel === null ? '' : `${CHANNEL_FEED_CONDITION} AND`;
  const groupCondition = clientsCondition(range);
  const text = `WITH state AS MATERIALIZED (${EPOCH_SELECT_BY_DIALECT[dialect]}),
    feed AS MATERIALIZED (${feedRowSelect(channel)}),
    page AS MATERIALIZED (
      SELECT * FROM changes WHERE ${feedCondition} (${POSITION_COLUMN_LIST}) > (?, ?, ?) AND ${READABLE_CHANGE_CONDITION} ORDER BY ${POSITION_COLUMN_LIST} LIMIT ?),
    page_end AS MATERIALIZED (SELECT ${POSITION_COLUMN_LIST} FROM page ORDER BY ${NEWEST_FIRST_ORDER} LIMIT 1),
    found AS MATERIALIZED (
      SELECT ${POSITION_COLUMN_LIST}, ${CHANGE_COLUMN_LIST}, client, channel, kind, ${storedBytesToText('transaction_id')} AS transaction_id,
        ${storedBytesToText('external_id')} AS external_id
      FROM page AS changes JOIN attempt_groups ON attempt_groups.id = group_id
      WHERE service = ? AND ${groupCondition.text} ORDER BY ${POSITION_COLUMN_LIST} LIMIT ?)
    SELECT ${POSITIONS_SELECT_LIST}, state.horizon, (SELECT count(*) FROM page) AS examined,
      EXISTS (SELECT 1 FROM changes WHERE ${feedCondition} (epoch, xid) >= ((SELECT epoch FROM state), (SELECT horizon FROM state))) AS has_unreadable, found.*
    FROM ${POSITIONS_FROM_ITEMS} LEFT JOIN found ON TRUE
    ORDER BY found.epoch, found.xid, found.seq`;
  const feedParameters = channel === null ? [service] : [service, channel];
  const pageParameters = [epoch, xid, seq, examinedChangesLimit(range)];
  const filterParameters = [service, ...groupCondition.values, limit + 1];
  return { text, values: [minHorizon, ...feedParameters, ...pageParameters, ...filterParameters] };
}

/**
 * Returns the statement that reads two positions of a channel: the position of its newest readable change, and the
 * position of its last purged change.
 * @param minHorizon known lower bound of the horizon (see EPOCH_SELECT_BY_DIALECT); 0 if none is known
 */
export const newestPositionStatement = (
  dialect: Dialect,
  [service, channel]: [string, string],
  minHorizon: number,
): SqlWithValues => ({
  text: `WITH state AS MATERIALIZED (${EPOCH_SELECT_BY_DIALECT[dialect]}), feed AS MATERIALIZED (${feedRowSelect('')}),
    page_end AS MATERIALIZED (
      SELECT ${POSITION_COLUMN_LIST} FROM changes WHERE ${CHANNEL_FEED_CONDITION} AND ${READABLE_CHANGE_CONDITION} ORDER BY ${NEWEST_FIRST_ORDER} LIMIT 1)
  SELECT ${POSITIONS_SELECT_LIST} FROM ${POSITIONS_FROM_ITEMS}`,
  values: [minHorizon, service, channel],
});

/** Whether the journal has moved to another database since the current epoch began. If so, a new epoch must begin. */
export const hasJournalMoved = (row: Row | undefined): boolean => row?.['is_current'] === false;

/** Returns the position in the columns `<prefix>epoch`, `<prefix>xid` and `<prefix>seq`; null if these are null. */
function positionFromRow(row: Row, columnPrefix: 'last_' | 'purged_' | ''): ChangePosition | null {
  const [epoch, xid, seq] = POSITION_COLUMNS.map((columnName) => row[`${columnPrefix}${columnName}`] ?? null);
  if (epoch === null) return null;
  return { epoch: Number(epoch), xid: Number(xid), seq: Number(seq) };
}

/**
 * Returns the position of the last purged change, from a row of readChangesStatement() or newestPositionStatement().
 * Returns BEFORE_FIRST_CHANGE if no change was purged.
 */
export const lastPurgedPosition = (row: Row): ChangePosition =>
  positionFromRow(row, 'purged_') ?? BEFORE_FIRST_CHANGE;

/**
 * Returns the position of the last change that readChangesStatement() examined, or of the newest change that
 * newestPositionStatement() found. Returns null if there is none.
 */
export const lastExaminedPosition = (row: Row): ChangePosition | null => positionFromRow(row, 'last_');

/**
 * Compares two positions, for sorting. Negative: `a` is before `b`. Zero: they are equal. Positive: `a` is after `b`.
 */
export const comparePositions = (a: ChangePosition, b: ChangePosition): number =>
  a.epoch - b.epoch || a.xid - b.xid || a.seq - b.seq;

/** Converts the rows that readChangesStatement() returns for `range` to a page of changes. */
export function changeBatchFromRows(rows: readonly Row[], range: ChangeRange): ChangeBatch {
  const { limit, after } = range;
  const [firstRow = {}] = rows;
  const foundChanges = rows.flatMap((row) => changeFromRow(row) ?? []);
  const hasUnreadableChanges = Boolean(firstRow['has_unreadable']);
  const changes = foundChanges.slice(0, limit);
  const lastChange = changes.at(-1);
  if (foundChanges.length > limit && lastChange)
    return { changes, hasMore: true, endPosition: lastChange.position, hasUnreadableChanges };
  const hasMore = Number(firstRow['examined']) === examinedChangesLimit(range);
  const endPosition = lastExaminedPosition(firstRow) ?? after ?? lastPurgedPosition(firstRow);
  return { changes, hasMore, endPosition, hasUnreadableChanges };
}

/** Converts a row to a change. Returns null if the row has only positions, because no change was found. */
function changeFromRow(row: Row): RecordedChange | null {
  const position = positionFromRow(row, '');
  if (!position) return null;
  return {
    position,
    recordedAt: Number(row['recorded_at']),
    kind: row['kind'] as TransactionKind,
    client: String(row['client']),
    channel: String(row['channel']),
    transactionId: String(row['transaction_id']),
    externalId: String(row['external_id']),
    method: String(row['method']),
    previousStatus: textOrNull(row['previous_status']),
    status: String(row['status']),
    state: textOrNull(row['state']),
    currency: String(row['currency']),
    value: String(row['value']),
    received: textOrNull(row['received']),
  };
}
