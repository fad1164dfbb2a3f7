import type { Attempt } from '../../datasources/journal/journal';
import type { PaymentService } from '../../datasources/payment-service/payments';
import { paymentRoomOf } from '../../schema/methods';
import type { PaymentResource } from '../../schema/payment';
import { normalizeDecimal } from '../../schema/scalars';
import { known } from '../../schema/lazy-field';
import type { TransactionMatcher, LookupMatch } from './transaction-matcher';
import type { JournalSession } from '../journal-session';

/** A Date header knows whole seconds only, and the answer was some time on its way. */
const CLOCK_GRAIN_MS = 1500;
/** Where the service says nothing of its clock, it may be this far behind ours. */
const UNKNOWN_SKEW_MS = 5000;

/** Finds payments again. */
export class PaymentMatcher implements TransactionMatcher<PaymentResource> {
  readonly kind = 'payment';

  constructor(
    private readonly payments: PaymentService,
    private readonly hand: JournalSession,
    private readonly secrets: readonly string[] = [],
  ) {}

  withRedaction(secrets: readonly string[]): PaymentMatcher {
    return new PaymentMatcher(this.payments, this.hand, secrets);
  }

  async find(attempt: Attempt): Promise<LookupMatch<PaymentResource>> {
    const { secrets } = this;
    const { channel, externalId } = attempt;
    const { journal, service } = this.hand;
    const { found, isOwn } = await this.payments.search({ channel, externalId, secrets });
    if (!found) return { kind: 'nothing', isOwn };
    if (!agrees(found, attempt) || !this.#createdSince(found, attempt)) return { kind: 'other' };
    const holder = await journal.findByTransaction(service, 'payment', found.transactionId);
    if (holder) return holder.id === attempt.id ? { kind: 'found', found } : { kind: 'other' };
    // Whose outcome is not recorded yet may have created it as well.
    return (await journal.hasRival(attempt)) ? { kind: 'other' } : { kind: 'found', found };
  }

  async showsKnown(attempt: Attempt): Promise<boolean> {
    const { channel } = attempt;
    const transactionId = await this.hand.journal.createdBeside(attempt);
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
      room: paymentRoomOf(attempt.method),
      amount: attempt,
      secrets,
    });
  }

  /** Order numbers are used again: a payment older than the attempt is another one. Measured by the service's own clock. */
  #createdSince(
    { createDate, serviceTime }: PaymentResource,
    { startedAt, serviceStartedAt }: Attempt,
  ): boolean {
    const created = Date.parse(known(createDate) ?? '');
    if (serviceStartedAt !== null) return created >= serviceStartedAt - CLOCK_GRAIN_MS;
    const elapsed = this.hand.clock.since(startedAt);
    if (elapsed === undefined) return false;
    if (serviceTime === undefined) return created >= startedAt - UNKNOWN_SKEW_MS;
    return created >= serviceTime - elapsed - CLOCK_GRAIN_MS;
  }
}

/** Whether a payment is the one that was asked for: method and amount; the channel was compared already. */
function agrees(hit: PaymentResource, attempt: Attempt): boolean {
  const amount = known(hit.amount);
  return (
    hit.wireType === attempt.method &&
    amount?.currency === attempt.currency &&
    normalizeDecimal(amount.value) === attempt.value
  );
}
