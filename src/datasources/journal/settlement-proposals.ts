import path from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import { PostgresHosts } from './postgres/hosts';
import { CONNECTION_OPTIONS, PostgresPool } from './postgres/pool';
import type { Row } from './rows';
import { SqliteThread } from './sqlite/thread';

/** Proposed outcome of one attempt. Times are in milliseconds since 1970. */
export interface ProposedSettle {
  /** The proposal's id; all attempts that were proposed together have the same one. */
  id: string;
  attemptId: string;
  service: string;
  outcome: 'succeeded' | 'not_sent';
  transactionId: string | null;
  status: string | null;
  reason: string;
  /** The proposer's user of the operating system. */
  proposedBy: string;
  /** The proposer's SUDO_USER. */
  sudoUser: string | null;
  /** The name that the proposer gave. */
  givenName: string | null;
  proposedAt: number;
  expiresAt: number;
}

/** Proposals of operators that wait for the approval of another one. Only the operator's commands use them. */
export interface SettlementProposals {
  /** Stores a proposal, and deletes those that have expired. */
  add(proposed: readonly ProposedSettle[], now: number): Promise<void>;
  /** Proposals that have not expired, oldest first; only the one with that id where it is given. */
  list(service: string, now: number, id?: string): Promise<ProposedSettle[]>;
  /** Deletes what was proposed for one attempt, or for all attempts of the proposal. */
  remove(id: string, attemptId?: string): Promise<void>;
  close(): Promise<void>;
}

type Values = readonly (string | number | null)[];

/** Runs one statement with `?` for each value. */
type Execute = (sql: string, values: Values) => Promise<Row[]>;

const INSERT = `INSERT INTO settlement_proposals (id, attempt_id, service, outcome, transaction_id, status, reason,
  proposed_by, sudo_user, given_name, proposed_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));

const readProposal = (row: Row): ProposedSettle => ({
  id: String(row['id']),
  attemptId: String(row['attempt_id']),
  service: String(row['service']),
  outcome: row['outcome'] === 'succeeded' ? 'succeeded' : 'not_sent',
  transactionId: textOrNull(row['transaction_id']),
  status: textOrNull(row['status']),
  reason: String(row['reason']),
  proposedBy: String(row['proposed_by']),
  sudoUser: textOrNull(row['sudo_user']),
  givenName: textOrNull(row['given_name']),
  proposedAt: Number(row['proposed_at']),
  expiresAt: Number(row['expires_at']),
});

const valuesOf = (proposed: ProposedSettle): Values => [
  proposed.id,
  proposed.attemptId,
  proposed.service,
  proposed.outcome,
  proposed.transactionId,
  proposed.status,
  proposed.reason,
  proposed.proposedBy,
  proposed.sudoUser,
  proposed.givenName,
  proposed.proposedAt,
  proposed.expiresAt,
];

/**
 * Opens the proposals that are stored beside the journal of an address, over a connection of their own. The journal has
 * to have been opened before: that makes the tables.
 */
export async function openProposals(url: string, deadlineMs: number): Promise<SettlementProposals> {
  const { execute, close } = await openStore(url, deadlineMs);
  const remove = async (id: string, attemptId?: string): Promise<void> => {
    const only = attemptId === undefined ? '' : 'AND attempt_id = ?';
    const values = attemptId === undefined ? [id] : [id, attemptId];
    await execute(`DELETE FROM settlement_proposals WHERE id = ? ${only}`, values);
  };
  return {
    add: async (proposed, now) => {
      await execute('DELETE FROM settlement_proposals WHERE expires_at <= ?', [now]);
      for (const each of proposed) await execute(INSERT, valuesOf(each));
    },
    list: async (service, now, id) => {
      const only = id === undefined ? '' : 'AND id = ?';
      const rows = await execute(
        `SELECT * FROM settlement_proposals WHERE service = ? AND expires_at > ? ${only}
         ORDER BY proposed_at, id, attempt_id`,
        [service, now, ...(id === undefined ? [] : [id])],
      );
      return rows.map(readProposal);
    },
    remove,
    close,
  };
}

async function openStore(
  url: string,
  deadlineMs: number,
): Promise<{ execute: Execute; close(): Promise<void> }> {
  if (url.startsWith('file:')) {
    const thread = await SqliteThread.open(path.resolve(url.slice('file:'.length)), deadlineMs);
    const execute: Execute = (sql, values) =>
      thread.run({ write: true, statements: [{ sql, params: [...values] satisfies SQLInputValue[] }] });
    return { execute, close: () => thread.close() };
  }
  const pool = new PostgresPool(new PostgresHosts(url), {
    deadlineMs,
    maxConnections: 1,
    connectionOptions: CONNECTION_OPTIONS,
  });
  const execute: Execute = (sql, values) => {
    let place = 0;
    return pool.query(
      sql.replaceAll('?', () => `$${(place += 1)}`),
      [...values],
    );
  };
  return { execute, close: () => pool.close() };
}
