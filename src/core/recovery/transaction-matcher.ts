import type { Attempt, TransactionKind, Journal, AttemptFields } from '../../datasources/journal/journal';
import type { PaymentsApi } from '../../datasources/payment-service/payments';
import type { KnownPayout, PayoutsApi } from '../../datasources/payment-service/payouts';
import { presentOrNull } from '../../schema/lazy-field';
import { findPaymentMethod, findPayoutMethod } from '../../schema/methods';
import type { PaymentResource } from '../../schema/payment';
import type { PayoutResource } from '../../schema/payout';
import { normalizeDecimal } from '../../schema/scalars';
import type { TransactionResource } from '../../schema/transaction';
import type { JournalSession } from '../journal-session';
import { creationTimeMs } from '../polling/snapshot';

/** Result of a lookup by the external id of an attempt. `found`: the transaction that the attempt created. */
export type MatchResult<T> =
  | { kind: 'found'; transaction: T }
  /**
   * It is certain or possible that the attempt did not create the transaction found. The attempt may have created
   * another one with the same external id, because a lookup shows only one.
   * - `older`: the payment was created before `minCreatedAt`. If find() got no `minCreatedAt`: it is not certain that
   *   the payment was created after the attempt began.
   * - `created_by_another`: another attempt created the payment, or may have done so and been purged from the journal.
   * - `rival`: another attempt without a final outcome may have created the transaction.
   * - If `reason` is absent: the method or amount differs, or another attempt created the payout.
   */
  | { kind: 'mismatch'; reason?: 'older' | 'created_by_another' | 'rival' }
  /**
   * `isFromService`: whether the 404 is certainly the service's own, because it has SERVICE_NOT_FOUND_FIELDS. If not,
   * it may be from a proxy, and the transaction may exist.
   */
  | { kind: 'nothing'; isFromService: boolean };

/** Finds the transaction that an attempt created. */
export interface TransactionMatcher<T extends TransactionResource> {
  readonly kind: TransactionKind;
  /**
   * Looks the transaction up by external id. Throws a ServiceError if the lookup fails, and JournalUnavailable if the
   * journal fails.
   * @param minCreatedAt time in ms since 1970; a payment created earlier is a mismatch. Default: the start of the
   * attempt. Pass it only if the journal may have lost the attempt. Ignored for payouts: the service returns no
   * creation time for them.
   */
  find(attempt: AttemptFields, minCreatedAt?: number): Promise<MatchResult<T>>;
  /**
   * Looks up a transaction on the attempt's channel that exists according to the journal. Returns whether it was found;
   * true if the journal knows none. After false, a 404 for another transaction does not prove that it is absent.
   */
  canFindKnownTransaction(attempt: AttemptFields): Promise<boolean>;
  /** Returns the transaction of a succeeded attempt from a lookup or, if that fails or finds none, from the journal. */
  lookUpOrReadFromJournal(attempt: Attempt): Promise<T>;
}

/** Tolerance in ms for times from a Date header, which has whole seconds only and takes time to arrive. */
const DATE_HEADER_TOLERANCE_MS = 1500;
/**
 * Tolerated difference in ms between the clocks of the journal and the service. Used if `minCreatedAt` is given, or if
 * neither `serviceStartedAt` of the attempt nor the Date header of the lookup is known.
 */
const CLOCK_SKEW_TOLERANCE_MS = 5000;

const foundUnlessRival = async <T>(
  journal: Pick<Journal, 'hasRival'>,
  attempt: AttemptFields,
  transaction: T,
): Promise<MatchResult<T>> =>
  (await journal.hasRival(attempt)) ? { kind: 'mismatch', reason: 'rival' } : { kind: 'found', transaction };

/** Finds payments by external id, creation time, method and amount. */
export class PaymentMatcher implements TransactionMatcher<PaymentResource> {
  readonly kind = 'payment';

  /**
   * @param keepMs time in ms for which the journal keeps attempts with a final outcome
   * @param requestSecrets values of the request, such as the card number, that are redacted in responses
   */
  constructor(
    private readonly payments: PaymentsApi,
    private readonly journalSession: JournalSession,
    private readonly keepMs: number,
    private readonly requestSecrets: readonly string[] = [],
  ) {}

  async find(attempt: AttemptFields, minCreatedAt?: number): Promise<MatchResult<PaymentResource>> {
    const { channel, externalId } = attempt;
    const { journal, serviceName } = this.journalSession;
    const { transaction: payment, isFromService } = await this.payments.lookUpWithResponseOrigin({
      channel,
      externalId,
      secrets: this.requestSecrets,
    });
    if (!payment) return { kind: 'nothing', isFromService };
    const isNewEnough =
      minCreatedAt === undefined
        ? this.#isCreatedAfterStart(payment, attempt)
        : !(creationTimeMs(payment) < minCreatedAt - CLOCK_SKEW_TOLERANCE_MS);
    if (!isNewEnough) return { kind: 'mismatch', reason: 'older' };
    const creatingAttempt = await journal.findByTransaction(serviceName, 'payment', payment.transactionId);
    const isCreatedByOtherAttempt = creatingAttempt
      ? creatingAttempt.id !== attempt.id
      : this.#mayHavePurgedCreator(attempt);
    if (isCreatedByOtherAttempt) return { kind: 'mismatch', reason: 'created_by_another' };
    if (!matchesAttempt(payment, attempt)) return { kind: 'mismatch' };
    if (creatingAttempt) return { kind: 'found', transaction: payment };
    return foundUnlessRival(journal, attempt, payment);
  }

