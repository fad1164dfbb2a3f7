import assert from 'node:assert/strict';
import { PAYOUT_STATUSES, statusIn } from './expectations';
import type { Obligation } from './obligation';
import { withPart, withoutPart, type BadRequest } from './payment-create';
import { CALLBACK_URL, created, payoutRequest, PAYOUTS, without, type PayoutType } from './samples';
import type { WireObject } from './wire';

/** Each method of spec 2.8 with the ids of its obligations. */
const METHODS: { type: PayoutType; accepts: string; requires: Record<string, string> }[] = [
  {
    type: 'bank_transfer',
    accepts: 'OUT-100',
    requires: {
      bank_code: 'OUT-120',
      bank_name: 'OUT-121',
      account_number: 'OUT-122',
      first_name: 'OUT-123',
      last_name: 'OUT-124',
    },
  },
  {
    type: 'imps',
    accepts: 'OUT-101',
    requires: {
      bank_code: 'OUT-125',
      first_name: 'OUT-126',
      last_name: 'OUT-127',
      phone: 'OUT-128',
      email: 'OUT-129',
      account_number: 'OUT-130',
    },
  },
  { type: 'easy_paisa', accepts: 'OUT-102', requires: { account_number: 'OUT-131' } },
  { type: 'jazz_cash', accepts: 'OUT-103', requires: { account_number: 'OUT-132' } },
  {
    type: 'dcb',
    accepts: 'OUT-104',
    requires: { phone: 'OUT-133', first_name: 'OUT-134', last_name: 'OUT-135' },
  },
  { type: 'bkash', accepts: 'OUT-105', requires: { account_number: 'OUT-136' } },
  { type: 'nagad', accepts: 'OUT-106', requires: { account_number: 'OUT-137' } },
  { type: 'rocket', accepts: 'OUT-107', requires: { account_number: 'OUT-138' } },
  { type: 'card', accepts: 'OUT-108', requires: { pan: 'OUT-139' } },
  { type: 'scheme', accepts: 'OUT-109', requires: {} },
];

/** Status, transaction_id and external_id, the last a string or null (spec 4.2). */
function isCreateAnswer(payout: WireObject, request: WireObject): void {
  statusIn(payout, PAYOUT_STATUSES);
  assert('external_id' in payout, 'external_id is missing');
  const { external_id: externalId } = payout;
  assert(externalId === null || externalId === request.external_id, `external_id ${String(externalId)}`);
}

const accepts = METHODS.map(({ type, accepts: id }): Obligation => ({
  id,
  level: 'MUST',
  says: `answer 201 with status, transaction_id and external_id to a ${type} payout`,
  spec: '2.6, 2.8, 4.2',
  run: async (service) => {
    const request = payoutRequest(service, type);
    isCreateAnswer(await created(service, 'payout', request), request);
  },
}));

const requires = METHODS.flatMap(({ type, requires: fields }) => {
  assert.deepEqual(Object.keys(fields), Object.keys(PAYOUTS[type].required), `${type} lacks obligations`);
  return Object.entries(fields).map(([field, id]): Obligation => ({
    id,
    level: 'MUST',
    says: `answer 400 to a ${type} payout without ${field}`,
    spec: '2.8',
    run: async (service) => {
      const request = withoutPart(payoutRequest(service, type), 'payout_method', field);
      (await service.create('payout', request)).having(400);
    },
  }));
});

const BAD_REQUESTS: BadRequest[] = [
  { id: 'OUT-010', says: 'a payout without channel', spoil: (good) => without(good, 'channel') },
  { id: 'OUT-011', says: 'a payout without amount', spoil: (good) => without(good, 'amount') },
  {
    id: 'OUT-012',
    says: 'a payout without amount.currency',
    spoil: (good) => withoutPart(good, 'amount', 'currency'),
  },
  {
    id: 'OUT-013',
    says: 'a payout without amount.value',
    spoil: (good) => withoutPart(good, 'amount', 'value'),
  },
  { id: 'OUT-014', says: 'a payout without external_id', spoil: (good) => without(good, 'external_id') },
  { id: 'OUT-015', says: 'a payout without payout_method', spoil: (good) => without(good, 'payout_method') },
  {
    id: 'OUT-016',
    spec: '2.8',
    says: 'a payout without payout_method.type',
    spoil: (good) => withoutPart(good, 'payout_method', 'type'),
  },
  {
    id: 'OUT-017',
    says: 'a payout whose channel is not a UUID',
    spoil: (good) => ({ ...good, channel: 'shop' }),
  },
  {
    id: 'OUT-018',
    says: 'a payout whose amount.value is a number',
    spoil: (good) => withPart(good, 'amount', { value: 25 }),
  },
  {
    id: 'OUT-019',
    spec: '2.2',
    says: 'a payout whose amount.value has no decimals',
    spoil: (good) => withPart(good, 'amount', { value: '25' }),
  },
  {
    id: 'OUT-020',
    spec: '2.2',
    says: 'a payout whose amount.currency is no ISO 4217 code',
    spoil: (good) => withPart(good, 'amount', { currency: 'rupees' }),
  },
  {
    id: 'OUT-021',
    says: 'a payout whose external_id is null',
    spoil: (good) => ({ ...good, external_id: null }),
  },
  {
    id: 'OUT-022',
    spec: '2.8',
    says: 'a payout whose account_number is null',
    spoil: (good) => withPart(good, 'payout_method', { account_number: null }),
  },
];

const badRequests = BAD_REQUESTS.map(
  ({ id, level = 'MUST', spec = '2.7, 4.2', says, spoil }): Obligation => ({
    id,
    level,
    says: `answer 400 to ${says}`,
    spec,
    run: async (service) => {
      (await service.create('payout', spoil(payoutRequest(service, 'bank_transfer')))).having(400);
    },
  }),
);

export const payoutObligations: Obligation[] = [
  ...badRequests,
  ...accepts,
  {
    id: 'OUT-110',
    level: 'MUST',
    says: 'accept a bank_transfer payout with every optional field',
    spec: '2.8',
    run: async (service) => {
      const fields = { ...PAYOUTS.bank_transfer.required, ...PAYOUTS.bank_transfer.optional };
      await created(service, 'payout', payoutRequest(service, 'bank_transfer', { fields }));
    },
  },
  {
    id: 'OUT-111',
    level: 'MUST',
    says: 'accept a payout with description and callback_url',
    spec: '2.7',
    run: async (service) => {
      const request = payoutRequest(service, 'easy_paisa');
      await created(service, 'payout', { ...request, description: 'Prize №7', callback_url: CALLBACK_URL });
    },
  },
  ...requires,
];
