import assert from 'node:assert/strict';
import { fullPayment, lacks, objectIn, webAddressIn } from './expectations';
import type { Obligation } from './obligation';
import { withoutPart } from './payment-create';
import { created, paymentRequest, type PaymentType } from './samples';

interface RedirectMethod {
  type: PaymentType;
  /** Accepts the request and answers the full resource. */
  full: string;
  /** The obligation to refuse the request without a field. */
  requires?: Record<string, string>;
}

/** Spec 2.5, column "redirect flow". */
const METHODS: RedirectMethod[] = [
  { type: 'card', full: 'PAY-100' },
  { type: 'upi', full: 'PAY-101' },
  { type: 'dcb', full: 'PAY-102', requires: { user_id: 'PAY-120' } },
  { type: 'jazz_cash', full: 'PAY-103' },
  { type: 'easy_paisa', full: 'PAY-104' },
  {
    type: 'virtual_account',
    full: 'PAY-105',
    requires: { bank_code: 'PAY-121', account_number: 'PAY-122' },
  },
  { type: 'qris', full: 'PAY-106' },
  { type: 'ewallet', full: 'PAY-107', requires: { ewallet: 'PAY-123' } },
  { type: 'c2c', full: 'PAY-108' },
  { type: 'bkash', full: 'PAY-109' },
  { type: 'nagad', full: 'PAY-110' },
  { type: 'rocket', full: 'PAY-111' },
  { type: 'scheme', full: 'PAY-112' },
];

function answersInFull({ type, full }: RedirectMethod): Obligation {
  return {
    id: full,
    level: 'MUST',
    says: `answer a redirect create of ${type} with the full resource, a redirect_url and no state`,
    spec: '2.3, 2.5',
    run: async (service) => {
      const request = paymentRequest(service, type);
      const payment = await created(service, 'payment', request);
      fullPayment(payment, request);
      webAddressIn(payment, 'redirect_url');
      lacks(objectIn(payment, 'payment_method'), 'state');
      lacks(payment, 'account', 'error');
    },
  };
}

function requires({ type, requires: fields = {} }: RedirectMethod): Obligation[] {
  return Object.entries(fields).map(([field, id]) => ({
    id,
    level: 'MUST',
    says: `answer 400 to a redirect create of ${type} without ${field}`,
    spec: '2.5',
    run: async (service) => {
      const request = withoutPart(paymentRequest(service, type), 'payment_method', field);
      (await service.create('payment', request)).having(400);
    },
  }));
}

/** Documented example values; the exact lists depend on the channel. */
const EXAMPLE_CODES: { id: string; type: PaymentType; field: string; codes: string[] }[] = [
  {
    id: 'PAY-130',
    type: 'virtual_account',
    field: 'bank_code',
    codes: ['bca', 'bni', 'bss', 'bri', 'permata', 'mandiri', 'cimb', 'danamon', 'maybank', 'bnc', 'ina'],
  },
  { id: 'PAY-131', type: 'ewallet', field: 'ewallet', codes: ['ovo', 'dana', 'linkaja'] },
];

const exampleCodes = EXAMPLE_CODES.map(({ id, type, field, codes }): Obligation => ({
  id,
  level: 'SHOULD',
  says: `accept every documented ${field} of ${type}`,
  spec: '2.5',
  run: async (service) => {
    const fields = objectIn(paymentRequest(service, type), 'payment_method');
    for (const code of codes) {
      const payment = await created(
        service,
        'payment',
        paymentRequest(service, type, { fields: { ...fields, [field]: code } }),
      );
      assert.equal(objectIn(payment, 'payment_method').type, type);
    }
  },
}));

/** Types whose fields the specification does not show. */
const UNSHOWN: { id: string; type: string; fields: Record<string, string> }[] = [
  {
    id: 'PAY-140',
    type: 'havale',
    fields: { phone: '+905321234567', user_id: 'user-17', first_name: 'Elif', last_name: 'Kaya' },
  },
  { id: 'PAY-141', type: 'other', fields: { custom_field: 'anything', another: 'one' } },
];

const unshown = UNSHOWN.map(({ id, type, fields }): Obligation => ({
  id,
  level: 'SHOULD',
  says: `accept ${type} with fields that the specification does not show`,
  spec: '2.5',
  run: async (service) => {
    const request = { ...paymentRequest(service, 'scheme'), payment_method: { type, ...fields } };
    fullPayment(await created(service, 'payment', request), request);
  },
}));

export const paymentRedirectObligations: Obligation[] = [
  ...METHODS.map(answersInFull),
  ...METHODS.flatMap(requires),
  ...exampleCodes,
  ...unshown,
];
