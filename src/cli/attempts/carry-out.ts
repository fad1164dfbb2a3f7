import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLog, OutcomeEntry } from '../../observability/audit/audit-log';
import type { Attempt, Outcome } from '../../datasources/journal/journal';
import { auditName, type Operator } from './operator';
import type { Session } from './session';
import { isSettledAs, judge, type PlannedSettle } from './settle-plan';
import type { SettleRequest } from './settle-request';

/** The operator who settles, and the reason. */
export interface Act {
  operator: Operator;
  reason: string;
  /** The proposal that is carried out, and who made it. */
  proposal?: { id: string; proposedBy: string } | undefined;
}

interface CarryOutOptions {
  session: Session;
  audit: AuditLog;
  act: Act;
  /** Called before each request with the number of those before it. */
  onProgress(done: number): void;
}

/** How long an attempt is kept from instances that look for it, in milliseconds. */
const LEASE_MS = 20_000;
/** How long an instance that looks for the attempt right now is waited for, in milliseconds. */
const CLAIM_TIMEOUT_MS = 15_000;
const CLAIM_RETRY_MS = 250;

/**
 * Settles what is ready, one after the other, each with its line in the audit log before it. A failure of the journal or of
 * the audit log ends it: what has not been settled then is refused. Never rejects.
 */
export async function carryOut(
  planned: readonly PlannedSettle[],
  options: CarryOutOptions,
): Promise<PlannedSettle[]> {
  const results: PlannedSettle[] = [];
  let failure: string | undefined;
  for (const each of planned) {
    options.onProgress(results.length);
    let result = each;
    if (each.state === 'ready' && failure === undefined) {
      try {
        result = await settleOne(each, options);
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
      }
    }
    results.push(failure !== undefined && result.state === 'ready' ? refusedFor(result, failure) : result);
  }
  return results;
}

const refusedFor = (planned: PlannedSettle, message: string): PlannedSettle => ({
  ...planned,
  state: 'refused',
  message,
});

async function settleOne(planned: PlannedSettle, options: CarryOutOptions): Promise<PlannedSettle> {
  const { request, attempt } = planned;
  if (!request || !attempt) return planned;
  const { session, audit, act } = options;
  const { journal, service } = session;
  const { id } = attempt;
  const claimed = await claim(session, id);
  if (!claimed) {
    const judged = await judge(session, { ...request, attempt: id });
    const result = { ...planned, ...judged };
    return judged.state === 'ready' ? refusedFor(result, BEING_LOOKED_FOR) : result;
  }
  audit.recordAct(settleEntry('settled', { attempt: claimed, request, act }));
  const isOwn = await journal
    .recordOutcome(id, settlementOf(request, Math.floor(await journal.time())))
    .catch(() => true);
  // The journal's word is what counts: it may have recorded what it did not confirm.
  const now = await journal.findById(service, id);
  if (now && isSettledAs(now, request)) return { ...planned, attempt: now, state: 'settled' };
  audit.recordAct({
    ...settleEntry('not_settled', { attempt: claimed, request, act }),
    outcome: now?.outcome ?? claimed.outcome,
    transactionId: now?.transactionId ?? null,
  });
  return refusedFor({ ...planned, attempt: now }, isOwn ? NOT_RECORDED : HELD);
}

const BEING_LOOKED_FOR = 'An instance is looking for it at this moment: repeat the command.';
const HELD = 'Another attempt has created that transaction.';
const NOT_RECORDED = 'The journal has not recorded it: repeat the command.';

/** Takes the attempt, so that no instance settles it meanwhile. Null where it cannot be had in time, or is no longer unknown. */
async function claim({ journal, service }: Session, id: string): Promise<Attempt | null> {
  const owner = `operator ${randomUUID()}`;
  const until = performance.now() + CLAIM_TIMEOUT_MS;
  for (;;) {
    // An attempt under way is claimed by nobody here: what looks unknown now may not be in a moment, but never begins again.
    const attempt = await journal.findById(service, id);
    if (attempt?.outcome !== 'unknown') return null;
    const now = Math.floor(await journal.time());
    const claimed = await journal.claim(id, { service, owner, now, leaseUntil: now + LEASE_MS });
    if (claimed || performance.now() > until) return claimed;
    await sleep(CLAIM_RETRY_MS);
  }
}

function settlementOf(request: SettleRequest, settledAt: number): Outcome {
  if (request.outcome === 'not_sent') return { outcome: request.outcome, settledAt };
  const { outcome, transactionId, status } = request;
  return { outcome, transactionId, status, settledAt };
}

interface EntryFacts {
  attempt: Attempt;
  request: Pick<SettleRequest, 'outcome' | 'transactionId'>;
  act: Act;
}

/** A line of the audit log about what an operator does with an attempt. */
export function settleEntry(
  event: OutcomeEntry['event'],
  { attempt, request, act }: EntryFacts,
): OutcomeEntry {
  const { operator, reason, proposal } = act;
  return {
    event,
    who: auditName(operator),
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
