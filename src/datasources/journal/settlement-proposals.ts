import { toWireFields } from '../../shared/wire-object';
import { textOrNull, type Row, type SqlValue } from './rows';
import { connectToStore } from './store-connection';

/** An outcome that an operator proposes for one attempt. Times are in milliseconds since 1970. */
export interface ProposedOutcome {
  /** Id of the proposal. A proposal can contain outcomes for several attempts. */
  id: string;
  attemptId: string;
  service: string;
  outcome: 'succeeded' | 'not_sent';
  transactionId: string | null;
  status: string | null;
  reason: string;
  /** Operating system user of the proposer. */
  proposedBy: string;
  /** The proposer's environment variable SUDO_USER; null if it is not set. */
  sudoUser: string | null;
  /** Name that the proposer gave with `--by`; null if none. */
  givenName: string | null;
  proposedAt: number;
  expiresAt: number;
}

/** Proposals that wait for the approval of a second operator. Only operator commands use them. */
export interface SettlementProposals {
  /** Stores proposals and deletes expired ones. */
  add(proposed: readonly ProposedOutcome[], now: number): Promise<void>;
  /** Lists proposals that have not expired, oldest first. If `id` is given, lists only this proposal. */
  list(service: string, now: number, id?: string): Promise<ProposedOutcome[]>;
  /** Deletes a proposal. If `attemptId` is given, deletes only its outcome for that attempt. */
  remove(id: string, attemptId?: string): Promise<void>;
  close(): Promise<void>;
}

const proposalFromRow = (row: Row): ProposedOutcome => ({
  id: String(row['id']),
  attemptId: String(row['attempt_id']),
  service: String(row['service']),
  outcome: row['outcome'] as ProposedOutcome['outcome'],
  transactionId: textOrNull(row['transaction_id']),
  status: textOrNull(row['status']),
  reason: String(row['reason']),
  proposedBy: String(row['proposed_by']),
  sudoUser: textOrNull(row['sudo_user']),
  givenName: textOrNull(row['given_name']),
  proposedAt: Number(row['proposed_at']),
  expiresAt: Number(row['expires_at']),
});

/** Opens the proposals over a separate connection to the journal's database (see connectToStore). */
export async function openProposals(url: string, timeLimitMs: number): Promise<SettlementProposals> {
  const { execute, close } = await connectToStore(url, { timeLimitMs, readOnly: false });
  return {
    add: async (proposed, now) => {
      await execute('DELETE FROM settlement_proposals WHERE expires_at <= ?', [now]);
      for (const proposal of proposed) {
        const row = toWireFields(proposal);
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
      return rows.map(proposalFromRow);
    },
    remove: async (id, attemptId) => {
      if (attemptId === undefined) await execute('DELETE FROM settlement_proposals WHERE id = ?', [id]);
      else await execute('DELETE FROM settlement_proposals WHERE id = ? AND attempt_id = ?', [id, attemptId]);
    },
    close,
  };
}
