import { setTimeout as sleep } from 'node:timers/promises';
import { PayoutsDocument, type PayoutFieldsFragment } from '@paygraph/client';
import { GatewayError, type Gateway } from './gateway.ts';

/** Maximum number of payouts in one lookup. */
const AT_ONCE = 100;
const PACE_MS = 1000;

const isFinal = ({ status }: PayoutFieldsFragment): boolean => status === 'COMPLETED' || status === 'FAILED';

/**
 * Polls payouts until all of them are final, or the time is over. Returns the newest state of each by transaction id.
 * @param waitMs how long to wait, in milliseconds
 */
export async function settled(
  gateway: Gateway,
  payouts: PayoutFieldsFragment[],
  waitMs: number,
): Promise<Map<string, PayoutFieldsFragment>> {
  const newest = new Map(payouts.map((payout) => [payout.transactionId, payout]));
  const giveUpAt = Date.now() + waitMs;
  for (;;) {
    const open = [...newest.values()].filter((payout) => !isFinal(payout)).slice(0, AT_ONCE);
    if (open.length === 0 || Date.now() + PACE_MS > giveUpAt) return newest;
    await sleep(PACE_MS);
    for (const payout of await look(gateway, open)) newest.set(payout.transactionId, payout);
  }
}

/** Returns the current states; empty if the lookup fails, because another poll may follow. */
async function look(gateway: Gateway, open: PayoutFieldsFragment[]): Promise<PayoutFieldsFragment[]> {
  const [{ channel }] = open as [PayoutFieldsFragment];
  const transactionIds = open.map(({ transactionId }) => transactionId);
  try {
    const { payouts } = await gateway.ask(PayoutsDocument, { channel, transactionIds });
    return payouts.filter((payout) => payout !== null);
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}
