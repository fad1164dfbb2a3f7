import { isDeepStrictEqual } from 'node:util';
import type { Attempt, Journal } from '../../datasources/journal/journal';
import {
  compareSucceeded,
  compareUnsent,
  type Comparison,
  type LatestChange,
  type ServiceTransaction,
} from './compare';
import type { LatestChanges } from './latest-changes';
import type { LookupOutcome, LookupClient } from './lookups';

/** Result of comparing an attempt (a create call in the journal) with its transaction at the service. */
export interface CheckedAttempt extends Comparison {
  attempt: Attempt;
  /** Latest recorded change. Null or absent if there is none, or if it was not compared. */
  change?: LatestChange | null;
  /** Transaction that the lookup found. Null or absent if it found none, or if another attempt created it. */
  transaction?: ServiceTransaction | null;
  /** When the comparison ended, in ms since 1970. */
  checkedAt: number;
  /** True if the lookup failed as in an outage (see LookupOutcome). Many consecutive such checks end the run. */
  isOutage?: boolean;
}

export interface CheckOptions {
  journal: Pick<Journal, 'findById' | 'findByTransaction' | 'hasRival'>;
  lookupClient: Pick<LookupClient, 'lookUp'>;
  changes: Pick<LatestChanges, 'find' | 'update'>;
  /** Whether gateways themselves look transactions up (FOLLOW_DAYS). */
  followsTransactions: boolean;
}

/** Maximum number of times that a lookup is repeated because a change of the transaction was recorded meanwhile. */
const MAX_REPEATED_LOOKUPS = 3;

/**
 * Compares an attempt with the present state of its transaction at the service. Compares once more unless the result is
 * `agrees` or `isOutage` is true, because gateways may have recorded a new state since the journal was read.
 */
export async function checkAttempt(attempt: Attempt, options: CheckOptions): Promise<CheckedAttempt> {
  const checked = await checkOnce(attempt, options);
  if (checked.result === 'agrees' || checked.isOutage) return checked;
  const current = await options.journal.findById(attempt.service, attempt.id);
  return checkOnce(current ?? attempt, options, true);
}

async function checkOnce(
  attempt: Attempt,
  options: CheckOptions,
  updatesChanges = false,
): Promise<CheckedAttempt> {
  const { transactionId, kind } = attempt;
  const findChange = () => transactionId && options.changes.find(kind, transactionId);
  let outcome = await options.lookupClient.lookUp(attempt);
  for (let round = 0; updatesChanges && round < MAX_REPEATED_LOOKUPS; round += 1) {
    const before = findChange();
    await options.changes.update();
    if (isDeepStrictEqual(findChange(), before)) break;
    // A change was recorded since the previous update, perhaps after the service responded: look up again.
    outcome = await options.lookupClient.lookUp(attempt);
  }
  return { ...(await compareAttempt(attempt, outcome, options)), attempt, checkedAt: Date.now() };
}

async function compareAttempt(
  attempt: Attempt,
  outcome: LookupOutcome,
  { journal, changes, followsTransactions }: CheckOptions,
): Promise<Omit<CheckedAttempt, 'attempt' | 'checkedAt'>> {
  if ('failure' in outcome) return { result: 'unknown', detail: outcome.failure, isOutage: outcome.isOutage };
  const { transaction } = outcome;
  if (attempt.transactionId !== null) {
    const change = changes.find(attempt.kind, attempt.transactionId);
    if (!transaction) return { result: 'missing', detail: '', change, transaction };
    const comparison = compareSucceeded(attempt, transaction, { change, followsTransactions });
    return { ...comparison, change, transaction };
  }
  const { service, kind, id } = attempt;
  const creator = transaction && (await journal.findByTransaction(service, kind, transaction.transactionId));
  const isOfOtherAttempt = creator !== null && creator.id !== id;
  // Do not report a transaction that another attempt created.
  const ownTransaction = isOfOtherAttempt ? null : transaction;
  if (attempt.outcome === 'unknown' || attempt.outcome === 'in_progress')
    return { result: 'unknown', detail: `outcome_${attempt.outcome}`, transaction: ownTransaction };
  const mayBeOfUnknownAttempt = transaction !== null && (await journal.hasRival(attempt));
  const ownership = { isOfOtherAttempt, mayBeOfUnknownAttempt };
  return { ...compareUnsent(attempt, transaction, ownership), transaction: ownTransaction };
}
