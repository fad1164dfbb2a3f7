import { CreatePaymentDocument, type CreatePaymentInput } from '@paygraph/client';
import { useEffect, useState } from 'react';
import { client } from './gateway.ts';
import { currentOrder, newOrder, storeOrder, type Order } from './order.ts';
import { hasCreatedNothing, retryDelayMs, type Trouble } from './errors.ts';

/** The order of this tab and its actions. */
export interface Checkout {
  order: Order;
  /** Whether a request is in flight. */
  isBusy: boolean;
  /** Failure of the last attempt to send; null if it succeeded, or if nothing was sent. */
  trouble: Trouble | null;
  pay(input: CreatePaymentInput): void;
  /** Sends the same order again, with the same key. */
  resend(): void;
  /** Starts a new order with a new key. */
  startOver(): void;
}

/** Sends an order. Returns the order to store, and the failure. */
async function sendOrder(order: Order): Promise<{ order: Order; trouble: Trouble | null }> {
  if (!order.input) return { order, trouble: null };
  const failedWith = (trouble: Trouble) => ({
    order: hasCreatedNothing(trouble) ? { idempotencyKey: order.idempotencyKey } : order,
    trouble,
  });
  try {
    const { data } = await client.mutate({
      mutation: CreatePaymentDocument,
      variables: { input: order.input },
    });
    if (!data) throw new Error('The response has no data.');
    const { createPayment: result } = data;
    if (result.__typename !== 'PaymentSuccess') return failedWith({ operation: 'create', failure: result });
    return { order: { ...order, transactionId: result.payment.transactionId }, trouble: null };
  } catch (thrown) {
    return failedWith({ operation: 'create', thrown });
  }
}

export function useCheckout(): Checkout {
  const [order, setOrder] = useState(currentOrder);
  const [isBusy, setIsBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);

  const submit = async (submittedOrder: Order): Promise<void> => {
    // Stored before sending, so that a retry after a reload sends the same order.
    setOrder(storeOrder(submittedOrder));
    setIsBusy(true);
    const result = await sendOrder(submittedOrder);
    setOrder(storeOrder(result.order));
    setTrouble(result.trouble);
    setIsBusy(false);
  };
  const resend = () => void submit(order);

  useEffect(() => {
    // Sends the order again if the page was reloaded while its outcome was unknown.
    if (order.input && !order.transactionId) resend();
  }, []);
  useEffect(() => {
    const delayMs = retryDelayMs(trouble);
    if (delayMs === null) return;
    const timer = setTimeout(resend, delayMs);
    return () => clearTimeout(timer);
  }, [trouble]);

  return {
    order,
    isBusy,
    trouble,
    resend,
    pay: (input) => void submit({ ...order, input }),
    startOver: () => {
      setTrouble(null);
      setOrder(newOrder());
    },
  };
}
