import 'reflect-metadata';
import type { Attempt } from '../../datasources/journal/journal';
import type { ProposedSettle } from '../../datasources/journal/settlement-proposals';
import { attemptJson, timeOrDash } from '../attempts/attempt-view';
import { auditName, mayBeSamePerson, readGivenName, readOperator, readReason } from '../attempts/operator';
import { Session } from '../attempts/session';
import { auditEntry, settlePlanned } from '../attempts/settle';
import { planOne, toRequest, type PlannedSettle } from '../attempts/settle-plan';
import { describeTotals, printReport, totalsOf } from '../attempts/settle-report';
import { EXIT, type Context } from '../context';

type Rows = readonly [ProposedSettle, ...ProposedSettle[]];

/** The rows of one proposal, and the attempts that still exist, by id. */
interface Proposal {
  rows: Rows;
  attempts: Map<string, Attempt>;
}

async function readProposals(session: Session): Promise<Proposal[]> {
  const { journal, service } = session;
  const rows = await (await session.openProposals()).list(service, Date.now());
  const proposals: Proposal[] = [];
  for (const group of Map.groupBy(rows, ({ id }) => id).values()) {
    const attempts = new Map<string, Attempt>();
    for (const { attemptId } of group) {
      const attempt = await journal.findById(service, attemptId);
      if (attempt) attempts.set(attemptId, attempt);
    }
    proposals.push({ rows: group as [ProposedSettle, ...ProposedSettle[]], attempts });
  }
  return proposals;
}

const proposalJson = ({ rows, attempts }: Proposal) => {
  const { id, proposedBy, sudoUser, givenName, reason, proposedAt, expiresAt } = rows[0];
  return {
    id,
    proposedBy,
    sudoUser,
    by: givenName,
    reason,
    proposedAt: timeOrDash(proposedAt),
    expiresAt: timeOrDash(expiresAt),
    totals: totalsOf([...attempts.values()]),
    attempts: rows.map(({ attemptId, outcome, transactionId }) => {
      const attempt = attempts.get(attemptId);
      return { id: attemptId, outcome, transactionId, attempt: attempt ? attemptJson(attempt) : null };
    }),
  };
};

function describeProposal({ rows, attempts }: Proposal): string {
  const { id, proposedBy, sudoUser, givenName, reason, expiresAt } = rows[0];
  const names = [sudoUser && `sudo by ${sudoUser}`, givenName].filter(Boolean).join(', ');
  const proposer = names === '' ? proposedBy : `${proposedBy} (${names})`;
  return [
    `${id}  attempts: ${rows.length}, proposed by ${proposer}, expires ${timeOrDash(expiresAt)}: ${reason}`,
    ...describeTotals(totalsOf([...attempts.values()])),
    ...rows.map((row) => `   ${row.attemptId} -> ${row.outcome} ${row.transactionId ?? ''}`.trimEnd()),
  ].join('\n');
}

interface JsonOption {
  json?: boolean;
}

/** Runs `paygraph attempts proposals`. */
export async function listProposals(context: Context, { json }: JsonOption): Promise<number> {
  await using session = await Session.open(context);
  const proposals = await readProposals(session);
  const { terminal } = context;
  if (json) terminal.printJson(proposals.map(proposalJson));
  else
    terminal.print(
      proposals.length === 0 ? 'No proposal waits for approval.' : proposals.map(describeProposal).join('\n'),
    );
  return EXIT.done;
}

/** Opens the proposals and reads the one with this id. Throws if there is none. */
async function openProposal(session: Session, id: string) {
  const proposals = await session.openProposals();
  const [first, ...more] = await proposals.list(session.service, Date.now(), id);
  if (!first)
    throw new Error(
      'No open proposal has this id. It was approved or withdrawn, has expired, or the id is wrong.',
    );
  const rows: Rows = [first, ...more];
  return { proposals, rows, proposal: { id, proposedBy: auditName(first.proposedBy) } };
}

/**
 * Runs `paygraph attempts approve`. Removes settled attempts from the proposal; refused ones stay until it expires.
 * Rejects if the proposal does not exist or the operator may be the proposer.
 */
export async function approve(
  context: Context,
  id: string,
  { by, json }: JsonOption & { by?: string },
): Promise<number> {
  const givenName = readGivenName(by);
  await using session = await Session.open(context);
  const operator = readOperator(session.config.sudoUser, givenName);
  const { proposals, rows, proposal } = await openProposal(session, id);
  const { proposedBy, sudoUser, givenName: proposerName, reason } = rows[0];
  if (mayBeSamePerson(operator, { user: proposedBy, sudoUser, givenName: proposerName }))
    throw new Error('Another person has to approve: you made the proposal, as this user or through sudo.');
  const planned: PlannedSettle[] = [];
  for (const { attemptId, outcome, transactionId, status } of rows)
    planned.push(await planOne(session, toRequest({ attempt: attemptId, outcome, transactionId, status })));
  const results = await settlePlanned(session, planned, { operator, reason, proposal });
  for (const { state, attempt } of results)
    if (state !== 'refused' && attempt) await proposals.remove(id, attempt.id);
  printReport(context.terminal, results, { json, isCarriedOut: true });
  return results.some(({ state }) => state === 'refused') ? EXIT.failed : EXIT.done;
}

/** Runs `paygraph attempts withdraw`. Rejects if the proposal does not exist. */
export async function withdraw(
  context: Context,
  id: string,
  options: { by?: string; reason: string },
): Promise<number> {
  const reason = readReason(options.reason);
  const givenName = readGivenName(options.by);
  await using session = await Session.open(context);
  const { journal, service, config } = session;
  const operator = readOperator(config.sudoUser, givenName);
  const { proposals, rows, proposal } = await openProposal(session, id);
  const audit = session.openAuditLog();
  for (const request of rows) {
    const attempt = await journal.findById(service, request.attemptId);
    if (attempt)
      audit.recordOperatorAction(
        auditEntry('withdrawn', { attempt, request, decision: { operator, reason, proposal } }),
      );
  }
  await proposals.remove(id);
  context.terminal.print('The proposal was withdrawn.');
  return EXIT.done;
}
