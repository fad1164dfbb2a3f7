import path from 'node:path';
import { toWireFields } from '../../shared/wire-object';
import { PostgresHosts } from './postgres/hosts';
import { CONNECTION_OPTIONS, PostgresPool } from './postgres/pool';
import { textOrNull, type Row } from './rows';
import type { SqlValue } from './sql-journal';
import { sql, SqliteThread } from './sqlite/thread';

/** Proposed outcome of one attempt. Times are in milliseconds since 1970. */
export interface ProposedSettle {
  /** Id of the proposal, which may name several attempts. */
  id: string;
  attemptId: string;
  service: string;
  outcome: 'succeeded' | 'not_sent';
  transactionId: string | null;
  status: string | null;
  reason: string;
  /** Operating system user of the proposer. */
  proposedBy: string;
  /** The proposer's SUDO_USER. */
  sudoUser: string | null;
  /** Name given by the proposer. */
  givenName: string | null;
  proposedAt: number;
  expiresAt: number;
}

/** Proposals that wait for the approval of a second operator. Only operator commands use them. */
export interface SettlementProposals {
  /** Stores proposals and deletes expired ones. */
  add(proposed: readonly ProposedSettle[], now: number): Promise<void>;
  /** Proposals that have not expired, or the one with this id, oldest first. */
  list(service: string, now: number, id?: string): Promise<ProposedSettle[]>;
  /** Deletes a proposal, or one attempt of it. */
  remove(id: string, attemptId?: string): Promise<void>;
  close(): Promise<void>;
}

const readProposal = (row: Row): ProposedSettle => ({
  id: String(row['id']),
  attemptId: String(row['attempt_id']),
  service: String(row['service']),
  outcome: row['outcome'] as ProposedSettle['outcome'],
  transactionId: textOrNull(row['transaction_id']),
  status: textOrNull(row['status']),
  reason: String(row['reason']),
  proposedBy: String(row['proposed_by']),
  sudoUser: textOrNull(row['sudo_user']),
  givenName: textOrNull(row['given_name']),
  proposedAt: Number(row['proposed_at']),
  expiresAt: Number(row['expires_at']),
});

/** Opens the proposals in the journal's database over a separate connection. The journal must have been opened before. */
export async function openProposals(url: string, deadlineMs: number): Promise<SettlementProposals> {
  const { execute, close } = await openStore(url, deadlineMs);
  return {
    add: async (proposed, now) => {
      await execute('DELETE FROM settlement_proposals WHERE expires_at <= ?', [now]);
      for (const each of proposed) {
        const row = toWireFields(each);
        const [columns, values] = [Object.keys(row), Object.values(row) as SqlValue[]];
        const text = `INSERT INTO settlement_proposals (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
        await execute(text, values);
      }
    },
    list: async (service, now, id) => {
      const rows = await execute(
        `SELECT * FROM settlement_proposals WHERE service = ? AND expires_at > ? ${id === undefined ? '' : 'AND id = ?'}
         ORDER BY proposed_at, id, attempt_id`,
        id === undefined ? [service, now] : [service, now, id],
      );
      return rows.map(readProposal);
    },
    remove: async (id, attemptId) => {
      if (attemptId === undefined) await execute('DELETE FROM settlement_proposals WHERE id = ?', [id]);
      else await execute('DELETE FROM settlement_proposals WHERE id = ? AND attempt_id = ?', [id, attemptId]);
    },
    close,
  };
}

interface Store {
  execute(text: string, values: SqlValue[]): Promise<Row[]>;
  close(): Promise<void>;
}

async function openStore(url: string, deadlineMs: number): Promise<Store> {
  if (url.startsWith('file:')) {
    const thread = await SqliteThread.open(path.resolve(url.slice('file:'.length)), deadlineMs);
    return {
      execute: (text, values) => thread.run({ write: true, statements: [sql(text, ...values)] }),
      close: () => thread.close(),
    };
  }
  const pool = new PostgresPool(new PostgresHosts(url), {
    deadlineMs,
    maxConnections: 1,
    connectionOptions: CONNECTION_OPTIONS,
  });
  return { execute: (text, values) => pool.query(text, values), close: () => pool.close() };
}
