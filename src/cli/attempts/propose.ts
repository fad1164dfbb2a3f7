import { randomUUID } from 'node:crypto';
import type { AuditLog } from '../../observability/audit/audit-log';
import type { ProposedSettle } from '../../datasources/journal/settlement-proposals';
import { settleEntry, type Act } from './carry-out';
import type { Operator } from './operator';
import { withProposals, type Session } from './session';
import type { PlannedSettle } from './settle-plan';

/** How long a proposal can be approved, in milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000;

interface ProposeOptions {
  session: Session;
  audit: AuditLog;
  act: Act;
}

/** The operator who made a proposal. */
export const proposerOf = ({ proposedBy, sudoUser, givenName }: ProposedSettle): Operator => ({
  user: proposedBy,
  sudoUser,
  givenName,
});

/** Stores what is ready as one proposal, each with its line in the audit log before it. Resolves with its id. */
export async function propose(
  planned: readonly PlannedSettle[],
  { session, audit, act }: ProposeOptions,
): Promise<{ id: string; results: PlannedSettle[] }> {
  const id = randomUUID();
  const proposedAt = Date.now();
  const rows: ProposedSettle[] = [];
  const results = planned.map((each): PlannedSettle => {
    const { state, attempt, request } = each;
    if (state !== 'ready' || !attempt || !request) return each;
    const { operator, reason } = act;
    audit.recordAct({ ...settleEntry('proposed', { attempt, request, act }), proposal: id });
    const { outcome, transactionId, status } = request;
    const { user: proposedBy, sudoUser, givenName } = operator;
    const about = { id, attemptId: attempt.id, service: session.service, reason };
    const by = { proposedBy, sudoUser, givenName, proposedAt, expiresAt: proposedAt + KEPT_MS };
    rows.push({ ...about, outcome, transactionId, status, ...by });
    return { ...each, state: 'proposed' };
  });
  await withProposals(session, (proposals) => proposals.add(rows, proposedAt));
  return { id, results };
}
