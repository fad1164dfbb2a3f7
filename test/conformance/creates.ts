import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  PAYMENT_STATUSES,
  PAYOUT_STATUSES,
  expectAbsent,
  expectFullPayment,
  objectIn,
  statusIn,
  textIn,
} from './expectations';
import {
  CALLBACK_URL,
  changed,
  created,
  createdPayment,
  CVC,
  PAN,
  paymentRequest,
  payoutRequest,
} from './samples';
import type { Flow, PaymentType, PayoutType } from './samples';
import { each, ENDPOINTS, type Obligations, type Run, type WireObject } from './service';

/** Expects 400 for an otherwise valid create with `value` at `path`; undefined removes the field. */
const refuses =
  (path: string, value?: unknown, type: PaymentType = 'card', flow?: Flow): Run =>
  async (service) => {
    const request = changed(paymentRequest(service, type, { flow }), path, value);
    (await service.create('payment', request)).having(400);
  };

const accepts =
  (path: string, value?: unknown): Run =>
  async (service) =>
    void (await created(service, 'payment', changed(paymentRequest(service, 'card'), path, value)));

const refusesBody =
  (body: string): Run =>
  async (service) => {
    (await service.call(ENDPOINTS.createPayment, body)).having(400);
    (await service.call(ENDPOINTS.createPayout, body)).having(400);
  };

/** Requirements of spec 2.1 to 2.5, 4.4 and 7.1. */
export const paymentCreateObligations: Obligations = {
  'PAY-001': async (service) =>
    void statusIn((await createdPayment(service, 'card')).payment, PAYMENT_STATUSES),
  'PAY-002': async (service) => {
    const body = changed(paymentRequest(service, 'card'), 'external_id');
    const first = await created(service, 'payment', body);
    const second = await created(service, 'payment', body);
    assert.notEqual(first.transaction_id, second.transaction_id);
  },
  'PAY-003': async (service) => {
    const response = await service.create('payment', paymentRequest(service, 'card'));
    assert.match(response.having(201).contentType, /^application\/json\b/);
  },
  'PAY-004': async (service) => {
    const external_id = `order-${randomUUID()}`;
    const body = { ...changed(paymentRequest(service, 'card'), 'amount'), external_id };
    (await service.create('payment', body)).having(400);
    (await service.lookUp('payment', { external_id })).refused();
  },
  ...each({ channel: 'PAY-010', amount: 'PAY-011', 'amount.currency': 'PAY-012' }, refuses),
  ...each({ 'amount.value': 'PAY-013', payment_method: 'PAY-014' }, refuses),
  'PAY-015': refuses('payment_method.type'),
  'PAY-016': refuses('channel', 'shop'),
  'PAY-017': refuses('amount.value', 25),
  'PAY-018': refuses('amount.value', 'many'),
  'PAY-019': refuses('amount.value', '25'),
  'PAY-020': refuses('amount.value', '25.001'),
  'PAY-021': refuses('amount.value', '25,00'),
  'PAY-022': refuses('amount.value', '-25.00'),
  'PAY-023': refuses('amount.currency', 'EURO', 'scheme'),
  'PAY-024': refuses('amount', '25.00'),
  'PAY-025': refuses('payment_method', 'card'),
  'PAY-026': refuses('payment_method.type', 'carrier_pigeon'),
  'PAY-027': refuses('external_id', 17),
  'PAY-030': refusesBody(''),
  'PAY-031': refusesBody('{"channel":'),
  'PAY-032': refusesBody('[]'),
  'PAY-033': refusesBody('null'),
  'PAY-034': refusesBody('channel=1&amount=25.00'),
  ...each({ external_id: 'PAY-040', return_url: 'PAY-041' }, accepts),
  'PAY-042': accepts('callback_url', CALLBACK_URL),
  'PAY-043': accepts('description', 'Order 5 · заказ'),
};

const respondsInFull =
  (type: PaymentType): Run =>
  async (service) => {
    const { request, payment } = await createdPayment(service, type);
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

const requires = (type: PaymentType, ids: Record<string, string>, flow?: Flow): Obligations =>
  each(ids, (field) => refuses(`payment_method.${field}`, undefined, type, flow));

const requiresDirect = (type: PaymentType, ids: Record<string, string>): Obligations =>
  requires(type, ids, 'direct');

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
    const { request, payment } = await createdPayment(service, type, { flow: 'direct' });
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
  ...requiresDirect('bkash', { first_name: 'PAY-220', surname: 'PAY-221' }),
  ...requiresDirect('bkash', { phone: 'PAY-222', email: 'PAY-223' }),
  ...requiresDirect('nagad', { first_name: 'PAY-224', surname: 'PAY-225' }),
  ...requiresDirect('nagad', { phone: 'PAY-226', email: 'PAY-227' }),
  ...requiresDirect('rocket', { first_name: 'PAY-228', surname: 'PAY-229' }),
  ...requiresDirect('rocket', { phone: 'PAY-230', email: 'PAY-231' }),
  // The direct column names user_id, but only the redirect column calls it required.
  ...requiresDirect('dcb', { user_id: 'PAY-232' }),
  // The specification does not say which fields of a card are required. Without these, no card can be charged.
  ...requiresDirect('card', { pan: 'PAY-233', expiry_month: 'PAY-234' }),
  ...requiresDirect('card', { expiry_year: 'PAY-235', cvc: 'PAY-236' }),
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
    const { payment, id } = await createdPayment(service, 'card', { flow: 'direct' });
    for (const shown of [payment, await service.found('payment', id)]) {
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
      const { request, payment } = await createdPayment(service, type, { flow: 'direct' });
      const method = objectIn(payment, 'payment_method');
      assert.equal(method.account, objectIn(request, 'payment_method').account, type);
    }
  },
};

