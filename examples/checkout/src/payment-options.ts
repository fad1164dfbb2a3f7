import type { CreatePaymentInput, PaymentMethodInput } from '@paygraph/client';
import { CHANNEL } from './gateway.ts';
import type { Order } from './order.ts';

/** A way to pay that the shop offers. */
interface Way {
  label: string;
  hint: string;
  /** The currency of the method. */
  currency: string;
  /** Whether the form asks for a phone number. */
  asksPhone?: boolean;
  method(phone: string): PaymentMethodInput;
}

export const WAYS = {
  card: {
    label: 'Card',
    hint: 'You give your card on the page of our payment partner.',
    currency: 'EUR',
    method: () => ({ redirect: 'CARD' }),
  },
  upi: {
    label: 'UPI',
    hint: 'You pay in your UPI app, and tell us the reference number.',
    currency: 'INR',
    asksPhone: true,
    method: (phone) => ({ upi: { phone } }),
  },
  qris: {
    label: 'QRIS',
    hint: 'You scan a QR code with your banking app or wallet.',
    currency: 'IDR',
    method: () => ({ redirect: 'QRIS' }),
  },
} satisfies Record<string, Way>;

export type WayName = keyof typeof WAYS;
export const wayOf = (name: WayName): Way => WAYS[name];

/** Returns the option of an input, found by its currency, which differs for each; by default the card. */
export function selectedWay(input?: CreatePaymentInput): WayName {
  const names = Object.keys(WAYS) as WayName[];
  return names.find((name) => WAYS[name].currency === input?.amount.currency) ?? 'card';
}

/** Pattern of amounts: digits with at most two decimals. The gateway also requires more than zero. */
export const AMOUNT = '[0-9]{1,13}(\\.[0-9]{1,2})?';

/** Returns the createPayment input of an order. */
export function inputOf(
  order: Order,
  way: WayName,
  fields: { value: string; phone: string },
): CreatePaymentInput {
  const { currency, method } = wayOf(way);
  return {
    idempotencyKey: order.key,
    externalId: order.key,
    channel: CHANNEL,
    amount: { currency, value: fields.value },
    method: method(fields.phone),
    // The payer comes back to this page in the same tab, in which the order is stored.
    returnUrl: `${location.origin}/`,
  };
}
