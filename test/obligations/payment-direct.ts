import assert from 'node:assert/strict';
import { fullPayment, lacks, objectIn, textIn } from './expectations';
import type { Obligation } from './obligation';
import { withoutPart } from './payment-create';
import { created, CVC, PAN, paymentRequest, type PaymentType } from './samples';
import type { WireObject } from './wire';

interface DirectMethod {
  id: string;
  type: PaymentType;
  /** The sub-states in which it may begin (spec 3.3, 3.4). Absent: none applies to the method. */
  states?: string[];
  /** The status that 3.4 shows with it. */
  status?: string;
  /** The fields that the service adds to payment_method (spec 2.5). */
  adds: string[];
  topLevelAccount?: true;
}

function wallet(id: string, type: PaymentType): DirectMethod {
  const begins = { states: ['waiting_for_code'], status: 'processing' };
  return { id, type, ...begins, adds: ['account'], topLevelAccount: true };
}

/** Spec 2.5, column "server-to-server", and the first moves of 3.4. */
const METHODS: DirectMethod[] = [
  { id: 'PAY-200', type: 'card', adds: ['card_mask', 'cardholder', 'bank_name', 'card_type'] },
  {
    id: 'PAY-201',
    type: 'upi',
    states: ['waiting_for_utr'],
    status: 'processing',
    adds: ['upi_id', 'upi_link'],
  },
  { id: 'PAY-202', type: 'dcb', states: ['waiting_for_code', 'waiting_for_provider'], adds: [] },
  { id: 'PAY-203', type: 'jazz_cash', adds: ['account'] },
  { id: 'PAY-204', type: 'easy_paisa', adds: ['account'] },
  { id: 'PAY-205', type: 'virtual_account', adds: ['virtual_account'] },
  { id: 'PAY-206', type: 'qris', adds: ['qr_code'] },
  {
    id: 'PAY-207',
    type: 'c2c',
    states: ['waiting_for_confirm'],
    status: 'processing',
    adds: ['card_number', 'recipient'],
  },
  wallet('PAY-208', 'bkash'),
  wallet('PAY-209', 'nagad'),
  wallet('PAY-210', 'rocket'),
];

function outcome({ states, status, adds, topLevelAccount }: DirectMethod): string {
  const state = states ? `state ${states.join(' or ')}` : 'no state';
  const withStatus = status ? `status ${status} and ${state}` : state;
  const fields = [...adds, ...(topLevelAccount ? ['top-level account'] : [])];
  return fields.length > 0 ? `${withStatus}, adding ${fields.join(', ')}` : withStatus;
}

function beginsAsShown(method: DirectMethod, payment: WireObject): void {
  const { states, status, adds, topLevelAccount } = method;
  const paymentMethod = objectIn(payment, 'payment_method');
  if (status) assert.equal(payment.status, status, 'status');
  if (states) assert(states.includes(textIn(paymentMethod, 'state')), `state ${String(paymentMethod.state)}`);
  else lacks(paymentMethod, 'state');
  for (const field of adds) textIn(paymentMethod, field);
  if (topLevelAccount) assert.equal(payment.account, paymentMethod.account, 'top-level account');
  else lacks(payment, 'account');
}

function beginning(method: DirectMethod): Obligation {
  return {
    id: method.id,
    level: 'MUST',
    says: `answer a server-to-server create of ${method.type} with ${outcome(method)}`,
    spec: '2.3, 2.5, 3.4',
    run: async (service) => {
      const request = paymentRequest(service, method.type, { flow: 'direct' });
      const payment = await created(service, 'payment', request);
      fullPayment(payment, request);
      lacks(payment, 'error');
      beginsAsShown(method, payment);
    },
  };
}

/** The fields without which a server-to-server request is not whole, and what the specification calls them. */
const REQUIRED: { type: PaymentType; level: 'MUST' | 'SHOULD'; fields: Record<string, string> }[] = [
  {
    type: 'bkash',
    level: 'MUST',
    fields: { first_name: 'PAY-220', surname: 'PAY-221', phone: 'PAY-222', email: 'PAY-223' },
  },
  {
    type: 'nagad',
    level: 'MUST',
    fields: { first_name: 'PAY-224', surname: 'PAY-225', phone: 'PAY-226', email: 'PAY-227' },
  },
  {
    type: 'rocket',
    level: 'MUST',
    fields: { first_name: 'PAY-228', surname: 'PAY-229', phone: 'PAY-230', email: 'PAY-231' },
  },
  // The direct column names user_id, only the redirect column calls it required.
  { type: 'dcb', level: 'SHOULD', fields: { user_id: 'PAY-232' } },
  // The fields of a card are named, none is called required; without these nothing can be charged.
  {
    type: 'card',
    level: 'SHOULD',
    fields: { pan: 'PAY-233', expiry_month: 'PAY-234', expiry_year: 'PAY-235', cvc: 'PAY-236' },
  },
];

