import { CreatePaymentDocument, type CreatePaymentInput } from '@paygraph/client';
import { useEffect, useState } from 'react';
import { client } from './gateway.ts';
import { currentOrder, keep, newOrder, type Order } from './order.ts';
import { nothingCreated, retryDelayMs, type Trouble } from './errors.ts';

/** The order of this tab and its actions. */
export interface Checkout {
  order: Order;
  /** Whether a request is in flight. */
  busy: boolean;
  /** Why the last attempt to send has not succeeded; null if it has, or none was made. */
  trouble: Trouble | null;
  pay(input: CreatePaymentInput): void;
  /** Sends the same order again, with the same key. */
  again(): void;
  /** Starts a new order with a new key. */
  startOver(): void;
}

/** Sends an order. Returns the order to keep, and what went wrong. */
async function send(order: Order): Promise<{ order: Order; trouble: Trouble | null }> {
  if (!order.input) return { order, trouble: null };
  const settled = (trouble: Trouble) => ({
    order: nothingCreated(trouble) ? { key: order.key } : order,
    trouble,
  });
  try {
    const { data } = await client.mutate({
      mutation: CreatePaymentDocument,
      variables: { input: order.input },
    });
    if (!data) throw new Error('The response has no data.');
    const { createPayment: result } = data;
    if (result.__typename !== 'PaymentSuccess') return settled({ operation: 'create', failure: result });
    return { order: { ...order, transactionId: result.payment.transactionId }, trouble: null };
  } catch (thrown) {
    return settled({ operation: 'create', thrown });
  }
}

export function useCheckout(): Checkout {
  const [order, setOrder] = useState(currentOrder);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);

  const submit = async (sent: Order): Promise<void> => {
    // Stored before sending, so that a retry after a reload sends the same order.
    setOrder(keep(sent));
    setBusy(true);
    const end = await send(sent);
    setOrder(keep(end.order));
    setTrouble(end.trouble);
    setBusy(false);
  };
  const again = () => void submit(order);

  useEffect(() => {
    // Sends the order again if the page was reloaded while its outcome was unknown.
    if (order.input && !order.transactionId) again();
  }, []);
  useEffect(() => {
    const ms = retryDelayMs(trouble);
    if (ms === null) return;
    const timer = setTimeout(again, ms);
    return () => clearTimeout(timer);
  }, [trouble]);

  return {
    order,
    busy,
    trouble,
    again,
    pay: (input) => void submit({ ...order, input }),
    startOver: () => {
      setTrouble(null);
      setOrder(newOrder());
    },
  };
}
