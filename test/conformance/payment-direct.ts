import assert from 'node:assert/strict';
import { expectFullPayment, expectAbsent, objectIn, textIn } from './expectations';
import { refuses } from './payment-create';
import { created, CVC, PAN, paymentRequest, type PaymentType } from './samples';
import { each, type Obligations, type Run } from './service';

interface Begins {
  /** The possible initial sub-states (spec 3.3, 3.4); undefined if the method has none. */
  states?: string[];
  /** The initial status; undefined if spec 3.4 does not show it. */
  status?: string;
  /** The fields that the service adds to payment_method (spec 2.5). */
  adds?: string[];
  topLevelAccount?: true;
}

/** Expects the initial state of a payment (spec 2.5, column "server-to-server", and spec 3.4). */
const begins =
  (type: PaymentType, { states, status, adds = [], topLevelAccount }: Begins): Run =>
  async (service) => {
    const request = paymentRequest(service, type, { flow: 'direct' });
    const payment = await created(service, 'payment', request);
    expectFullPayment(payment, request);
    expectAbsent(payment, 'error');
    const method = objectIn(payment, 'payment_method');
    if (status) assert.equal(payment.status, status, 'status');
    if (states) assert(states.includes(textIn(method, 'state')), `state ${String(method.state)}`);
    else expectAbsent(method, 'state');
    for (const field of adds) textIn(method, field);
    if (topLevelAccount) assert.equal(payment.account, method.account, 'top-level account');
    else expectAbsent(payment, 'account');
  };

const WALLET: Begins = {
  states: ['waiting_for_code'],
  status: 'processing',
  adds: ['account'],
  topLevelAccount: true,
};

const requires = (type: PaymentType, ids: Record<string, string>): Obligations =>
  each(ids, (field) => refuses(`payment_method.${field}`, undefined, type, 'direct'));

export const paymentDirectObligations: Obligations = {
  'PAY-200': begins('card', { adds: ['card_mask', 'cardholder', 'bank_name', 'card_type'] }),
  'PAY-201': begins('upi', {
    states: ['waiting_for_utr'],
    status: 'processing',
    adds: ['upi_id', 'upi_link'],
  }),
  'PAY-202': begins('dcb', { states: ['waiting_for_code', 'waiting_for_provider'] }),
  ...each({ jazz_cash: 'PAY-203', easy_paisa: 'PAY-204' }, (type) => begins(type, { adds: ['account'] })),
  'PAY-205': begins('virtual_account', { adds: ['virtual_account'] }),
  'PAY-206': begins('qris', { adds: ['qr_code'] }),
  'PAY-207': begins('c2c', {
    states: ['waiting_for_confirm'],
    status: 'processing',
    adds: ['card_number', 'recipient'],
  }),
  ...each({ bkash: 'PAY-208', nagad: 'PAY-209', rocket: 'PAY-210' }, (type) => begins(type, WALLET)),
  ...requires('bkash', { first_name: 'PAY-220', surname: 'PAY-221', phone: 'PAY-222', email: 'PAY-223' }),
  ...requires('nagad', { first_name: 'PAY-224', surname: 'PAY-225', phone: 'PAY-226', email: 'PAY-227' }),
  ...requires('rocket', { first_name: 'PAY-228', surname: 'PAY-229', phone: 'PAY-230', email: 'PAY-231' }),
  // The direct column names user_id, but only the redirect column calls it required.
  ...requires('dcb', { user_id: 'PAY-232' }),
  // The specification does not say which fields of a card are required. Without these, no card can be charged.
  ...requires('card', { pan: 'PAY-233', expiry_month: 'PAY-234', expiry_year: 'PAY-235', cvc: 'PAY-236' }),
  ...each({ jazz_cash: 'PAY-240', easy_paisa: 'PAY-241' }, (type) =>
    refuses('payment_method.account', 3001234567, type, 'direct'),
  ),
  'PAY-250': async (service) => {
    const request = paymentRequest(service, 'card', { flow: 'direct' });
    const response = (await service.create('payment', request)).having(201);
    const mask = textIn(objectIn(response.body(), 'payment_method'), 'card_mask');
    assert.match(mask, new RegExp(`^${PAN.slice(0, 4)}[^0-9]+${PAN.slice(-4)}$`));
    assert(!response.text.includes(PAN), 'the response contains the full card number');
  },
  'PAY-251': async (service) => {
    const payment = await created(service, 'payment', paymentRequest(service, 'card', { flow: 'direct' }));
    for (const shown of [payment, await service.found('payment', payment.transaction_id)]) {
      const method = objectIn(shown, 'payment_method');
      expectAbsent(method, 'cvc', 'pan');
      assert(!Object.values(method).includes(CVC), 'a field contains the cvc');
    }
  },
  'PAY-252': async (service) => {
    const whole = paymentRequest(service, 'card', { flow: 'direct' });
    const { address: _, ...method } = objectIn(whole, 'payment_method');
    const place = { country_code: 'DE', city: 'Berlin', street: 'Hauptstrasse 1', postal_code: '10115' };
    await created(service, 'payment', { ...whole, payment_method: { ...method, ...place } });
  },
  'PAY-253': refuses('payment_method.card_mask', PAN, 'c2c', 'direct'),
  'PAY-254': async (service) => {
    for (const type of ['jazz_cash', 'easy_paisa'] as const) {
      const request = paymentRequest(service, type, { flow: 'direct' });
      const method = objectIn(await created(service, 'payment', request), 'payment_method');
      assert.equal(method.account, objectIn(request, 'payment_method').account, type);
    }
  },
};