const required = REQUIRED.flatMap(({ type, level, fields }) =>
  Object.entries(fields).map(([field, id]): Obligation => ({
    id,
    level,
    says: `answer 400 to a server-to-server create of ${type} without ${field}`,
    spec: '2.5',
    run: async (service) => {
      const request = paymentRequest(service, type, { flow: 'direct' });
      (await service.create('payment', withoutPart(request, 'payment_method', field))).having(400);
    },
  })),
);

const WRONG_TYPES: { id: string; type: PaymentType }[] = [
  { id: 'PAY-240', type: 'jazz_cash' },
  { id: 'PAY-241', type: 'easy_paisa' },
];

const wrongTypes = WRONG_TYPES.map(({ id, type }): Obligation => ({
  id,
  level: 'MUST',
  says: `answer 400 to a server-to-server create of ${type} whose account is a number`,
  spec: '2.5',
  run: async (service) => {
    const request = paymentRequest(service, type, { fields: { account: 3001234567 } });
    (await service.create('payment', request)).having(400);
  },
}));

export const paymentDirectObligations: Obligation[] = [
  ...METHODS.map(beginning),
  ...required,
  ...wrongTypes,
  {
    id: 'PAY-250',
    level: 'MUST',
    says: 'show of a card number only the first four and last four digits',
    spec: '2.5',
    run: async (service) => {
      const request = paymentRequest(service, 'card', { flow: 'direct' });
      const answer = (await service.create('payment', request)).having(201);
      const mask = textIn(objectIn(answer.body(), 'payment_method'), 'card_mask');
      assert.match(mask, new RegExp(`^${PAN.slice(0, 4)}[^0-9]+${PAN.slice(-4)}$`));
      assert(!answer.text.includes(PAN), 'the answer holds the full card number');
    },
  },
  {
    id: 'PAY-251',
    level: 'SHOULD',
    says: 'never repeat the cvc of a card',
    spec: '2.5',
    run: async (service) => {
      const request = paymentRequest(service, 'card', { flow: 'direct' });
      const payment = await created(service, 'payment', request);
      const found = (await service.lookUp('payment', { transaction_id: payment.transaction_id })).having(200);
      for (const shown of [payment, found.body()]) {
        const method = objectIn(shown, 'payment_method');
        lacks(method, 'cvc', 'pan');
        assert(!Object.values(method).includes(CVC), 'a field holds the cvc');
      }
    },
  },
  {
    id: 'PAY-252',
    level: 'MUST',
    says: 'accept a card with structured address fields instead of address',
    spec: '2.5',
    run: async (service) => {
      const whole = paymentRequest(service, 'card', { flow: 'direct' });
      const { address: _, ...fields } = objectIn(whole, 'payment_method');
      const place = { country_code: 'DE', city: 'Berlin', street: 'Hauptstrasse 1', postal_code: '10115' };
      await created(service, 'payment', paymentRequest(service, 'card', { fields: { ...fields, ...place } }));
    },
  },
  {
    id: 'PAY-253',
    level: 'SHOULD',
    says: 'answer 400 to a c2c create whose card_mask is a full card number',
    spec: '2.5',
    run: async (service) => {
      const whole = paymentRequest(service, 'c2c', { flow: 'direct' });
      const fields = { ...objectIn(whole, 'payment_method'), card_mask: PAN };
      (await service.create('payment', paymentRequest(service, 'c2c', { fields }))).having(400);
    },
  },
  {
    id: 'PAY-254',
    level: 'SHOULD',
    says: 'answer jazz_cash and easy_paisa with the account that the payer gave',
    spec: '2.5',
    run: async (service) => {
      for (const type of ['jazz_cash', 'easy_paisa'] as const) {
        const request = paymentRequest(service, type, { flow: 'direct' });
        const payment = await created(service, 'payment', request);
        const given = objectIn(request, 'payment_method').account;
        assert.equal(objectIn(payment, 'payment_method').account, given, type);
      }
    },
  },
];
