import { randomUUID } from 'node:crypto';
import type { AuditLog } from '../../observability/audit/audit-log';
import type { Attempt, OutcomeDetails } from '../../datasources/journal/journal';
import type { ProposedOutcome } from '../../datasources/journal/settlement-proposals';
import { sleep } from '../../shared/timeout';
import { auditActorName } from './operator';
import type { CliSession } from './session';
import { isSettledAs, planSettle, asRefused, type PlannedSettle, type SettleRequest } from './settle-plan';

/** An operator's decision to record or propose outcomes, or to withdraw a proposal. */
interface OperatorDecision {
  reason: string;
  /** The proposal that the operator approves or withdraws, and the user who made it; absent in `attempts settle`. */
  proposal?: { proposalId: string; proposedBy: string };
}

/** Lease duration in ms. While a command has leased an attempt, no gateway instance looks up the attempt's outcome. */
const LEASE_MS = 20_000;
/** Maximum time in ms to wait for an attempt that another process has leased. */
const MAX_CLAIM_WAIT_MS = 15_000;
const CLAIM_RETRY_INTERVAL_MS = 250;
/** Time in ms after which a proposal expires. The texts for operators call it "24 hours". */
const PROPOSAL_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Returns the fields of an audit entry that say who decided and why. */
export const decisionFields = ({ operator }: CliSession, { reason, proposal }: OperatorDecision) => ({
  who: auditActorName(operator.userName),
  sudoUser: operator.sudoUser ?? undefined,
  statedName: operator.statedName ?? undefined,
  reason,
  ...proposal,
});

/**
 * Records the outcome of each request in state `ready`, first in the audit log, then in the journal. If the audit log
 * or the journal fails for one of them, refuses it and all later ones. Returns all requests with their new states.
 * @throws AuditLogError if the audit log cannot be opened
 */
export async function settleReadyRequests(
  cliSession: CliSession,
  plannedSettles: readonly PlannedSettle[],
  decision: OperatorDecision,
): Promise<PlannedSettle[]> {
  if (!plannedSettles.some(({ state }) => state === 'ready')) return [...plannedSettles];
  const auditLog = cliSession.openAuditLog();
  const results: PlannedSettle[] = [];
  let failureText: string | undefined;
  for (const plannedSettle of plannedSettles) {
    cliSession.terminal.showProgress(`Settling ${results.length + 1} of ${plannedSettles.length} …`);
    let result = plannedSettle;
    if (plannedSettle.state === 'ready') {
      try {
        if (failureText === undefined)
          result = await settleOne(cliSession, auditLog, { planned: plannedSettle, decision });
      } catch (error) {
        failureText = error instanceof Error ? error.message : String(error);
      }
      if (failureText !== undefined) result = asRefused(plannedSettle, failureText);
    }
    results.push(result);
  }
  return results;
}

async function settleOne(
  cliSession: CliSession,
  auditLog: AuditLog,
  { planned: plannedSettle, decision }: { planned: PlannedSettle; decision: OperatorDecision },
): Promise<PlannedSettle> {
  const { request, attempt, lineNumber, idOrKey } = plannedSettle;
  if (!request || !attempt) return plannedSettle;
  const { journal, serviceName } = cliSession;
  const claimedAttempt = await claimAttempt(cliSession, attempt.id);
  if (!claimedAttempt) {
    const planWithId = await planSettle(cliSession, { ...request, idOrKey: attempt.id }, lineNumber);
    const replanned = { ...planWithId, idOrKey, request };
    return replanned.state === 'ready'
      ? asRefused(
          replanned,
          'Another process (a gateway instance or a command) is working on this attempt. Repeat the command.',
        )
      : replanned;
  }
  // The proposal may have been withdrawn while this command waited for the lease.
  if (decision.proposal && !(await isProposed(cliSession, attempt.id, decision.proposal.proposalId)))
    return asRefused(plannedSettle, 'The proposal was withdrawn or has expired.');
  const auditFields = { ...decisionFields(cliSession, decision), attempt: claimedAttempt };
  const { outcome, transactionId } = request;
  auditLog.recordOperatorAction({ ...auditFields, event: 'settled', outcome, transactionId });
  const isCreatedByOtherAttempt = await journal
    .recordOutcome(attempt.id, requestedOutcome(request, Math.floor(await journal.time())))
    .then(
      (isSettled) => !isSettled,
      () => false,
    );
  // recordOutcome() resolves before the outcome is on disk. checkWrite() syncs a test row and, with it, the outcome.
  await journal.checkWrite(0);
  // A failed write may still have been committed, so read the attempt again to see which outcome is recorded.
  const currentAttempt = await journal.findById(serviceName, attempt.id);
  if (currentAttempt && isSettledAs(currentAttempt, request))
    return { ...plannedSettle, attempt: currentAttempt, state: 'settled' };
  auditLog.recordOperatorAction({
    ...auditFields,
    event: 'not_settled',
    outcome: currentAttempt?.outcome ?? claimedAttempt.outcome,
    transactionId: currentAttempt?.transactionId ?? null,
  });
  const refusal = isCreatedByOtherAttempt
    ? 'Another attempt created this transaction: check the transaction id.'
    : 'The journal did not record the outcome: repeat the command.';
  return asRefused({ ...plannedSettle, attempt: currentAttempt }, refusal);
}

