import type { Attempt } from '../../datasources/journal/journal';
import type { PaymentService } from '../../datasources/payment-service/payments';
import { paymentMethodByType } from '../../schema/methods';
import type { PaymentResource } from '../../schema/payment';
import { normalizeDecimal } from '../../schema/scalars';
import { valueOrNull } from '../../schema/lazy-field';
import type { TransactionMatcher, LookupMatch } from './transaction-matcher';
import type { JournalSession } from '../journal-session';

/** A Date header has whole seconds only, plus the transfer time of the response. */
const CLOCK_GRAIN_MS = 1500;
/** Assumed clock skew when the service sends no Date header. */
const UNKNOWN_SKEW_MS = 5000;

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

  async find(attempt: Attempt): Promise<LookupMatch<PaymentResource>> {
    const { secrets } = this;
    const { channel, externalId } = attempt;
    const { journal, service } = this.session;
    const { found, isOwn } = await this.payments.search({ channel, externalId, secrets });
    if (!found) return { kind: 'nothing', isOwn };
    if (!matchesAttempt(found, attempt) || !this.#createdSince(found, attempt)) return { kind: 'mismatch' };
    const holder = await journal.findByTransaction(service, 'payment', found.transactionId);
    if (holder) return holder.id === attempt.id ? { kind: 'found', found } : { kind: 'mismatch' };
    // A rival attempt without a recorded outcome may have created it.
    return (await journal.hasRival(attempt)) ? { kind: 'mismatch' } : { kind: 'found', found };
  }

  async showsKnown(attempt: Attempt): Promise<boolean> {
    const { channel } = attempt;
    const transactionId = await this.session.journal.createdBeside(attempt);
    return transactionId === null || (await this.payments.lookUp({ channel, transactionId })) !== null;
  }

  async current(attempt: Attempt): Promise<PaymentResource> {
    const { secrets } = this;
    const { channel, transactionId } = attempt;
    const now = transactionId
      ? await this.payments.lookUp({ channel, transactionId, secrets }).catch(() => null)
      : null;
    if (now) return Object.assign(now, { externalId: attempt.externalId });
    return this.payments.remembered({
      channel,
      transactionId: transactionId ?? '',
      status: attempt.status ?? '',
      externalId: attempt.externalId,
      definition: paymentMethodByType(attempt.method),
      amount: attempt,
      secrets,
    });
  }

  /** External ids are reused: a payment older than the attempt is another one. Compared by the service's own clock. */
  #createdSince(
    { createDate, serviceTime }: PaymentResource,
    { startedAt, serviceStartedAt }: Attempt,
  ): boolean {
    const created = Date.parse(valueOrNull(createDate) ?? '');
    if (serviceStartedAt !== null) return created >= serviceStartedAt - CLOCK_GRAIN_MS;
    const elapsed = this.session.clock.since(startedAt);
    if (elapsed === undefined) return false;
    if (serviceTime === undefined) return created >= startedAt - UNKNOWN_SKEW_MS;
    return created >= serviceTime - elapsed - CLOCK_GRAIN_MS;
  }
}

/** Whether method and amount are those of the attempt; the client has compared the channel. */
function matchesAttempt(payment: PaymentResource, attempt: Attempt): boolean {
  const amount = valueOrNull(payment.amount);
  return (
    payment.wireType === attempt.method &&
    amount?.currency === attempt.currency &&
    normalizeDecimal(amount.value) === attempt.value
  );
}
