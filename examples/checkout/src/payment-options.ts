import type { CreatePaymentInput, PaymentMethodInput } from '@paygraph/client';
import { CHANNEL } from './gateway.ts';
import type { Order } from './order.ts';

/** A payment method that the shop offers. */
interface PaymentOption {
  label: string;
  hint: string;
  /** The currency of the method. */
  currency: string;
  /** Whether the form asks for a phone number. */
  asksPhone?: boolean;
  method(phone: string): PaymentMethodInput;
}

export const PAYMENT_OPTIONS = {
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
} satisfies Record<string, PaymentOption>;

export type OptionName = keyof typeof PAYMENT_OPTIONS;
export const paymentOptionOf = (name: OptionName): PaymentOption => PAYMENT_OPTIONS[name];

/** Returns the option of an input, found by its currency, which differs for each; by default the card. */
export function selectedOption(input?: CreatePaymentInput): OptionName {
  const names = Object.keys(PAYMENT_OPTIONS) as OptionName[];
  return names.find((name) => PAYMENT_OPTIONS[name].currency === input?.amount.currency) ?? 'card';
}

/** Pattern of amounts: digits with at most two decimals. The gateway also requires more than zero. */
export const AMOUNT_PATTERN = '[0-9]{1,13}(\\.[0-9]{1,2})?';

/** Returns the createPayment input of an order. */
export function createPaymentInputOf(
  order: Order,
  optionName: OptionName,
  fields: { value: string; phone: string },
): CreatePaymentInput {
  const { currency, method } = paymentOptionOf(optionName);
  return {
    idempotencyKey: order.idempotencyKey,
    externalId: order.idempotencyKey,
    channel: CHANNEL,
    amount: { currency, value: fields.value },
    method: method(fields.phone),
    // The payer comes back to this page in the same tab, in which the order is stored.
    returnUrl: `${location.origin}/`,
  };
}
