import { isDeepStrictEqual } from 'node:util';
import type { Attempt, Journal } from '../../datasources/journal/journal';
import { compareSucceeded, compareNotExecuted, type Comparison, type LatestChange } from './compare';
import type { LatestChanges } from './latest-changes';
import type { LookupOutcome, LookupClient } from './lookups';
import type { TransactionResource } from '../../schema/transaction';

/** Result of comparing an attempt (a create call in the journal) with its transaction at the service. */
export interface CheckedAttempt extends Comparison {
  attempt: Attempt;
  /** Latest recorded change. Null or absent if there is none, or if it was not compared. */
  latestChange?: LatestChange | null;
  /** Transaction that the lookup found. Null or absent if it found none, or if another attempt created it. */
  transaction?: TransactionResource | null;
  /** When the comparison ended, in ms since 1970. */
  checkedAt: number;
  /** True if the lookup failed as in an outage (see LookupOutcome). Many consecutive such checks end the run. */
  isOutage?: boolean;
}

export interface CheckOptions {
  journal: Pick<Journal, 'findById' | 'findByTransaction' | 'hasRival'>;
  lookupClient: Pick<LookupClient, 'lookUp'>;
  latestChanges: Pick<LatestChanges, 'find' | 'update'>;
  /** Whether gateways follow transactions: look them up without requests from clients (FOLLOW_DAYS above 0). */
  isFollowingEnabled: boolean;
}

/** Maximum number of times that a lookup is repeated because a change of the transaction was recorded meanwhile. */
const MAX_REPEATED_LOOKUPS = 3;

/**
 * Compares an attempt with the present state of its transaction at the service. If the result is not `agrees`, compares
 * once more with fresh data of the journal, because gateways may have recorded a new state since it was read. Does not
 * compare again if `isOutage` is true.
 */
export async function checkAttempt(attempt: Attempt, checkOptions: CheckOptions): Promise<CheckedAttempt> {
  const checkedAttempt = await checkOnce(attempt, checkOptions);
  if (checkedAttempt.result === 'agrees' || checkedAttempt.isOutage) return checkedAttempt;
  const currentAttempt = await checkOptions.journal.findById(attempt.service, attempt.id);
  return checkOnce(currentAttempt ?? attempt, checkOptions, true);
}

async function checkOnce(
  attempt: Attempt,
  checkOptions: CheckOptions,
  updatesLatestChanges = false,
): Promise<CheckedAttempt> {
  const { transactionId, kind } = attempt;
  const findLatestChange = () => transactionId && checkOptions.latestChanges.find(kind, transactionId);
  let lookupOutcome = await checkOptions.lookupClient.lookUp(attempt);
  for (let repeatCount = 0; updatesLatestChanges && repeatCount < MAX_REPEATED_LOOKUPS; repeatCount += 1) {
    const previousChange = findLatestChange();
    await checkOptions.latestChanges.update();
    if (isDeepStrictEqual(findLatestChange(), previousChange)) break;
    // A change was recorded since the previous update, perhaps after the service responded: look up again.
    lookupOutcome = await checkOptions.lookupClient.lookUp(attempt);
  }
  return { ...(await compareAttempt(attempt, lookupOutcome, checkOptions)), attempt, checkedAt: Date.now() };
}

async function compareAttempt(
  attempt: Attempt,
  lookupOutcome: LookupOutcome,
  { journal, latestChanges, isFollowingEnabled }: CheckOptions,
): Promise<Omit<CheckedAttempt, 'attempt' | 'checkedAt'>> {
  if ('failureWord' in lookupOutcome)
    return { result: 'unknown', detail: lookupOutcome.failureWord, isOutage: lookupOutcome.isOutage };
  const { transaction } = lookupOutcome;
  if (attempt.transactionId !== null) {
    const latestChange = latestChanges.find(attempt.kind, attempt.transactionId);
    if (!transaction) return { result: 'missing', detail: '', latestChange, transaction };
    const comparison = compareSucceeded(attempt, transaction, { latestChange, isFollowingEnabled });
    return { ...comparison, latestChange, transaction };
  }
  const { service, kind, id } = attempt;
  const creatingAttempt =
    transaction && (await journal.findByTransaction(service, kind, transaction.transactionId));
  const isCreatedByOtherAttempt = creatingAttempt !== null && creatingAttempt.id !== id;
  // Do not report a transaction that another attempt created.
  const ownTransaction = isCreatedByOtherAttempt ? null : transaction;
  if (attempt.outcome === 'unknown' || attempt.outcome === 'in_progress')
    return { result: 'unknown', detail: `outcome_${attempt.outcome}`, transaction: ownTransaction };
  const mayBeCreatedByUnknown = transaction !== null && (await journal.hasRival(attempt));
  const ownership = { isCreatedByOtherAttempt, mayBeCreatedByUnknown };
  return { ...compareNotExecuted(attempt, transaction, ownership), transaction: ownTransaction };
}