async function isProposed(
  { journal, serviceName }: CliSession,
  attemptId: string,
  proposalId: string,
): Promise<boolean> {
  const proposedOutcomes = await journal.proposalStore.list(serviceName, Date.now(), proposalId);
  return proposedOutcomes.some((proposedOutcome) => proposedOutcome.attemptId === attemptId);
}

/**
 * Leases an attempt. If another process has leased it, waits for up to MAX_CLAIM_WAIT_MS. Returns null if the lease is
 * not free by then, or if the attempt is missing or its outcome is not `unknown`.
 */
async function claimAttempt({ journal, serviceName }: CliSession, id: string): Promise<Attempt | null> {
  const owner = `operator ${randomUUID()}`;
  const deadline = performance.now() + MAX_CLAIM_WAIT_MS;
  for (;;) {
    // Check the outcome first, because journal.claim() also leases attempts in progress whose lease has expired.
    const attempt = await journal.findById(serviceName, id);
    if (attempt?.outcome !== 'unknown') return null;
    const now = Math.floor(await journal.time());
    const claimed = await journal.claim(id, { service: serviceName, owner, now, leaseUntil: now + LEASE_MS });
    if (claimed || performance.now() > deadline) return claimed;
    await sleep(CLAIM_RETRY_INTERVAL_MS);
  }
}

function requestedOutcome(request: SettleRequest, settledAtMs: number): OutcomeDetails {
  if (request.outcome === 'not_sent') return { outcome: request.outcome, settledAt: settledAtMs };
  const { outcome, transactionId, status } = request;
  return { outcome, transactionId, wireStatus: status, settledAt: settledAtMs };
}

/**
 * Stores all requests in state `ready` as one proposal, after an audit entry for each. Returns the id of the proposal,
 * and all requests with their new states.
 * @throws AuditLogError if the audit log cannot be written; no proposal is then stored
 */
export async function storeProposal(
  cliSession: CliSession,
  plannedSettles: readonly PlannedSettle[],
  decision: OperatorDecision,
): Promise<{ proposalId: string; plannedSettles: PlannedSettle[] }> {
  const { operator } = cliSession;
  const proposalId = randomUUID();
  const proposedAt = Date.now();
  const auditLog = cliSession.openAuditLog();
  const proposedOutcomes: ProposedOutcome[] = [];
  const results = plannedSettles.map((plannedSettle): PlannedSettle => {
    const { state, attempt, request } = plannedSettle;
    if (state !== 'ready' || !attempt || !request) return plannedSettle;
    const { outcome, transactionId, status } = request;
    const auditFields = { ...decisionFields(cliSession, decision), proposalId };
    auditLog.recordOperatorAction({ ...auditFields, event: 'proposed', attempt, outcome, transactionId });
    proposedOutcomes.push({
      id: proposalId,
      attemptId: attempt.id,
      service: cliSession.serviceName,
      outcome,
      transactionId,
      status,
      reason: decision.reason,
      proposedBy: operator.userName,
      sudoUser: operator.sudoUser,
      givenName: operator.statedName,
      proposedAt,
      expiresAt: proposedAt + PROPOSAL_LIFETIME_MS,
    });
    return { ...plannedSettle, state: 'proposed' };
  });
  await cliSession.journal.proposalStore.add(proposedOutcomes, proposedAt);
  return { proposalId, plannedSettles: results };
}
