import { randomUUID } from 'node:crypto';
import type { AuditLog } from '../../observability/audit/audit-log';
import type { Attempt, OutcomeDetails } from '../../datasources/journal/journal';
import type { ProposedOutcome } from '../../datasources/journal/settlement-proposals';
import { sleep } from '../../shared/timeout';
import { auditActorName } from './operator';
import type { CliSession } from './session';
import { isSettledAs, planSettle, asRefused, type PlannedSettle, type SettleRequest } from './settle-plan';

/** An operator's decision to record or propose outcomes, or to withdraw a proposal. */
interface SettleDecision {
  reason: string;
  /** The proposal that the operator approves or withdraws, and the user who made it; absent in `attempts settle`. */
  proposal?: { proposalId: string; proposedBy: string };
}

/** Lease duration in ms. While a command has leased an attempt, no gateway instance looks up the attempt's outcome. */
const LEASE_MS = 20_000;
/** Maximum time in ms to wait for an attempt that another process has leased. */
const CLAIM_TIMEOUT_MS = 15_000;
const CLAIM_RETRY_INTERVAL_MS = 250;
/** Time in ms after which a proposal expires. */
const PROPOSAL_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Returns the fields of an audit entry that say who decided and why. */
export const decisionFields = ({ operator }: CliSession, { reason, proposal }: SettleDecision) => ({
  who: auditActorName(operator.userName),
  sudoUser: operator.sudoUser ?? undefined,
  statedName: operator.statedName ?? undefined,
  reason,
  ...proposal,
});

/**
 * Records the outcome of each request in state `ready`, first in the audit log, then in the journal. If audit log or
 * journal fails, refuses this request and all later requests in state `ready`. Returns all requests with new states.
 * @throws AuditLogError if the audit log cannot be opened
 */
export async function settleReadyRequests(
  cliSession: CliSession,
  plannedSettles: readonly PlannedSettle[],
  decision: SettleDecision,
): Promise<PlannedSettle[]> {
  if (!plannedSettles.some(({ state }) => state === 'ready')) return [...plannedSettles];
  const auditLog = cliSession.openAuditLog();
  const results: PlannedSettle[] = [];
  let failureText: string | undefined;
  for (const planned of plannedSettles) {
    cliSession.terminal.showProgress(`Settling ${results.length + 1} of ${plannedSettles.length} …`);
    let result = planned;
    if (planned.state === 'ready') {
      try {
        if (failureText === undefined) result = await settleOne(cliSession, auditLog, { planned, decision });
      } catch (error) {
        failureText = error instanceof Error ? error.message : String(error);
      }
      if (failureText !== undefined) result = asRefused(planned, failureText);
    }
    results.push(result);
  }
  return results;
}

async function settleOne(
  cliSession: CliSession,
  auditLog: AuditLog,
  { planned, decision }: { planned: PlannedSettle; decision: SettleDecision },
): Promise<PlannedSettle> {
  const { request, attempt, lineNumber, idOrKey } = planned;
  if (!request || !attempt) return planned;
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
    return asRefused(planned, 'The proposal was withdrawn or has expired.');
  const auditEntry = { ...decisionFields(cliSession, decision), attempt: claimedAttempt };
  const { outcome, transactionId } = request;
  auditLog.recordOperatorAction({ ...auditEntry, event: 'settled', outcome, transactionId });
  const isCreatedByOther = await journal
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
    return { ...planned, attempt: currentAttempt, state: 'settled' };
  auditLog.recordOperatorAction({
    ...auditEntry,
    event: 'not_settled',
    outcome: currentAttempt?.outcome ?? claimedAttempt.outcome,
    transactionId: currentAttempt?.transactionId ?? null,
  });
  const refusal = isCreatedByOther
    ? 'Another attempt created this transaction.'
    : 'The journal did not record the outcome: repeat the command.';
  return asRefused({ ...planned, attempt: currentAttempt }, refusal);
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
 * Leases an attempt. If another process has leased it, waits for up to CLAIM_TIMEOUT_MS. Returns null if the lease is
 * not free by then, or if the attempt is missing or its outcome is not `unknown`.
 */
async function claimAttempt({ journal, serviceName }: CliSession, id: string): Promise<Attempt | null> {
  const owner = `operator ${randomUUID()}`;
  const deadline = performance.now() + CLAIM_TIMEOUT_MS;
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
  decision: SettleDecision,
): Promise<{ proposalId: string; results: PlannedSettle[] }> {
  const { operator } = cliSession;
  const proposalId = randomUUID();
  const proposedAt = Date.now();
  const auditLog = cliSession.openAuditLog();
  const proposedOutcomes: ProposedOutcome[] = [];
  const results = plannedSettles.map((planned): PlannedSettle => {
    const { state, attempt, request } = planned;
    if (state !== 'ready' || !attempt || !request) return planned;
    const { outcome, transactionId, status } = request;
    const auditEntry = { ...decisionFields(cliSession, decision), proposalId };
    auditLog.recordOperatorAction({ ...auditEntry, event: 'proposed', attempt, outcome, transactionId });
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
    return { ...planned, state: 'proposed' };
  });
  await cliSession.journal.proposalStore.add(proposedOutcomes, proposedAt);
  return { proposalId, results };
}
