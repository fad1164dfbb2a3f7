import 'reflect-metadata';
import type { Attempt } from '../../datasources/journal/journal';
import type { ProposedSettle } from '../../datasources/journal/settlement-proposals';
import { attemptJson, time } from '../attempts/attempt-view';
import { auditName, mayBeSamePerson, readName, readOperator, readReason } from '../attempts/operator';
import { Session } from '../attempts/session';
import { auditEntry, carryOut } from '../attempts/settle';
import { planOne, readRequest, type PlannedSettle } from '../attempts/settle-plan';
import { describeTotals, report, totalsOf } from '../attempts/settle-report';
import { EXIT, type Context } from '../context';

type Rows = readonly [ProposedSettle, ...ProposedSettle[]];

/** The rows of one proposal with their attempts. */
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
    proposedAt: time(proposedAt),
    expiresAt: time(expiresAt),
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
    `${id}  ${rows.length} by ${proposer}, expires ${time(expiresAt)}: ${reason}`,
    ...describeTotals(totalsOf([...attempts.values()])),
    ...rows.map((row) => `   ${row.attemptId} -> ${row.outcome} ${row.transactionId ?? ''}`.trimEnd()),
  ].join('\n');
}

interface JsonOption {
  json?: boolean;
}

/** `paygraph attempts proposals`. */
export async function listProposals(context: Context, { json }: JsonOption): Promise<number> {
  await using session = await Session.open(context);
  const proposals = await readProposals(session);
  const { terminal } = context;
  if (json) terminal.printJson(proposals.map(proposalJson));
  else
    terminal.print(
      proposals.length === 0 ? 'There are no proposals.' : proposals.map(describeProposal).join('\n'),
    );
  return EXIT.done;
}

/** Opens the proposals and reads one. Rejects where it does not exist. */
async function openProposal(session: Session, id: string) {
  const proposals = await session.openProposals();
  const [first, ...more] = await proposals.list(session.service, Date.now(), id);
  if (!first) throw new Error('No such proposal: it was approved or withdrawn, or has expired.');
  const rows: Rows = [first, ...more];
  return { proposals, rows, proposal: { id, proposedBy: auditName(first.proposedBy) } };
}

/**
 * `paygraph attempts approve`. Settled attempts are removed from the proposal; the others stay until it expires. Rejects
 * where the proposal does not exist or the operator may be the proposer.
 */
export async function approve(
  context: Context,
  id: string,
  { by, json }: JsonOption & { by?: string },
): Promise<number> {
  const givenName = readName(by);
  await using session = await Session.open(context);
  const operator = readOperator(session.config.sudoUser, givenName);
  const { proposals, rows, proposal } = await openProposal(session, id);
  const { proposedBy, sudoUser, givenName: proposerName, reason } = rows[0];
  if (mayBeSamePerson(operator, { user: proposedBy, sudoUser, givenName: proposerName }))
    throw new Error('Another person has to approve: you made this proposal, as this user or through sudo.');
  const planned: PlannedSettle[] = [];
  for (const { attemptId, outcome, transactionId, status } of rows)
    planned.push(await planOne(session, readRequest({ attempt: attemptId, outcome, transactionId, status })));
  const results = await carryOut(session, planned, { operator, reason, proposal });
  for (const { state, attempt } of results)
    if (state !== 'refused' && attempt) await proposals.remove(id, attempt.id);
  report(context.terminal, results, { json, isCarriedOut: true });
  return results.some(({ state }) => state === 'refused') ? EXIT.failed : EXIT.done;
}

/** `paygraph attempts withdraw`. Rejects where the proposal does not exist. */
export async function withdraw(
  context: Context,
  id: string,
  options: { by?: string; reason: string },
): Promise<number> {
  const reason = readReason(options.reason);
  const givenName = readName(options.by);
  await using session = await Session.open(context);
  const { journal, service, config } = session;
  const operator = readOperator(config.sudoUser, givenName);
  const { proposals, rows, proposal } = await openProposal(session, id);
  const audit = session.openAudit();
  for (const request of rows) {
    const attempt = await journal.findById(service, request.attemptId);
    if (attempt)
      audit.recordAct(
        auditEntry('withdrawn', { attempt, request, decision: { operator, reason, proposal } }),
      );
  }
  await proposals.remove(id);
  context.terminal.print('The proposal was withdrawn.');
  return EXIT.done;
}
