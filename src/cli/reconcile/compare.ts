import type { RecordedChange } from '../../datasources/journal/changes';
import type { Attempt, TransactionKind } from '../../datasources/journal/journal';
import { presentOrNull } from '../../schema/lazy-field';
import { PaymentStatus } from '../../schema/payment';
import { PayoutStatus } from '../../schema/payout';
import { toEnumValue } from '../../schema/register-enum';
import { normalizeDecimal } from '../../schema/scalars';
import type { TransactionResource } from '../../schema/transaction';

/**
 * Results of comparing an attempt with the service:
 * - `agrees`: no difference, or only one that `detail` explains.
 * - `missing`: recorded as succeeded, but the service does not find the transaction.
 * - `amount_differs`: the service has another currency, value or received amount, and perhaps another status.
 * - `status_differs`: the status at the service contradicts the recorded one (see findStatusDifference).
 * - `unexpected`: recorded as not sent or rejected, but the service has a transaction that this attempt may have
 *   created.
 * - `unknown`: not comparable, because the lookup failed, a proxy may have responded, the attempt has no final
 *   outcome, or another attempt of unknown outcome may have created the transaction.
 */
export const COMPARISON_RESULTS = [
  'agrees',
  'missing',
  'amount_differs',
  'status_differs',
  'unexpected',
  'unknown',
] as const;
export type ComparisonResult = (typeof COMPARISON_RESULTS)[number];

/** The latest recorded change of a transaction. */
export type LatestChange = Pick<RecordedChange, 'status' | 'received'>;

export interface Comparison {
  result: ComparisonResult;
  /** Reasons for the result, as fixed words separated by spaces. Empty if the result needs no reason. */
  detail: string;
}

/**
 * Maximum skew of the service's clock in ms. If a payment is older than the attempt by more than this time, another
 * call created the payment.
 */
const MAX_SERVICE_CLOCK_SKEW_MS = 60 * 60 * 1000;

/** Stage of a transaction by its status. A status only changes to one of a higher stage. The highest stage is final. */
const STAGE_BY_STATUS: Readonly<Record<string, number>> = {
  PENDING: 1,
  PROCESSING: 2,
  MISPAID: 3,
  COMPLETED: 4,
  FAILED: 4,
};
const FINAL_STAGE = 4;

/**
 * Value of `detail`: the service's status could follow the status of the latest recorded change, but the journal has
 * not recorded this transition.
 */
const CHANGE_NOT_RECORDED_DETAIL = 'change_not_recorded';

/** Returns the GraphQL value of a status word of the service; UNKNOWN for an unknown word. */
export const toGraphqlStatus = (kind: TransactionKind, statusWord: string): string =>
  kind === 'payment'
    ? toEnumValue(PaymentStatus, PaymentStatus.UNKNOWN, statusWord)
    : toEnumValue(PayoutStatus, PayoutStatus.UNKNOWN, statusWord);

/**
 * Compares an attempt that succeeded, and its latest change, with the transaction at the service. An unrecorded change
 * is a difference only if gateways follow transactions (`isFollowingEnabled`, FOLLOW_DAYS above 0).
 */
export function compareSucceeded(
  attempt: Attempt,
  transaction: TransactionResource,
  { latestChange, isFollowingEnabled }: { latestChange: LatestChange | null; isFollowingEnabled: boolean },
): Comparison {
  const statusDetail = findStatusDifference(attempt, transaction, latestChange);
  const amountDetail = findAmountDifference(attempt, transaction, latestChange);
  if (amountDetail !== null) {
    const detail = statusDetail === null ? amountDetail : `${amountDetail} status_differs`;
    return { result: 'amount_differs', detail };
  }
  if (statusDetail === CHANGE_NOT_RECORDED_DETAIL && !isFollowingEnabled)
    return { result: 'agrees', detail: CHANGE_NOT_RECORDED_DETAIL };
  if (statusDetail !== null) return { result: 'status_differs', detail: statusDetail };
  return { result: 'agrees', detail: '' };
}

function findAmountDifference(
  attempt: Attempt,
  transaction: TransactionResource,
  latestChange: LatestChange | null,
): string | null {
  const amount = presentOrNull(transaction.amount);
  if (amount && amount.currency !== attempt.currency) return 'currency';
  if (amount && normalizeDecimal(amount.value) !== attempt.value) return 'value';
  const isMispaid = latestChange?.status === 'MISPAID' && transaction.status === 'MISPAID';
  return isMispaid && latestChange.received !== (amount?.received ?? null) ? 'received' : null;
}

/**
 * Returns why the status at the service contradicts the recorded status; null if it does not. If changes are recorded,
 * the latest must have the same status as the service, because finance relies on changes. Otherwise, only the status
 * recorded with the outcome is known, and a later status at the service is no contradiction.
 */
function findStatusDifference(
  attempt: Attempt,
  transaction: TransactionResource,
  latestChange: LatestChange | null,
): string | null {
  const recordedStatus = latestChange?.status ?? toGraphqlStatus(attempt.kind, attempt.wireStatus ?? '');
  if (recordedStatus === transaction.status) return null;
  const [recordedStage = 0, serviceStage = Infinity] = [
    STAGE_BY_STATUS[recordedStatus],
    STAGE_BY_STATUS[transaction.status],
  ];
  if (recordedStage === FINAL_STAGE) return 'final_status_changed';
  if (serviceStage < recordedStage) return 'status_went_back';
  return latestChange === null ? null : CHANGE_NOT_RECORDED_DETAIL;
}

/**
 * Checks an attempt that is recorded as not sent or rejected: the service should have no transaction of this attempt.
 * @param transaction the transaction with the external id of the attempt; null if the service has none
 * @param ownership whether another attempt created the transaction (`isCreatedByOtherAttempt`), and whether another
 *   attempt of unknown outcome may have created it (`mayBeCreatedByUnknown`)
 */
export function compareNotExecuted(
  attempt: Attempt,
  transaction: TransactionResource | null,
  ownership: { isCreatedByOtherAttempt: boolean; mayBeCreatedByUnknown: boolean },
): Comparison {
  if (!transaction) return { result: 'agrees', detail: '' };
  if (ownership.isCreatedByOtherAttempt) return { result: 'agrees', detail: 'transaction_of_other_attempt' };
  const createDate = transaction.kind === 'payment' ? presentOrNull(transaction.createDate) : null;
  // Without a valid time of creation, Date.parse() returns NaN, and the transaction is not older.
  if (Date.parse(createDate ?? '') < attempt.startedAt - MAX_SERVICE_CLOCK_SKEW_MS)
    return { result: 'agrees', detail: 'older_transaction' };
  if (ownership.mayBeCreatedByUnknown) return { result: 'unknown', detail: 'transaction_of_unknown_attempt' };
  return { result: 'unexpected', detail: `recorded_as_${attempt.outcome}` };
}
