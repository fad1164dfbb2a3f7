import type { CreatePaymentInput } from '@paygraph/client';

/** The order of this tab and its progress. */
export interface Order {
  /**
   * The idempotency key, created before anything is sent. However often the order is sent with it, after a reload or a
   * lost response, there is one payment. A shop derives it from its own order, so that two tabs share it.
   */
  idempotencyKey: string;
  /** The input that was sent; removed if it is certain that it created nothing. */
  input?: CreatePaymentInput;
  /** The transaction id of the payment, once it is known. */
  transactionId?: string;
}

/** Key in sessionStorage, which keeps the order of this tab during a reload and a visit to the hosted page. */
const STORAGE_KEY = 'order';

export function storeOrder(order: Order): Order {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(order));
  return order;
}

export const newOrder = (): Order => storeOrder({ idempotencyKey: `checkout-${crypto.randomUUID()}` });

export function currentOrder(): Order {
  const stored = sessionStorage.getItem(STORAGE_KEY);
  return stored === null ? newOrder() : (JSON.parse(stored) as Order);
}