  async canFindKnownTransaction(attempt: AttemptFields): Promise<boolean> {
    const { channel } = attempt;
    const transactionId = await this.journalSession.journal.findSucceededOnChannel(attempt);
    return transactionId === null || (await this.payments.lookUp({ channel, transactionId })) !== null;
  }

  async lookUpOrReadFromJournal(attempt: Attempt): Promise<PaymentResource> {
    const { requestSecrets } = this;
    const { channel, transactionId } = attempt;
    const payment = transactionId
      ? await this.payments.lookUp({ channel, transactionId, secrets: requestSecrets }).catch(() => null)
      : null;
    if (payment) return Object.assign(payment, { externalId: attempt.externalId });
    return this.payments.resourceFromJournal(transactionId ?? '', attempt.wireStatus ?? '', {
      channel,
      externalId: attempt.externalId,
      definition: findPaymentMethod(attempt.method),
      amount: attempt,
      secrets: requestSecrets,
    });
  }

  /** Whether this attempt is so old that the journal may have purged a later attempt that created the payment. */
  #mayHavePurgedCreator({ startedAt }: AttemptFields): boolean {
    return this.journalSession.clock.now() - startedAt > this.keepMs;
  }

  /**
   * Whether a payment was created after the attempt began; false if that is not known. An older payment can have the
   * same external id.
   */
  #isCreatedAfterStart(payment: PaymentResource, { startedAt, serviceStartedAt }: AttemptFields): boolean {
    const { dateHeaderMs } = payment;
    const createdAt = creationTimeMs(payment);
    if (serviceStartedAt !== null) return createdAt >= serviceStartedAt - DATE_HEADER_TOLERANCE_MS;
    const sinceStartMs = this.journalSession.clock.elapsedSince(startedAt);
    if (sinceStartMs === undefined) return false;
    if (dateHeaderMs === undefined) return createdAt >= startedAt - CLOCK_SKEW_TOLERANCE_MS;
    return createdAt >= dateHeaderMs - sinceStartMs - DATE_HEADER_TOLERANCE_MS;
  }
}

/** Whether a payment has the method and amount of the attempt. The service client has compared the channel already. */
function matchesAttempt(payment: PaymentResource, attempt: AttemptFields): boolean {
  const amount = presentOrNull(payment.amount);
  return (
    payment.wireType === attempt.method &&
    amount?.currency === attempt.currency &&
    normalizeDecimal(amount.value) === attempt.value
  );
}

/** Returns what the journal knows of an attempt's payout. The service returns hardly any of it. */
export const knownPayoutFromJournal = (attempt: AttemptFields): KnownPayout => ({
  channel: attempt.channel,
  externalId: attempt.externalId,
  definition: findPayoutMethod(attempt.method),
  wireType: attempt.method,
  amount: attempt,
  publicDetails: JSON.parse(attempt.publicDetails) as object,
});

/**
 * Finds payouts by external id and method, because the service returns neither amount nor creation time. An external id
 * from the gateway belongs to one idempotency key. For an external id from the caller, a lookup before the create has
 * shown that no older payout has it: the preflight (unless PAYOUT_PREFLIGHT is off) or, while the fence is up, the
 * lookup for a lost attempt.
 */
export class PayoutMatcher implements TransactionMatcher<PayoutResource> {
  readonly kind = 'payout';

  /** @param requestSecrets values of the request that are redacted in responses */
  constructor(
    private readonly payouts: PayoutsApi,
    private readonly journalSession: JournalSession,
    private readonly requestSecrets: readonly string[] = [],
  ) {}

  async find(attempt: AttemptFields): Promise<MatchResult<PayoutResource>> {
    const { channel, externalId } = attempt;
    const knownPayout = { ...knownPayoutFromJournal(attempt), isFromUnprovenAttempt: true };
    const lookupKey = { channel, externalId, amount: attempt, secrets: this.requestSecrets };
    const lookupResult = await this.payouts.lookUpWithResponseOrigin(lookupKey, () => knownPayout);
    const { transaction: payout, isFromService } = lookupResult;
    if (!payout) return { kind: 'nothing', isFromService };
    if (payout.wireType !== attempt.method) return { kind: 'mismatch' };
    const { journal, serviceName } = this.journalSession;
    const creatingAttempt = await journal.findByTransaction(serviceName, 'payout', payout.transactionId);
    if (!creatingAttempt) return foundUnlessRival(journal, attempt, payout);
    return creatingAttempt.id === attempt.id ? { kind: 'found', transaction: payout } : { kind: 'mismatch' };
  }

  async canFindKnownTransaction(attempt: AttemptFields): Promise<boolean> {
    const { channel } = attempt;
    const transactionId = await this.journalSession.journal.findSucceededOnChannel(attempt);
    if (transactionId === null) return true;
    const knownPayout = { channel, mayLackCreateDetails: true };
    return (await this.payouts.lookUp({ channel, transactionId }, () => knownPayout)) !== null;
  }

  async lookUpOrReadFromJournal(attempt: Attempt): Promise<PayoutResource> {
    const { requestSecrets } = this;
    const { channel, transactionId, wireStatus } = attempt;
    const knownPayout = knownPayoutFromJournal(attempt);
    const payout = transactionId
      ? await this.payouts
          .lookUp({ channel, transactionId, secrets: requestSecrets }, () => knownPayout)
          .catch(() => null)
      : null;
    return payout ?? this.payouts.resourceFromJournal(transactionId ?? '', wireStatus ?? '', knownPayout);
  }
}
