import type { Attempt } from '../datasources/journal/journal';
import type { PaymentService } from '../datasources/service/payments';
import { paymentRoomOf } from '../schema/methods';
import type { PaymentResource } from '../schema/payment';
import { normalizeDecimal } from '../schema/scalars';
import { known } from '../schema/service-field';
import type { Finder, Hit } from './finder';
import type { JournalHand } from './journal-hand';

/** A Date header knows whole seconds only, and the answer was some time on its way. */
const CLOCK_GRAIN_MS = 1500;
/** Where the service says nothing of its clock, it may be this far behind ours. */
const UNKNOWN_SKEW_MS = 5000;

/** Finds payments again. */
export class PaymentFinder implements Finder<PaymentResource> {
  readonly kind = 'payment';

  constructor(
    private readonly payments: PaymentService,
    private readonly hand: JournalHand,
    private readonly secrets: readonly string[] = [],
  ) {}

  knowing(secrets: readonly string[]): PaymentFinder {
    return new PaymentFinder(this.payments, this.hand, secrets);
  }

  async find(attempt: Attempt): Promise<Hit<PaymentResource>> {
    const { secrets } = this;
    const { channel, externalId } = attempt;
    const hit = await this.payments.lookUp({ channel, externalId, secrets });
    if (!hit) return { kind: 'nothing' };
    if (!agrees(hit, attempt) || !this.#createdSince(hit, attempt.startedAt)) return { kind: 'other' };
    const holder = await this.hand.journal.findByTransaction(this.hand.service, 'payment', hit.transactionId);
    return holder && holder.id !== attempt.id ? { kind: 'other' } : { kind: 'found', found: hit };
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
  #createdSince({ createDate, serviceTime }: PaymentResource, startedAt: number): boolean {
    const created = Date.parse(known(createDate) ?? '');
    if (serviceTime === undefined) return created >= startedAt - UNKNOWN_SKEW_MS;
    const elapsed = this.hand.clock.now() - startedAt;
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
