import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { uuidIn } from './expectations';
import type { Resource, Service } from './service';
import type { WireObject } from './wire';

export const RETURN_URL = 'https://shop.example/return?order=1&from=pay';
export const CALLBACK_URL = 'http://127.0.0.1:9/notify';
export const PAN = '4111111111111111';
export const CVC = '739';

export type Flow = 'redirect' | 'direct';

/** One payment method of spec 2.5. */
export interface PaymentSample {
  currency: string;
  /** The payment_method fields beside `type`, by flow. Absent: the method has no such flow. */
  redirect?: WireObject;
  direct?: WireObject;
}

/** One payout method of spec 2.8. */
export interface PayoutSample {
  currency: string;
  required: WireObject;
  optional?: WireObject;
}

const nextYears = String(new Date().getUTCFullYear() + 3);
const wallet: PaymentSample = {
  currency: 'BDT',
  redirect: {},
  direct: { first_name: 'Rahim', surname: 'Uddin', phone: '+8801712345678', email: 'rahim@example.com' },
};
const virtualAccount = { bank_code: 'bca', account_number: '1234567890' };

export const PAYMENTS = {
  card: {
    currency: 'EUR',
    redirect: {},
    direct: {
      pan: PAN,
      expiry_month: '12',
      expiry_year: nextYears,
      cvc: CVC,
      cardholder: 'JANE DOE',
      email: 'jane@example.com',
      phone: '+4915112345678',
      address: 'Hauptstrasse 1, 10115 Berlin',
      birth_date: '1990-04-01',
    },
  },
  upi: {
    currency: 'INR',
    redirect: {},
    direct: { email: 'asha@example.com', first_name: 'Asha', last_name: 'Rao', phone: '919812345678' },
  },
  dcb: {
    currency: 'KZT',
    redirect: { user_id: 'user-17' },
    direct: { user_id: 'user-17', phone: '+77011234567', first_name: 'Aigerim', last_name: 'Omarova' },
  },
  jazz_cash: { currency: 'PKR', redirect: {}, direct: { account: '03001234567' } },
  easy_paisa: { currency: 'PKR', redirect: {}, direct: { account: '03451234567' } },
  virtual_account: { currency: 'IDR', redirect: virtualAccount, direct: virtualAccount },
  qris: { currency: 'IDR', redirect: {}, direct: {} },
  ewallet: { currency: 'IDR', redirect: { ewallet: 'ovo' } },
  c2c: {
    currency: 'KZT',
    redirect: {},
    direct: {
      first_name: 'Daniyar',
      surname: 'Akhmetov',
      email: 'daniyar@example.com',
      card_mask: '4400********1234',
    },
  },
  bkash: wallet,
  nagad: wallet,
  rocket: wallet,
  scheme: { currency: 'EUR', redirect: {} },
} satisfies Record<string, PaymentSample>;

export type PaymentType = keyof typeof PAYMENTS;

const numbered: WireObject = { account_number: '01712345678' };

export const PAYOUTS = {
  bank_transfer: {
    currency: 'EUR',
    required: {
      bank_code: 'DEUTDEFF',
      bank_name: 'Deutsche Bank',
      account_number: '532013000',
      first_name: 'Jane',
      last_name: 'Doe',
    },
    optional: {
      iban: 'DE89370400440532013000',
      branch_code: '100',
      phone: '+4915112345678',
      email: 'jane@example.com',
    },
  },
  imps: {
    currency: 'INR',
    required: {
      bank_code: 'HDFC0000123',
      first_name: 'Asha',
      last_name: 'Rao',
      phone: '+919812345678',
      email: 'asha@example.com',
      account_number: '50100012345678',
    },
  },
  easy_paisa: { currency: 'PKR', required: { account_number: '03451234567' } },
  jazz_cash: { currency: 'PKR', required: { account_number: '03001234567' } },
  dcb: {
    currency: 'KZT',
    required: { phone: '+77011234567', first_name: 'Aigerim', last_name: 'Omarova' },
  },
  bkash: { currency: 'BDT', required: numbered },
  nagad: { currency: 'BDT', required: numbered },
  rocket: { currency: 'BDT', required: numbered },
  card: { currency: 'KZT', required: { pan: PAN } },
  scheme: { currency: 'EUR', required: {} },
} satisfies Record<string, PayoutSample>;

export type PayoutType = keyof typeof PAYOUTS;

/** A good create request of the method; `fields` stand in for its sample fields. */
export function paymentRequest(
  service: Service,
  type: PaymentType,
  { flow = 'redirect', value = '25.00', fields }: { flow?: Flow; value?: string; fields?: WireObject } = {},
): WireObject {
  const sample: PaymentSample = PAYMENTS[type];
  const method = fields ?? sample[flow];
  assert(method, `${type} has no ${flow} flow`);
  return {
    channel: service.channel,
    amount: { currency: sample.currency, value },
    external_id: `order-${randomUUID()}`,
    payment_method: { type, ...method },
    return_url: RETURN_URL,
  };
}

export function payoutRequest(
  service: Service,
  type: PayoutType,
  { value = '25.00', fields }: { value?: string; fields?: WireObject } = {},
): WireObject {
  const sample: PayoutSample = PAYOUTS[type];
  return {
    channel: service.channel,
    amount: { currency: sample.currency, value },
    external_id: `payout-${randomUUID()}`,
    payout_method: { type, ...(fields ?? sample.required) },
  };
}

/** A good create request of the resource under this external id. */
export function named(service: Service, resource: Resource, externalId: string): WireObject {
  const request =
    resource === 'payment' ? paymentRequest(service, 'card') : payoutRequest(service, 'jazz_cash');
  return { ...request, external_id: externalId };
}

/** The answer to a create that has to succeed. */
export async function created(
  service: Service,
  resource: Resource,
  body: WireObject,
): Promise<WireObject & { transaction_id: string }> {
  const answer = (await service.create(resource, body)).having(201).body();
  return { ...answer, transaction_id: uuidIn(answer, 'transaction_id') };
}

export function without(object: WireObject, field: string): WireObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field));
}
