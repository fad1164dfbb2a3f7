import type { Attempt } from '../../datasources/journal/journal';
import type { ProposedOutcome } from '../../datasources/journal/settlement-proposals';
import { toAuditActor, mayBeSamePerson, parseReason } from '../attempts/operator';
import { attemptJson, describeTotals, printSettleReport, totalsOf } from '../attempts/report';
import { openSession, type Session } from '../attempts/session';
import { decisionFields, settleReadyRequests } from '../attempts/settle';
import { planSettle, toSettleRequest, type PlannedSettle } from '../attempts/settle-plan';
import type { CommandContext } from '../context';
import { isoTime } from '../terminal';

/** The rows of one proposal in the journal: one row per attempt. */
type ProposalRows = [ProposedOutcome, ...ProposedOutcome[]];

async function loadProposalJson({ journal, service }: Session, rows: ProposalRows) {
  const { id, proposedBy, sudoUser, givenName, reason, proposedAt, expiresAt } = rows[0];
  const foundAttempts: Attempt[] = [];
  const attempts = [];
  for (const { attemptId, outcome, transactionId } of rows) {
    const attempt = await journal.findById(service, attemptId);
    if (attempt) foundAttempts.push(attempt);
    attempts.push({ id: attemptId, outcome, transactionId, attempt: attempt && attemptJson(attempt) });
  }
  return {
    id,
    proposedBy,
    sudoUser,
    by: givenName,
    reason,
    proposedAt: isoTime(proposedAt),
    expiresAt: isoTime(expiresAt),
    totals: totalsOf(foundAttempts),
    attempts,
  };
}

function describeProposal(proposal: Awaited<ReturnType<typeof loadProposalJson>>): string {
  const { id, proposedBy, sudoUser, by, reason, expiresAt, totals, attempts } = proposal;
  const otherNames = [sudoUser && `sudo by ${sudoUser}`, by].filter(Boolean).join(', ');
  const proposer = otherNames === '' ? proposedBy : `${proposedBy} (${otherNames})`;
  return [
    `${id}  attempts: ${attempts.length}, proposed by ${proposer}, expires ${expiresAt}: ${reason}`,
    ...describeTotals(totals),
    ...attempts.map(({ id: attemptId, outcome, transactionId }) =>
      `   ${attemptId} -> ${outcome} ${transactionId ?? ''}`.trimEnd(),
    ),
  ].join('\n');
}

interface JsonOption {
  json?: boolean;
}

/** Runs `paygraph attempts proposals`. */
export async function listProposals(context: CommandContext, { json }: JsonOption): Promise<void> {
  await using session = await openSession(context);
  const rows = await session.journal.proposals.list(session.service, Date.now());
  const proposals = [];
  for (const proposalRows of Map.groupBy(rows, ({ id }) => id).values())
    proposals.push(await loadProposalJson(session, proposalRows as ProposalRows));
  const { terminal } = context;
  if (json) terminal.printJson(proposals);
  else if (proposals.length === 0) terminal.print('No proposal waits for approval.');
  else terminal.print(proposals.map(describeProposal).join('\n'));
}

/** Reads the open proposal with this id. Throws if there is none. */
async function readOpenProposal(session: Session, id: string) {
  const [first, ...more] = await session.journal.proposals.list(session.service, Date.now(), id);
  if (!first)
    throw new Error(
      'No open proposal has this id. It was approved or withdrawn, has expired, or the id is wrong.',
    );
  const rows: ProposalRows = [first, ...more];
  return { rows, proposal: { id, proposedBy: toAuditActor(first.proposedBy) } };
}

/**
 * Runs `paygraph attempts approve`. Attempts that are refused stay in the proposal. They can be approved again until
 * the proposal expires. All other attempts are removed from the proposal. Rejects if no open proposal has this id, or
 * if the operator may be the proposer.
 */
export async function approveProposal(
  context: CommandContext,
  id: string,
  { by, json }: JsonOption & { by?: string },
): Promise<number> {
  await using session = await openSession(context, by);
  const { rows, proposal } = await readOpenProposal(session, id);
  const { proposedBy, sudoUser, reason } = rows[0];
  if (mayBeSamePerson(session.operator, { user: proposedBy, sudoUser }))
    throw new Error(
      `Another person has to approve: the proposal was made by ${proposedBy}, and that may be you (the same user, or through sudo).`,
    );
  const plannedSettles: PlannedSettle[] = [];
  for (const { attemptId, outcome, transactionId, status } of rows)
    plannedSettles.push(
      await planSettle(session, toSettleRequest({ idOrKey: attemptId, outcome, transactionId, status })),
    );
  const results = await settleReadyRequests(session, plannedSettles, { reason, proposal });
  for (const { state, attempt } of results)
    if (state !== 'refused' && attempt) await session.journal.proposals.remove(id, attempt.id);
  return printSettleReport(context.terminal, results, { json, isCarriedOut: true });
}

/** Runs `paygraph attempts withdraw`. Rejects if no open proposal has this id. */
export async function withdrawProposal(
  context: CommandContext,
  id: string,
  options: { by?: string; reason: string },
): Promise<void> {
  const reason = parseReason(options.reason);
  await using session = await openSession(context, options.by);
  const { journal, service } = session;
  const { rows, proposal } = await readOpenProposal(session, id);
  const audit = session.openAuditLog();
  const auditEntry = { ...decisionFields(session, { reason, proposal }), event: 'withdrawn' as const };
  for (const { attemptId, outcome, transactionId } of rows) {
    const attempt = await journal.findById(service, attemptId);
    if (attempt) audit.recordOperatorAction({ ...auditEntry, attempt, outcome, transactionId });
  }
  await journal.proposals.remove(id);
  context.terminal.print('The proposal was withdrawn.');
}
