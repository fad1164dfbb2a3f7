import type { Attempt } from '../../datasources/journal/journal';
import type { PaymentService } from '../../datasources/payment-service/payments';
import { paymentMethodByType } from '../../schema/methods';
import type { PaymentResource } from '../../schema/payment';
import { normalizeDecimal } from '../../schema/scalars';
import { valueOrNull } from '../../schema/lazy-field';
import type { TransactionMatcher, LookupMatch } from './transaction-matcher';
import type { JournalSession } from '../journal-session';

/** Tolerance in ms: a Date header has whole seconds only, and its response needs time to arrive. */
const DATE_TOLERANCE_MS = 1500;
/** Clock skew in ms that is tolerated if the service sends no Date header. */
const MAX_UNKNOWN_SKEW_MS = 5000;

export class PaymentMatcher implements TransactionMatcher<PaymentResource> {
  readonly kind = 'payment';

  constructor(
    private readonly payments: PaymentService,
    private readonly session: JournalSession,
    private readonly secrets: readonly string[] = [],
  ) {}

  withRedaction(secrets: readonly string[]): PaymentMatcher {
    return new PaymentMatcher(this.payments, this.session, secrets);
  }

  async find(attempt: Attempt, createdFrom?: number): Promise<LookupMatch<PaymentResource>> {
    const { secrets } = this;
    const { channel, externalId } = attempt;
    const { journal, service } = this.session;
    const { found, isOwn } = await this.payments.search({ channel, externalId, secrets });
    if (!found) return { kind: 'nothing', isOwn };
    const isRecent =
      createdFrom === undefined
        ? this.#createdSince(found, attempt)
        : !(creationTime(found) < createdFrom - MAX_UNKNOWN_SKEW_MS);
    if (!isRecent) return { kind: 'mismatch', why: 'older' };
    const holder = await journal.findByTransaction(service, 'payment', found.transactionId);
    if (holder && holder.id !== attempt.id) return { kind: 'mismatch', why: 'created_by_another' };
    if (!matchesAttempt(found, attempt)) return { kind: 'mismatch' };
    if (holder) return { kind: 'found', found };
    return (await journal.hasRival(attempt)) ? { kind: 'mismatch', why: 'rival' } : { kind: 'found', found };
  }

  async findsKnownTransaction(attempt: Attempt): Promise<boolean> {
    const { channel } = attempt;
    const transactionId = await this.session.journal.findSucceededOnChannel(attempt);
    return transactionId === null || (await this.payments.lookUp({ channel, transactionId })) !== null;
  }

  async current(attempt: Attempt): Promise<PaymentResource> {
    const { secrets } = this;
    const { channel, transactionId } = attempt;
    const now = transactionId
      ? await this.payments.lookUp({ channel, transactionId, secrets }).catch(() => null)
      : null;
    if (now) return Object.assign(now, { externalId: attempt.externalId });
    return this.payments.fromJournal({
      channel,
      transactionId: transactionId ?? '',
      status: attempt.status ?? '',
      externalId: attempt.externalId,
      definition: paymentMethodByType(attempt.method),
      amount: attempt,
      secrets,
    });
  }

  /** Whether a payment is not older than the attempt: an older one may have the same external id, as ids are reused. */
  #createdSince(payment: PaymentResource, { startedAt, serviceStartedAt }: Attempt): boolean {
    const { serviceTime } = payment;
    const created = creationTime(payment);
    if (serviceStartedAt !== null) return created >= serviceStartedAt - DATE_TOLERANCE_MS;
    const elapsed = this.session.clock.elapsedSince(startedAt);
    if (elapsed === undefined) return false;
    if (serviceTime === undefined) return created >= startedAt - MAX_UNKNOWN_SKEW_MS;
    return created >= serviceTime - elapsed - DATE_TOLERANCE_MS;
  }
}

/** In ms since 1970 by the service's clock; NaN if the service does not show it. */
const creationTime = ({ createDate }: PaymentResource): number => Date.parse(valueOrNull(createDate) ?? '');

/** Whether method and amount are those of the attempt. The service client has already compared the channel. */
function matchesAttempt(payment: PaymentResource, attempt: Attempt): boolean {
  const amount = valueOrNull(payment.amount);
  return (
    payment.wireType === attempt.method &&
    amount?.currency === attempt.currency &&
    normalizeDecimal(amount.value) === attempt.value
  );
}
