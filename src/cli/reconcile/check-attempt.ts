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
import type { LookupOutcome, ServiceLookups } from './lookups';

/** Result of comparing an attempt (a create call in the journal) with its transaction at the service. */
export interface CheckedAttempt extends Comparison {
  attempt: Attempt;
  /** Latest recorded change; null if there is none, the result is `unknown`, or the attempt has no transaction. */
  change: LatestChange | null;
  /** Transaction that the lookup found. Null if it found none, or if another attempt created the transaction. */
  transaction: ServiceTransaction | null;
  /** When the comparison ended, in ms since 1970. */
  checkedAt: number;
  /** Whether the lookup failed as in an outage (see LookupOutcome). Many consecutive such checks end the run. */
  isOutage: boolean;
}

export interface CheckOptions {
  journal: Pick<Journal, 'findById' | 'findByTransaction' | 'hasRival'>;
  lookups: Pick<ServiceLookups, 'lookUp'>;
  changes: Pick<LatestChanges, 'find' | 'update'>;
  /** Whether gateways themselves look transactions up (FOLLOW_DAYS). */
  followsTransactions: boolean;
}

/** Maximum number of repeated lookups of a transaction whose recorded status changes during the lookups. */
const MAX_REPEATED_LOOKUPS = 3;

type AttemptComparison = Omit<CheckedAttempt, 'attempt' | 'checkedAt' | 'isOutage'>;

const unknownComparison = (
  detail: string,
  transaction: ServiceTransaction | null = null,
): AttemptComparison => ({ result: 'unknown', detail, change: null, transaction });

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
  let outcome = await options.lookups.lookUp(attempt);
  for (let round = 0; updatesChanges && round < MAX_REPEATED_LOOKUPS; round += 1) {
    const before = findChange();
    await options.changes.update();
    if (isDeepStrictEqual(findChange(), before)) break;
    // A change was recorded since the previous update, perhaps after the service responded: look up again.
    outcome = await options.lookups.lookUp(attempt);
  }
  const comparison = await compareAttempt(attempt, outcome, options);
  const isOutage = 'failure' in outcome && outcome.isOutage;
  return { ...comparison, attempt, checkedAt: Date.now(), isOutage };
}

async function compareAttempt(
  attempt: Attempt,
  outcome: LookupOutcome,
  { journal, changes, followsTransactions }: CheckOptions,
): Promise<AttemptComparison> {
  if ('failure' in outcome) return unknownComparison(outcome.failure);
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
    return unknownComparison(`outcome_${attempt.outcome}`, ownTransaction);
  const mayBeOfUnknownAttempt = transaction !== null && (await journal.hasRival(attempt));
  const ownership = { isOfOtherAttempt, mayBeOfUnknownAttempt };
  return { ...compareUnsent(attempt, transaction, ownership), change: null, transaction: ownTransaction };
}
