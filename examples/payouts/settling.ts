import { setTimeout as sleep } from 'node:timers/promises';
import { PayoutsDocument, type PayoutFieldsFragment } from '@paygraph/client';
import { GatewayError, type Gateway } from './gateway.ts';

/** Maximum number of payouts in one lookup. */
const LOOKUP_SIZE = 100;
const POLL_INTERVAL_MS = 1000;

const isFinal = ({ status }: PayoutFieldsFragment): boolean => status === 'COMPLETED' || status === 'FAILED';

/**
 * Polls payouts until all of them are final, or the time is over. Returns the newest state of each by transaction id.
 * @param waitMs how long to wait, in milliseconds
 */
export async function pollUntilFinal(
  gateway: Gateway,
  payouts: PayoutFieldsFragment[],
  waitMs: number,
): Promise<Map<string, PayoutFieldsFragment>> {
  const payoutById = new Map(payouts.map((payout) => [payout.transactionId, payout]));
  const giveUpAt = Date.now() + waitMs;
  for (;;) {
    const openPayouts = [...payoutById.values()].filter((payout) => !isFinal(payout)).slice(0, LOOKUP_SIZE);
    if (openPayouts.length === 0 || Date.now() + POLL_INTERVAL_MS > giveUpAt) return payoutById;
    await sleep(POLL_INTERVAL_MS);
    for (const payout of await lookUp(gateway, openPayouts)) payoutById.set(payout.transactionId, payout);
  }
}

/** Returns the current states; empty if the lookup fails, because another poll may follow. */
async function lookUp(gateway: Gateway, open: PayoutFieldsFragment[]): Promise<PayoutFieldsFragment[]> {
  const [{ channel }] = open as [PayoutFieldsFragment];
  const transactionIds = open.map(({ transactionId }) => transactionId);
  try {
    const { payouts } = await gateway.execute(PayoutsDocument, { channel, transactionIds });
    return payouts.filter((payout) => payout !== null);
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}
