import type { Attempt } from '../../datasources/journal/journal';
import type { KnownPayout, PayoutService } from '../../datasources/payment-service/payouts';
import { payoutRoomOf } from '../../schema/methods';
import type { PayoutResource } from '../../schema/payout';
import type { TransactionMatcher, LookupMatch } from './transaction-matcher';
import type { JournalSession } from '../journal-session';

/** What the journal knows of a payout that the service never sends back. */
export const knownFromJournal = (attempt: Attempt): KnownPayout => ({
  channel: attempt.channel,
  externalId: attempt.externalId,
  room: payoutRoomOf(attempt.method),
  type: attempt.method,
  amount: attempt,
  shown: JSON.parse(attempt.publicDetails) as object,
});

/** Finds payouts again. The service shows neither amount nor time of a payout: the lookup before the first sending made sure that a later hit is ours. */
export class PayoutMatcher implements TransactionMatcher<PayoutResource> {
  readonly kind = 'payout';

  constructor(
    private readonly payouts: PayoutService,
    private readonly hand: JournalSession,
    private readonly secrets: readonly string[] = [],
  ) {}

  withRedaction(secrets: readonly string[]): PayoutMatcher {
    return new PayoutMatcher(this.payouts, this.hand, secrets);
  }

  async find(attempt: Attempt): Promise<LookupMatch<PayoutResource>> {
    const { channel, externalId } = attempt;
    const known = knownFromJournal(attempt);
    const key = { channel, externalId, amount: attempt, secrets: this.secrets };
    const { found: hit, isOwn } = await this.payouts.search(key, () => known);
    if (!hit) return { kind: 'nothing', isOwn };
    if (hit.wireType !== attempt.method) return { kind: 'other' };
    const holder = await this.hand.journal.findByTransaction(this.hand.service, 'payout', hit.transactionId);
    return holder && holder.id !== attempt.id ? { kind: 'other' } : { kind: 'found', found: hit };
  }

  /** A payout that is not found proves nothing, so nobody asks. */
  async showsKnown(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async current(attempt: Attempt): Promise<PayoutResource> {
    const { channel, transactionId, status } = attempt;
    const known = knownFromJournal(attempt);
    const now = transactionId
      ? await this.payouts
          .lookUp({ channel, transactionId, secrets: this.secrets }, () => known)
          .catch(() => null)
      : null;
    return now ?? this.payouts.remembered(transactionId ?? '', status ?? '', known);
  }
}
