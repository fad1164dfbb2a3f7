import { randomUUID } from 'node:crypto';
import type { AuditLog } from '../../observability/audit/audit-log';
import type { Attempt, Outcome } from '../../datasources/journal/journal';
import type { ProposedOutcome } from '../../datasources/journal/settlement-proposals';
import { sleep } from '../../shared/timeout';
import { toAuditActor } from './operator';
import type { Session } from './session';
import { isSettledAs, planSettle, asRefused, type PlannedSettle, type SettleRequest } from './settle-plan';

/** An operator's decision to record or propose outcomes, or to withdraw a proposal. */
interface Decision {
  reason: string;
  /** The proposal that the operator approves or withdraws, and the user who made it; absent in `attempts settle`. */
  proposal?: { id: string; proposedBy: string };
}

/** Lease duration in ms. While a command has leased an attempt, no gateway instance looks up the attempt's outcome. */
const LEASE_MS = 20_000;
/** Maximum time in ms to wait for an attempt that another process has leased. */
const CLAIM_TIMEOUT_MS = 15_000;
const CLAIM_RETRY_INTERVAL_MS = 250;
/** Time in ms after which a proposal expires. */
const PROPOSAL_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Returns the fields of an audit entry that say who decided and why. */
export const decisionFields = ({ operator }: Session, { reason, proposal }: Decision) => ({
  who: toAuditActor(operator.user),
  sudoUser: operator.sudoUser ?? undefined,
  statedName: operator.statedName ?? undefined,
  reason,
  proposalId: proposal?.id,
  proposedBy: proposal?.proposedBy,
});

/**
 * Records the outcome of each request in state `ready`, first in the audit log, then in the journal. If audit log or
 * journal fails, refuses this request and all later requests in state `ready`. Returns all requests with new states.
 * @throws AuditLogError if the audit log cannot be opened
 */
export async function settleReadyRequests(
  session: Session,
  plannedSettles: readonly PlannedSettle[],
  decision: Decision,
): Promise<PlannedSettle[]> {
  if (!plannedSettles.some(({ state }) => state === 'ready')) return [...plannedSettles];
  const audit = session.openAuditLog();
  const results: PlannedSettle[] = [];
  let failure: string | undefined;
  for (const planned of plannedSettles) {
    session.terminal.showProgress(`Settling ${results.length + 1} of ${plannedSettles.length} …`);
    let result = planned;
    if (planned.state === 'ready') {
      try {
        if (failure === undefined) result = await settleOne(session, audit, { planned, decision });
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
      }
      if (failure !== undefined) result = asRefused(planned, failure);
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
  const { request, attempt, line, idOrKey } = planned;
  if (!request || !attempt) return planned;
  const { journal, service } = session;
  const claimedAttempt = await claimAttempt(session, attempt.id);
  if (!claimedAttempt) {
    const planWithId = await planSettle(session, { ...request, idOrKey: attempt.id }, line);
    const replanned = { ...planWithId, idOrKey, request };
    return replanned.state === 'ready'
      ? asRefused(
          replanned,
          'Another process (a gateway instance or a command) is working on this attempt. Repeat the command.',
        )
      : replanned;
  }
  const auditEntry = { ...decisionFields(session, decision), attempt: claimedAttempt };
  const { outcome, transactionId } = request;
  audit.recordOperatorAction({ ...auditEntry, event: 'settled', outcome, transactionId });
  const isOfOtherAttempt = await journal
    .recordOutcome(attempt.id, requestedOutcome(request, Math.floor(await journal.time())))
    .then(
      (isRecorded) => !isRecorded,
      () => false,
    );
  // recordOutcome() resolves before the outcome is on disk. checkWrite() syncs a test row and, with it, the outcome.
  await journal.checkWrite(0);
  // A failed write may still have been committed, so read the attempt again to see which outcome is recorded.
  const currentAttempt = await journal.findById(service, attempt.id);
  if (currentAttempt && isSettledAs(currentAttempt, request))
    return { ...planned, attempt: currentAttempt, state: 'settled' };
  audit.recordOperatorAction({
    ...auditEntry,
    event: 'not_settled',
    outcome: currentAttempt?.outcome ?? claimedAttempt.outcome,
    transactionId: currentAttempt?.transactionId ?? null,
  });
  const message = isOfOtherAttempt
    ? 'Another attempt created this transaction.'
    : 'The journal did not record the outcome: repeat the command.';
  return asRefused({ ...planned, attempt: currentAttempt }, message);
}

/**
 * Leases an attempt. If another process has leased it, waits for up to CLAIM_TIMEOUT_MS. Returns null if the lease is
 * not free by then, or if the attempt is missing or its outcome is not `unknown`.
 */
async function claimAttempt({ journal, service }: Session, id: string): Promise<Attempt | null> {
  const owner = `operator ${randomUUID()}`;
  const deadline = performance.now() + CLAIM_TIMEOUT_MS;
  for (;;) {
    // Check the outcome first, because journal.claim() also leases attempts in progress whose lease has expired.
    const attempt = await journal.findById(service, id);
    if (attempt?.outcome !== 'unknown') return null;
    const now = Math.floor(await journal.time());
    const claimedAttempt = await journal.claim(id, { service, owner, now, leaseUntil: now + LEASE_MS });
    if (claimedAttempt || performance.now() > deadline) return claimedAttempt;
    await sleep(CLAIM_RETRY_INTERVAL_MS);
  }
}

function requestedOutcome(request: SettleRequest, settledAt: number): Outcome {
  if (request.outcome === 'not_sent') return { outcome: request.outcome, settledAt };
  const { outcome, transactionId, status } = request;
  return { outcome, transactionId, status, settledAt };
}

/**
 * Stores all requests in state `ready` as one proposal, after an audit entry for each. Returns the id of the proposal,
 * and all requests with their new states.
 * @throws AuditLogError if the audit log cannot be written; no proposal is then stored
 */
export async function storeProposal(
  session: Session,
  plannedSettles: readonly PlannedSettle[],
  decision: Decision,
): Promise<{ id: string; results: PlannedSettle[] }> {
  const { operator } = session;
  const id = randomUUID();
  const proposedAt = Date.now();
  const audit = session.openAuditLog();
  const proposedOutcomes: ProposedOutcome[] = [];
  const results = plannedSettles.map((planned): PlannedSettle => {
    const { state, attempt, request } = planned;
    if (state !== 'ready' || !attempt || !request) return planned;
    const { outcome, transactionId, status } = request;
    const auditEntry = { ...decisionFields(session, decision), proposalId: id };
    audit.recordOperatorAction({ ...auditEntry, event: 'proposed', attempt, outcome, transactionId });
    proposedOutcomes.push({
      id,
      attemptId: attempt.id,
      service: session.service,
      outcome,
      transactionId,
      status,
      reason: decision.reason,
      proposedBy: operator.user,
      sudoUser: operator.sudoUser,
      givenName: operator.statedName,
      proposedAt,
      expiresAt: proposedAt + PROPOSAL_LIFETIME_MS,
    });
    return { ...planned, state: 'proposed' };
  });
  await session.journal.proposals.add(proposedOutcomes, proposedAt);
  return { id, results };
}
