import type { Attempt } from '../../datasources/journal/journal';
import type { KnownPayout, PayoutService } from '../../datasources/payment-service/payouts';
import { payoutMethodByType } from '../../schema/methods';
import type { PayoutResource } from '../../schema/payout';
import type { TransactionMatcher, LookupMatch } from './transaction-matcher';
import type { JournalSession } from '../journal-session';

/** Returns the details of a payout that only the journal has, because the service never returns them. */
export const knownFromJournal = (attempt: Attempt): KnownPayout => ({
  channel: attempt.channel,
  externalId: attempt.externalId,
  definition: payoutMethodByType(attempt.method),
  type: attempt.method,
  amount: attempt,
  publicDetails: JSON.parse(attempt.publicDetails) as object,
});

/**
 * Finds payouts by external id and method only, because the service returns neither amount nor time of a payout. The
 * preflight lookup ensures that a payout found later was created by the attempt.
 */
export class PayoutMatcher implements TransactionMatcher<PayoutResource> {
  readonly kind = 'payout';

  constructor(
    private readonly payouts: PayoutService,
    private readonly session: JournalSession,
    private readonly secrets: readonly string[] = [],
  ) {}

  withRedaction(secrets: readonly string[]): PayoutMatcher {
    return new PayoutMatcher(this.payouts, this.session, secrets);
  }

  async find(attempt: Attempt): Promise<LookupMatch<PayoutResource>> {
    const { channel, externalId } = attempt;
    const known = knownFromJournal(attempt);
    const key = { channel, externalId, amount: attempt, secrets: this.secrets };
    const { found, isOwn } = await this.payouts.search(key, () => known);
    if (!found) return { kind: 'nothing', isOwn };
    if (found.wireType !== attempt.method) return { kind: 'mismatch' };
    const holder = await this.session.journal.findByTransaction(
      this.session.service,
      'payout',
      found.transactionId,
    );
    return holder && holder.id !== attempt.id ? { kind: 'mismatch' } : { kind: 'found', found };
  }

  /** Returns true without a check, because the absence of a payout never counts as evidence. */
  async findsKnownTransaction(): Promise<boolean> {
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
    return now ?? this.payouts.fromJournal(transactionId ?? '', status ?? '', known);
  }
}