/** Expects 400 for an otherwise valid payout with `value` at `path`; undefined removes the field. */
const payoutRefuses =
  (path: string, value?: unknown, type: PayoutType = 'bank_transfer'): Run =>
  async (service) =>
    void (await service.create('payout', changed(payoutRequest(service, type), path, value))).having(400);

const payoutRequires = (type: PayoutType, ids: Record<string, string>): Obligations =>
  each(ids, (field) => payoutRefuses(`payout_method.${field}`, undefined, type));

/** Expects status, transaction_id, and the external_id of the request or null (spec 4.2). */
const payoutAnswers =
  (type: PayoutType): Run =>
  async (service) => {
    const request = payoutRequest(service, type);
    const payout = await created(service, 'payout', request);
    statusIn(payout, PAYOUT_STATUSES);
    assert([null, request.external_id].includes(payout.external_id), String(payout.external_id));
  };

/** Requirements of spec 2.6 to 2.8 and 4.2. */
export const payoutObligations: Obligations = {
  ...each({ channel: 'OUT-010', amount: 'OUT-011', 'amount.currency': 'OUT-012' }, payoutRefuses),
  ...each({ 'amount.value': 'OUT-013', external_id: 'OUT-014', payout_method: 'OUT-015' }, payoutRefuses),
  'OUT-016': payoutRefuses('payout_method.type'),
  'OUT-017': payoutRefuses('channel', 'shop'),
  'OUT-018': payoutRefuses('amount.value', 25),
  'OUT-019': payoutRefuses('amount.value', '25'),
  'OUT-020': payoutRefuses('amount.currency', 'rupees'),
  'OUT-021': payoutRefuses('external_id', null),
  'OUT-022': payoutRefuses('payout_method.account_number', null),
  ...each({ bank_transfer: 'OUT-100', imps: 'OUT-101', easy_paisa: 'OUT-102' }, payoutAnswers),
  ...each({ dcb: 'OUT-104', bkash: 'OUT-105', nagad: 'OUT-106', rocket: 'OUT-107' }, payoutAnswers),
  ...each({ jazz_cash: 'OUT-103', card: 'OUT-108', scheme: 'OUT-109' }, payoutAnswers),
  'OUT-110': async (service) => {
    const optional = { iban: 'DE89370400440532013000', branch_code: '100' };
    const contact = { phone: '+4915112345678', email: 'jane@example.com' };
    const { payout_method, ...request } = payoutRequest(service, 'bank_transfer');
    const method = { ...Object(payout_method), ...optional, ...contact };
    await created(service, 'payout', { ...request, payout_method: method });
  },
  'OUT-111': async (service) => {
    const request = payoutRequest(service, 'easy_paisa');
    await created(service, 'payout', { ...request, description: 'Prize №7', callback_url: CALLBACK_URL });
  },
  ...payoutRequires('bank_transfer', { bank_code: 'OUT-120', bank_name: 'OUT-121' }),
  ...payoutRequires('bank_transfer', { account_number: 'OUT-122', first_name: 'OUT-123' }),
  ...payoutRequires('bank_transfer', { last_name: 'OUT-124' }),
  ...payoutRequires('imps', { bank_code: 'OUT-125', first_name: 'OUT-126', last_name: 'OUT-127' }),
  ...payoutRequires('imps', { phone: 'OUT-128', email: 'OUT-129', account_number: 'OUT-130' }),
  ...payoutRequires('easy_paisa', { account_number: 'OUT-131' }),
  ...payoutRequires('jazz_cash', { account_number: 'OUT-132' }),
  ...payoutRequires('dcb', { phone: 'OUT-133', first_name: 'OUT-134', last_name: 'OUT-135' }),
  ...payoutRequires('bkash', { account_number: 'OUT-136' }),
  ...payoutRequires('nagad', { account_number: 'OUT-137' }),
  ...payoutRequires('rocket', { account_number: 'OUT-138' }),
  ...payoutRequires('card', { pan: 'OUT-139' }),
};
