import { randomUUID } from 'node:crypto';
import type { AuditLog, OutcomeEntry } from '../../observability/audit/audit-log';
import type { Attempt, Outcome } from '../../datasources/journal/journal';
import type { ProposedSettle } from '../../datasources/journal/settlement-proposals';
import { sleep } from '../../shared/timeout';
import { auditName, type Operator } from './operator';
import type { Session } from './session';
import { isSettledAs, planOne, refuse, type PlannedSettle, type SettleRequest } from './settle-plan';

/** Operator and reason of outcomes that are recorded by hand. */
export interface Decision {
  operator: Operator;
  reason: string;
  /** The proposal that is carried out or withdrawn, and who made it. */
  proposal?: { id: string; proposedBy: string };
}

/** Duration of the lease that keeps instances from looking up the attempt meanwhile. */
const LEASE_MS = 20_000;
/** How long to wait for an instance that is looking up the attempt. */
const CLAIM_TIMEOUT_MS = 15_000;
const CLAIM_RETRY_MS = 250;
/** How long a proposal can be approved. */
const PROPOSAL_LIFETIME_MS = 24 * 60 * 60 * 1000;

interface EntryFacts {
  attempt: Attempt;
  request: Pick<SettleRequest, 'outcome' | 'transactionId'>;
  decision: Decision;
}

/** A line of the audit log about an operator's decision on an attempt. */
export function auditEntry(
  event: OutcomeEntry['event'],
  { attempt, request, decision: { operator, reason, proposal } }: EntryFacts,
): OutcomeEntry {
  return {
    event,
    who: auditName(operator.user),
    sudoUser: operator.sudoUser ?? undefined,
    by: operator.givenName ?? undefined,
    reason,
    attempt,
    outcome: request.outcome,
    transactionId: request.transactionId,
    proposal: proposal?.id,
    proposedBy: proposal?.proposedBy,
  };
}

/**
 * Settles what is ready, one by one, each after its line in the audit log. After a failure of journal or audit log the rest
 * is refused. @throws AuditLogError where the audit log cannot be opened
 */
export async function carryOut(
  session: Session,
  planned: readonly PlannedSettle[],
  decision: Decision,
): Promise<PlannedSettle[]> {
  if (!planned.some(({ state }) => state === 'ready')) return [...planned];
  const audit = session.openAudit();
  const results: PlannedSettle[] = [];
  let failure: string | undefined;
  for (const each of planned) {
    session.context.terminal.progress(`Settling ${results.length} of ${planned.length} …`);
    let result = each;
    if (each.state === 'ready') {
      try {
        if (failure === undefined) result = await settleOne(session, audit, { planned: each, decision });
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
      }
      if (failure !== undefined) result = refuse(each, failure);
    }
    results.push(result);
  }
  return results;
}

async function settleOne(
  session: Session,
  audit: AuditLog,
  { planned, decision }: { planned: PlannedSettle; decision: Decision },
): Promise<PlannedSettle> {
  const { request, attempt, line, name } = planned;
  if (!request || !attempt) return planned;
  const { journal, service } = session;
  const claimed = await claim(session, attempt.id);
  if (!claimed) {
    const current = { ...(await planOne(session, { ...request, attempt: attempt.id }, line)), name, request };
    return current.state === 'ready'
      ? refuse(current, 'An instance is looking up this attempt: repeat the command.')
      : current;
  }
  const entry = auditEntry('settled', { attempt: claimed, request, decision });
  audit.recordAct(entry);
  const isRecorded = await journal
    .recordOutcome(attempt.id, outcomeOf(request, Math.floor(await journal.time())))
    .catch(() => true);
  // After an error the outcome may be recorded or not: the journal decides.
  const current = await journal.findById(service, attempt.id);
  if (current && isSettledAs(current, request)) return { ...planned, attempt: current, state: 'settled' };
  audit.recordAct({
    ...entry,
    event: 'not_settled',
    outcome: current?.outcome ?? claimed.outcome,
    transactionId: current?.transactionId ?? null,
  });
  const message = isRecorded
    ? 'The journal has not recorded the outcome: repeat the command.'
    : 'Another attempt has created this transaction.';
  return refuse({ ...planned, attempt: current }, message);
}

/** Takes the lease of an attempt. Null where another owner holds it until the timeout, or the outcome is known meanwhile. */
async function claim({ journal, service }: Session, id: string): Promise<Attempt | null> {
  const owner = `operator ${randomUUID()}`;
  const deadline = performance.now() + CLAIM_TIMEOUT_MS;
  for (;;) {
    // claim() would also take an attempt that is in progress and whose lease has expired.
    const attempt = await journal.findById(service, id);
    if (attempt?.outcome !== 'unknown') return null;
    const now = Math.floor(await journal.time());
    const claimed = await journal.claim(id, { service, owner, now, leaseUntil: now + LEASE_MS });
    if (claimed || performance.now() > deadline) return claimed;
    await sleep(CLAIM_RETRY_MS);
  }
}

function outcomeOf(request: SettleRequest, settledAt: number): Outcome {
  if (request.outcome === 'not_sent') return { outcome: request.outcome, settledAt };
  const { outcome, transactionId, status } = request;
  return { outcome, transactionId, status, settledAt };
}

/** Stores what is ready as one proposal, after its lines in the audit log. Nothing is stored where a line cannot be written. */
export async function propose(
  session: Session,
  planned: readonly PlannedSettle[],
  decision: Decision,
): Promise<{ id: string; results: PlannedSettle[] }> {
  const { operator, reason } = decision;
  const id = randomUUID();
  const proposedAt = Date.now();
  const audit = session.openAudit();
  const rows: ProposedSettle[] = [];
  const results = planned.map((each): PlannedSettle => {
    const { state, attempt, request } = each;
    if (state !== 'ready' || !attempt || !request) return each;
    audit.recordAct({ ...auditEntry('proposed', { attempt, request, decision }), proposal: id });
    rows.push({
      id,
      attemptId: attempt.id,
      service: session.service,
      outcome: request.outcome,
      transactionId: request.transactionId,
      status: request.status,
      reason,
      proposedBy: operator.user,
      sudoUser: operator.sudoUser,
      givenName: operator.givenName,
      proposedAt,
      expiresAt: proposedAt + PROPOSAL_LIFETIME_MS,
    });
    return { ...each, state: 'proposed' };
  });
  const proposals = await session.openProposals();
  await proposals.add(rows, proposedAt);
  return { id, results };
}
