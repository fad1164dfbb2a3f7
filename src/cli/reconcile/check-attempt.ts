import type { Attempt, Journal } from '../../datasources/journal/journal';
import type { ServiceErrorKind } from '../../datasources/payment-service/service-error';
import {
  compareSucceeded,
  compareUnsent,
  type Comparison,
  type LaterRecord,
  type LatestChange,
  type Shown,
} from './compare';
import type { LatestChanges } from './latest-changes';
import type { LookupId, LookupOutcome } from './lookups';

/** Result of the comparison of an attempt, with the compared change and transaction. */
export interface CheckedAttempt extends Comparison {
  attempt: Attempt;
  /** Null if the transaction id is unknown, no change of the transaction is recorded, or the lookup failed. */
  change: LatestChange | null;
  /** Null if the service does not find the transaction, another attempt created it, or the lookup failed. */
  shown: Shown | null;
  /** When the lookup ended, in ms since 1970. */
  checkedAt: number;
  /** Whether the service did not respond, or rejected the credentials. Many in a row end the run. */
  isOutage: boolean;
}

export interface CheckOptions {
  journal: Pick<Journal, 'findById' | 'findByTransaction' | 'hasRival'>;
  lookUp(attempt: Attempt, id: LookupId): Promise<LookupOutcome>;
  changes: Pick<LatestChanges, 'find' | 'update'>;
  followsTransactions: LaterRecord['followsTransactions'];
}

const OUTAGE_ERRORS: ReadonlySet<ServiceErrorKind> = new Set(['UNAVAILABLE', 'TIMEOUT', 'AUTH_FAILED']);

type Verdict = Omit<CheckedAttempt, 'attempt' | 'checkedAt' | 'isOutage'>;

const unknownVerdict = (detail: string, shown: Shown | null = null): Verdict => ({
  result: 'unknown',
  detail,
  change: null,
  shown,
});

/**
 * Compares an attempt with the present state at the service. If they differ, reads the journal again and compares a
 * second time, because the state may have changed and been recorded since the first read.
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
  const { externalId, transactionId } = attempt;
  const outcome = await options.lookUp(attempt, transactionId === null ? { externalId } : { transactionId });
  if (updatesChanges) await options.changes.update();
  const verdict = await judge(attempt, outcome, options);
  const isOutage = outcome.kind === 'failed' && OUTAGE_ERRORS.has(outcome.error);
  return { ...verdict, attempt, checkedAt: Date.now(), isOutage };
}

async function judge(attempt: Attempt, outcome: LookupOutcome, options: CheckOptions): Promise<Verdict> {
  if (outcome.kind === 'failed')
    return unknownVerdict(outcome.error.toLowerCase().replace(/^(lookup_)?/, 'lookup_'));
  if (outcome.kind === 'not_found_elsewhere') return unknownVerdict('not_found_by_proxy');
  const shown = outcome.kind === 'found' ? outcome.shown : null;
  if (attempt.transactionId !== null) {
    const change = options.changes.find(attempt.kind, attempt.transactionId);
    if (!shown) return { result: 'missing', detail: '', change, shown };
    const later = { change, followsTransactions: options.followsTransactions };
    return { ...compareSucceeded(attempt, shown, later), change, shown };
  }
  const ownership = await findRivals(attempt, shown, options);
  // A transaction that another attempt created is not reported for this attempt.
  const ownTransaction = ownership.isOtherAttempt ? null : shown;
  if (attempt.outcome === 'unknown' || attempt.outcome === 'in_progress')
    return unknownVerdict(`outcome_${attempt.outcome}`, ownTransaction);
  return { ...compareUnsent(attempt, shown, ownership), change: null, shown: ownTransaction };
}

async function findRivals(attempt: Attempt, shown: Shown | null, { journal }: CheckOptions) {
  const { service, kind, id } = attempt;
  const creator = shown && (await journal.findByTransaction(service, kind, shown.transactionId));
  return {
    isOtherAttempt: creator !== null && creator.id !== id,
    mayBeUnknownAttempt: shown !== null && (await journal.hasRival(attempt)),
  };
}
