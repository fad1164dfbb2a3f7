import type { CreatePaymentInput } from '@paygraph/client';

/** The order of this tab and its progress. */
export interface Order {
  /**
   * The idempotency key: one for each order, made before anything is sent. However often the order is sent with it, after
   * a reload or a lost answer, there is one payment. A shop takes it from its own order, so that two tabs share it.
   */
  key: string;
  /** The input that is sent, until it is certain that it created nothing. */
  input?: CreatePaymentInput;
  /** The payment, once it is known. */
  transactionId?: string;
}

/** In the tab's own storage: it outlives a reload and the way to the hosted page and back, and nothing else. */
const PLACE = 'order';

export function keep(order: Order): Order {
  sessionStorage.setItem(PLACE, JSON.stringify(order));
  return order;
}

export const newOrder = (): Order => keep({ key: `checkout-${crypto.randomUUID()}` });

export function currentOrder(): Order {
  const kept = sessionStorage.getItem(PLACE);
  return kept === null ? newOrder() : (JSON.parse(kept) as Order);
}
