import type { Attempt } from '../../datasources/journal/journal';
import type { ProposedOutcome } from '../../datasources/journal/settlement-proposals';
import { auditActorName, mayBeSamePerson, parseReason } from '../attempts/operator';
import { attemptJson, describeTotals, printSettleReport, amountTotalsOf } from '../attempts/report';
import { ATTEMPT_NOT_FOUND_MESSAGE, openCliSession, type CliSession } from '../attempts/session';
import { decisionFields, settleReadyRequests } from '../attempts/settle';
import { asRefused, planSettle, toSettleRequest, type PlannedSettle } from '../attempts/settle-plan';
import type { CommandContext } from '../context';
import { isoTime } from '../terminal';

/** The rows of one proposal in the journal: one row per attempt. */
type ProposalRows = [ProposedOutcome, ...ProposedOutcome[]];

async function loadProposalReport({ journal, serviceName }: CliSession, proposalRows: ProposalRows) {
  const { id, proposedBy, sudoUser, givenName, reason, proposedAt, expiresAt } = proposalRows[0];
  const foundAttempts: Attempt[] = [];
  const attempts = [];
  for (const { attemptId, outcome, transactionId } of proposalRows) {
    const attempt = await journal.findById(serviceName, attemptId);
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
    totals: amountTotalsOf(foundAttempts),
    attempts,
  };
}

function describeProposal(proposalReport: Awaited<ReturnType<typeof loadProposalReport>>): string {
  const { id, proposedBy, sudoUser, by, reason, expiresAt, totals, attempts } = proposalReport;
  const otherProposerNamesText = [sudoUser && `sudo by ${sudoUser}`, by].filter(Boolean).join(', ');
  const proposer = otherProposerNamesText === '' ? proposedBy : `${proposedBy} (${otherProposerNamesText})`;
  return [
    `${id}  attempts: ${attempts.length}, proposed by ${proposer}, expires ${expiresAt}, reason: ${reason}`,
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
  await using cliSession = await openCliSession(context);
  const rows = await cliSession.journal.proposalStore.list(cliSession.serviceName, Date.now());
  const proposalReports = [];
  for (const proposalRows of Map.groupBy(rows, ({ id }) => id).values())
    proposalReports.push(await loadProposalReport(cliSession, proposalRows as ProposalRows));
  const { terminal } = context;
  if (json) terminal.printJson(proposalReports);
  else if (proposalReports.length === 0) terminal.print('No proposal waits for approval.');
  else terminal.print(proposalReports.map(describeProposal).join('\n'));
}

/** Reads the open proposal with this id. Throws if there is none. */
async function readOpenProposal({ journal, serviceName }: CliSession, proposalId: string) {
  const [first, ...more] = await journal.proposalStore.list(serviceName, Date.now(), proposalId);
  if (!first)
    throw new Error(
      'No open proposal has this id. It was approved or withdrawn, has expired, or the id is wrong.',
    );
  const proposalRows: ProposalRows = [first, ...more];
  return { proposalRows, proposal: { proposalId, proposedBy: auditActorName(first.proposedBy) } };
}

/**
 * Runs `paygraph attempts approve`. Attempts that are refused stay in the proposal. They can be approved again until
 * the proposal expires. All other attempts are removed from the proposal. Rejects if no open proposal has this id, or
 * if the operator may be the proposer.
 */
export async function approveProposal(
  context: CommandContext,
  proposalId: string,
  { by, json }: JsonOption & { by?: string },
): Promise<number> {
  await using cliSession = await openCliSession(context, by);
  const { proposalRows, proposal } = await readOpenProposal(cliSession, proposalId);
  const { proposedBy, sudoUser, reason } = proposalRows[0];
  if (mayBeSamePerson(cliSession.operator, { userName: proposedBy, sudoUser }))
    throw new Error(
      `You cannot approve this proposal, because you may be the person who made it (${proposedBy}): the user or SUDO_USER is the same. Another person has to approve it.`,
    );
  const plannedSettles: PlannedSettle[] = [];
  for (const { attemptId, outcome, transactionId, status } of proposalRows) {
    const request = toSettleRequest({ idOrKey: attemptId, outcome, transactionId, status });
    const planned = await planSettle(cliSession, request);
    // If the attempt is missing, another one may have this id as its idempotency key.
    const isProposedAttempt = planned.attempt?.id === attemptId;
    plannedSettles.push(
      isProposedAttempt ? planned : asRefused({ ...planned, attempt: null }, ATTEMPT_NOT_FOUND_MESSAGE),
    );
  }
  const results = await settleReadyRequests(cliSession, plannedSettles, { reason, proposal });
  for (const { state, attempt } of results)
    if (state !== 'refused' && attempt) await cliSession.journal.proposalStore.remove(proposalId, attempt.id);
  return printSettleReport(context.terminal, results, { json, isCarriedOut: true });
}

/** Runs `paygraph attempts withdraw`. Rejects if no open proposal has this id. */
export async function withdrawProposal(
  context: CommandContext,
  proposalId: string,
  options: { by?: string; reason: string },
): Promise<void> {
  const reason = parseReason(options.reason);
  await using cliSession = await openCliSession(context, options.by);
  const { journal, serviceName } = cliSession;
  const { proposalRows, proposal } = await readOpenProposal(cliSession, proposalId);
  const auditLog = cliSession.openAuditLog();
  const auditFields = { ...decisionFields(cliSession, { reason, proposal }), event: 'withdrawn' as const };
  for (const { attemptId, outcome, transactionId } of proposalRows) {
    const attempt = await journal.findById(serviceName, attemptId);
    if (attempt) auditLog.recordOperatorAction({ ...auditFields, attempt, outcome, transactionId });
  }
  await journal.proposalStore.remove(proposalId);
  context.terminal.print('The proposal was withdrawn.');
}
