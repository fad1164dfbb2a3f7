import assert from 'node:assert/strict';
import { expectFullPayment, expectAbsent, objectIn, textIn } from './expectations';
import { refuses } from './payment-create';
import { changed, created, paymentRequest, type PaymentType } from './samples';
import { each, type Obligations, type Run } from './service';
import type { WireObject } from './wire';

const respondsInFull =
  (type: PaymentType): Run =>
  async (service) => {
    const request = paymentRequest(service, type);
    const payment = await created(service, 'payment', request);
    expectFullPayment(payment, request);
    assert.match(new URL(textIn(payment, 'redirect_url')).protocol, /^https?:$/);
    expectAbsent(objectIn(payment, 'payment_method'), 'state');
    expectAbsent(payment, 'account', 'error');
  };

/** Expects that documented examples of a code are accepted. The exact list depends on the channel. */
const acceptsEach =
  (type: PaymentType, field: string, codes: string): Run =>
  async (service) => {
    for (const code of codes.split(' ')) {
      const request = changed(paymentRequest(service, type), `payment_method.${field}`, code);
      expectFullPayment(await created(service, 'payment', request), request);
    }
  };

const acceptsUnshown =
  (method: WireObject): Run =>
  async (service) => {
    const request = { ...paymentRequest(service, 'scheme'), payment_method: method };
    expectFullPayment(await created(service, 'payment', request), request);
  };

const requires = (type: PaymentType, ids: Record<string, string>): Obligations =>
  each(ids, (field) => refuses(`payment_method.${field}`, undefined, type));

/** Requirements of spec 2.3 and 2.5, column "redirect flow". */
export const paymentRedirectObligations: Obligations = {
  ...each({ card: 'PAY-100', upi: 'PAY-101', dcb: 'PAY-102', jazz_cash: 'PAY-103' }, respondsInFull),
  ...each({ easy_paisa: 'PAY-104', virtual_account: 'PAY-105', qris: 'PAY-106' }, respondsInFull),
  ...each({ ewallet: 'PAY-107', c2c: 'PAY-108', scheme: 'PAY-112' }, respondsInFull),
  ...each({ bkash: 'PAY-109', nagad: 'PAY-110', rocket: 'PAY-111' }, respondsInFull),
  ...requires('dcb', { user_id: 'PAY-120' }),
  ...requires('virtual_account', { bank_code: 'PAY-121', account_number: 'PAY-122' }),
  ...requires('ewallet', { ewallet: 'PAY-123' }),
  'PAY-130': acceptsEach(
    'virtual_account',
    'bank_code',
    'bca bni bss bri permata mandiri cimb danamon maybank bnc ina',
  ),
  'PAY-131': acceptsEach('ewallet', 'ewallet', 'ovo dana linkaja'),
  'PAY-140': acceptsUnshown({ type: 'havale', phone: '+905321234567', user_id: 'user-17' }),
  'PAY-141': acceptsUnshown({ type: 'other', custom_field: 'anything', another: 'one' }),
};
