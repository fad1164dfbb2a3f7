import { toWireFields } from '../../shared/wire-object';
import { textOrNull, type Row, type SqlValue } from './rows';

/** An outcome that an operator proposes for an attempt. Times are in milliseconds since 1970. */
export interface ProposedOutcome {
  /** Id of the proposal. Outcomes for several attempts can belong to one proposal. */
  id: string;
  attemptId: string;
  service: string;
  outcome: 'succeeded' | 'not_sent';
  /** Null if the outcome is `not_sent`. */
  transactionId: string | null;
  /** Wire status of the transaction; null if the outcome is `not_sent`. */
  status: string | null;
  /** The operator's reason for this outcome, as free text. */
  reason: string;
  /** Operating system user of the proposer. */
  proposedBy: string;
  /** The proposer's environment variable SUDO_USER; null if it is not set. */
  sudoUser: string | null;
  /** Name given with the option `--by`; null if it was not given. */
  givenName: string | null;
  proposedAt: number;
  expiresAt: number;
}

const proposedOutcomeFromRow = (row: Row): ProposedOutcome => ({
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

/**
 * The outcomes that wait for the approval of a second operator. Only the command line uses them.
 * @param execute runs a statement
 */
export const createProposalStore = (execute: (sqlText: string, ...values: SqlValue[]) => Promise<Row[]>) => ({
  /** Stores proposed outcomes, and deletes expired ones. */
  add: async (proposedOutcomes: readonly ProposedOutcome[], now: number): Promise<void> => {
    await execute('DELETE FROM settlement_proposals WHERE expires_at <= ?', now);
    for (const proposedOutcome of proposedOutcomes) {
      const valueByColumn = toWireFields(proposedOutcome);
      const [columns, values] = [Object.keys(valueByColumn), Object.values(valueByColumn) as SqlValue[]];
      const sqlText = `INSERT INTO settlement_proposals (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
      await execute(sqlText, ...values);
    }
  },
  /** Lists proposed outcomes that have not expired, oldest first; if `id` is given, only those of this proposal. */
  list: async (serviceName: string, now: number, id?: string): Promise<ProposedOutcome[]> => {
    const rows = await execute(
      `SELECT * FROM settlement_proposals WHERE service = ? AND expires_at > ? ${id === undefined ? '' : 'AND id = ?'}
       ORDER BY proposed_at, id, attempt_id`,
      ...(id === undefined ? [serviceName, now] : [serviceName, now, id]),
    );
    return rows.map(proposedOutcomeFromRow);
  },
  /** Deletes all outcomes of a proposal; if `attemptId` is given, only the outcome for this attempt. */
  remove: async (id: string, attemptId?: string): Promise<void> => {
    if (attemptId === undefined) await execute('DELETE FROM settlement_proposals WHERE id = ?', id);
    else await execute('DELETE FROM settlement_proposals WHERE id = ? AND attempt_id = ?', id, attemptId);
  },
});
