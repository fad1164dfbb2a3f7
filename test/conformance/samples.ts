import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { objectIn, uuidIn } from './expectations';
import type { Resource, Service, WireObject } from './service';

export const CALLBACK_URL = 'http://127.0.0.1:9/notify';
export const PAN = '4111111111111111';
export const CVC = '739';

export type Flow = 'redirect' | 'direct';

/** A payment method of spec 2.5: the payment_method fields besides `type`, by flow. */
export interface PaymentSample {
  currency: string;
  /** Undefined if the redirect flow has no fields. */
  redirect?: WireObject;
  /** Undefined if the method has no direct flow. */
  direct?: WireObject;
}

const NAME = { first_name: 'Asha', last_name: 'Rao' };
const EMAIL = 'asha@example.com';
const USER = { user_id: 'user-17' };
const ACCOUNT = { bank_code: 'bca', account_number: '1234567890' };
const PAYER = { first_name: 'Rahim', surname: 'Uddin', email: EMAIL };
const WALLET: PaymentSample = { currency: 'BDT', direct: { ...PAYER, phone: '+8801712345678' } };
const CARD = {
  pan: PAN,
  expiry_month: '12',
  expiry_year: String(new Date().getUTCFullYear() + 3),
  cvc: CVC,
  cardholder: 'JANE DOE',
  email: EMAIL,
  phone: '+4915112345678',
  address: 'Hauptstrasse 1, 10115 Berlin',
  birth_date: '1990-04-01',
};

export const PAYMENTS = {
  card: { currency: 'EUR', direct: CARD },
  upi: { currency: 'INR', direct: { ...NAME, email: EMAIL, phone: '919812345678' } },
  dcb: { currency: 'KZT', redirect: USER, direct: { ...USER, ...NAME, phone: '+77011234567' } },
  jazz_cash: { currency: 'PKR', direct: { account: '03001234567' } },
  easy_paisa: { currency: 'PKR', direct: { account: '03451234567' } },
  virtual_account: { currency: 'IDR', redirect: ACCOUNT, direct: ACCOUNT },
  qris: { currency: 'IDR', direct: {} },
  ewallet: { currency: 'IDR', redirect: { ewallet: 'ovo' } },
  c2c: { currency: 'KZT', direct: { ...PAYER, card_mask: '4400********1234' } },
  bkash: WALLET,
  nagad: WALLET,
  rocket: WALLET,
  scheme: { currency: 'EUR' },
} satisfies Record<string, PaymentSample>;

export type PaymentType = keyof typeof PAYMENTS;

const NUMBERED = { account_number: '01712345678' };

/** The required fields of each payout method (spec 2.8). */
export const PAYOUTS = {
  bank_transfer: { currency: 'EUR', fields: { ...ACCOUNT, ...NAME, bank_name: 'Deutsche Bank' } },
  imps: { currency: 'INR', fields: { ...ACCOUNT, ...NAME, phone: '+919812345678', email: EMAIL } },
  easy_paisa: { currency: 'PKR', fields: NUMBERED },
  jazz_cash: { currency: 'PKR', fields: NUMBERED },
  dcb: { currency: 'KZT', fields: { ...NAME, phone: '+77011234567' } },
  bkash: { currency: 'BDT', fields: NUMBERED },
  nagad: { currency: 'BDT', fields: NUMBERED },
  rocket: { currency: 'BDT', fields: NUMBERED },
  card: { currency: 'KZT', fields: { pan: PAN } },
  scheme: { currency: 'EUR', fields: {} },
} satisfies Record<string, { currency: string; fields: WireObject }>;

export type PayoutType = keyof typeof PAYOUTS;

interface PaymentOptions {
  flow?: Flow;
  value?: string;
}

export function paymentRequest(
  service: Service,
  type: PaymentType,
  { flow = 'redirect', value = '25.00' }: PaymentOptions = {},
): WireObject {
  const sample: PaymentSample = PAYMENTS[type];
  const method = flow === 'redirect' ? (sample.redirect ?? {}) : sample.direct;
  assert(method, `${type} has no ${flow} flow`);
  return {
    channel: service.channel,
    amount: { currency: sample.currency, value },
    external_id: `order-${randomUUID()}`,
    payment_method: { type, ...method },
    return_url: 'https://shop.example/return?order=1&from=pay',
  };
}

export function payoutRequest(service: Service, type: PayoutType, value = '25.00'): WireObject {
  const { currency, fields } = PAYOUTS[type];
  return {
    channel: service.channel,
    amount: { currency, value },
    external_id: `payout-${randomUUID()}`,
    payout_method: { type, ...fields },
  };
}

export function named(service: Service, resource: Resource, externalId: string): WireObject {
  const request =
    resource === 'payment' ? paymentRequest(service, 'card') : payoutRequest(service, 'jazz_cash');
  return { ...request, external_id: externalId };
}

/** Returns the request with another value at a path such as `amount.value`; undefined removes the field. */
export function changed(request: WireObject, path: string, value?: unknown): WireObject {
  const [name = '', inner] = path.split('.');
  return { ...request, [name]: inner === undefined ? value : { ...objectIn(request, name), [inner]: value } };
}

export async function created(
  service: Service,
  resource: Resource,
  body: WireObject,
): Promise<WireObject & { transaction_id: string }> {
  const response = (await service.create(resource, body)).having(201).body();
  return { ...response, transaction_id: uuidIn(response, 'transaction_id') };
}

/** Creates a payment. Returns its request, the response and its id. */
export async function createdPayment(service: Service, type: PaymentType, options: PaymentOptions = {}) {
  const request = paymentRequest(service, type, options);
  const payment = await created(service, 'payment', request);
  return { request, payment, id: payment.transaction_id };
}
