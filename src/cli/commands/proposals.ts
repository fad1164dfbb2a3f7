import 'reflect-metadata';
import type { Attempt } from '../../datasources/journal/journal';
import type { ProposedSettle, SettlementProposals } from '../../datasources/journal/settlement-proposals';
import { factsOf, time } from '../attempts/attempt-view';
import { carryOut, settleEntry } from '../attempts/carry-out';
import {
  auditName,
  mayBeSamePerson,
  readName,
  readOperator,
  readReason,
  type Operator,
} from '../attempts/operator';
import { proposerOf } from '../attempts/propose';
import { withAudit, withJournal, withProposals, type Session } from '../attempts/session';
import { planOne, type PlannedSettle } from '../attempts/settle-plan';
import { describeTotals, report, totalsOf } from '../attempts/settle-report';
import { readRequest, type SettleRequest } from '../attempts/settle-request';
import { EXIT, type Context } from '../context';

interface Shown {
  json?: boolean;
}

/** One proposal with its attempts. */
interface Proposal {
  first: ProposedSettle;
  rows: ProposedSettle[];
  attempts: Attempt[];
}

async function readProposals(session: Session, proposals: SettlementProposals): Promise<Proposal[]> {
  const { journal, service } = session;
  const groups = Object.groupBy(await proposals.list(service, Date.now()), ({ id }) => id);
  const read: Proposal[] = [];
  for (const rows of Object.values(groups)) {
    const [first] = rows ?? [];
    if (!rows || !first) continue;
    const found: Attempt[] = [];
    for (const { attemptId } of rows) {
      const attempt = await journal.findById(service, attemptId);
      if (attempt) found.push(attempt);
    }
    read.push({ first, rows, attempts: found });
  }
  return read;
}

const proposerName = ({ proposedBy, sudoUser, givenName }: ProposedSettle): string => {
  const more = [sudoUser && `sudo by ${sudoUser}`, givenName].filter(Boolean).join(', ');
  return more === '' ? proposedBy : `${proposedBy} (${more})`;
};

const factsOfProposal = ({ first, rows, attempts }: Proposal) => ({
  id: first.id,
  proposedBy: first.proposedBy,
  sudoUser: first.sudoUser,
  by: first.givenName,
  reason: first.reason,
  proposedAt: time(first.proposedAt),
  expiresAt: time(first.expiresAt),
  totals: totalsOf(attempts),
  attempts: rows.map(({ attemptId, outcome, transactionId }) => {
    const attempt = attempts.find(({ id }) => id === attemptId);
    return { id: attemptId, outcome, transactionId, attempt: attempt ? factsOf(attempt) : null };
  }),
});

function describeProposal({ first, rows, attempts }: Proposal): string {
  return [
    `${first.id}  ${rows.length} by ${proposerName(first)}, expires ${time(first.expiresAt)}: ${first.reason}`,
    ...describeTotals(totalsOf(attempts)),
    ...rows.map(({ attemptId, outcome, transactionId }) =>
      ['  ', attemptId, '->', outcome, transactionId ?? ''].join(' ').trimEnd(),
    ),
  ].join('\n');
}

/** `paygraph attempts proposals`. */
export async function listProposals(context: Context, { json }: Shown): Promise<number> {
  const proposals = await withJournal(context, (session) =>
    withProposals(session, (stored) => readProposals(session, stored)),
  );
  const { terminal } = context;
  if (json) terminal.printJson(proposals.map(factsOfProposal));
  else
    terminal.print(
      proposals.length === 0 ? 'Nothing is proposed.' : proposals.map(describeProposal).join('\n'),
    );
  return EXIT.done;
}

/** The rows of a proposal. Rejects where there are none. */
async function findProposal(
  { service }: Session,
  proposals: SettlementProposals,
  id: string,
): Promise<[ProposedSettle, ...ProposedSettle[]]> {
  const [first, ...more] = await proposals.list(service, Date.now(), id);
  if (!first) throw new Error('There is no such proposal: it was carried out or withdrawn, or has expired.');
  return [first, ...more];
}

const requestOf = ({ attemptId, outcome, transactionId, status }: ProposedSettle): SettleRequest => {
  const given = { attempt: attemptId, outcome, transactionId: transactionId ?? '', status: status ?? '' };
  const request = readRequest(given);
  if (typeof request === 'string') throw new Error(`The proposal cannot be read. ${request}`);
  return request;
};

interface Acting extends Shown {
  by?: string;
}

/** `paygraph attempts approve`. Rejects where the proposal is not there, or the same person may have made it. */
export async function approve(context: Context, id: string, { by, json }: Acting): Promise<number> {
  const name = readName(by);
  const results = await withJournal(context, (session) =>
    withProposals(session, async (proposals) => {
      const operator = readOperator(session.config.sudoUser, name);
      const rows = await findProposal(session, proposals, id);
      if (mayBeSamePerson(operator, proposerOf(rows[0])))
        throw new Error('Another person has to approve: this user, or the one that sudo names, proposed it.');
      const planned: PlannedSettle[] = [];
      for (const row of rows) planned.push(await planOne(session, requestOf(row)));
      return carryOutProposal(context, { session, proposals, operator, proposal: rows[0], planned });
    }),
  );
  report(context.terminal, results, { json, isCarriedOut: true });
  return results.some(({ state }) => state === 'refused') ? EXIT.failed : EXIT.done;
}

interface Approval {
  session: Session;
  proposals: SettlementProposals;
  operator: Operator;
  proposal: ProposedSettle;
  planned: PlannedSettle[];
}

/** Settles what was proposed. What is settled is taken out of the proposal; the rest stays until it expires. */
async function carryOutProposal(context: Context, approval: Approval): Promise<PlannedSettle[]> {
  const { session, proposals, operator, proposal, planned } = approval;
  const { id, reason } = proposal;
  const proposedBy = auditName({ user: proposal.proposedBy });
  const act = { operator, reason, proposal: { id, proposedBy } };
  const onProgress = (done: number): void =>
    context.terminal.progress(`Settling ${done} of ${planned.length} …`);
  const isReady = planned.some(({ state }) => state === 'ready');
  const results = isReady
    ? await withAudit(context, session, (audit) => carryOut(planned, { session, audit, act, onProgress }))
    : planned;
  for (const { state, attempt } of results)
    if (state !== 'refused' && attempt) await proposals.remove(id, attempt.id);
  return results;
}

/** `paygraph attempts withdraw`. Rejects where the proposal is not there. */
export async function withdraw(
  context: Context,
  id: string,
  { by, reason }: { by?: string; reason: string },
): Promise<number> {
  const why = readReason(reason);
  const name = readName(by);
  await withJournal(context, (session) =>
    withProposals(session, async (proposals) => {
      const { journal, service, config } = session;
      const operator = readOperator(config.sudoUser, name);
      const rows = await findProposal(session, proposals, id);
      await withAudit(context, session, async (audit) => {
        for (const row of rows) {
          const attempt = await journal.findById(service, row.attemptId);
          const proposal = { id, proposedBy: auditName({ user: row.proposedBy }) };
          const act = { operator, reason: why, proposal };
          if (attempt) audit.recordAct(settleEntry('withdrawn', { attempt, request: row, act }));
        }
        await proposals.remove(id);
      });
    }),
  );
  context.terminal.print('The proposal is withdrawn.');
  return EXIT.done;
}
