import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { fullPayment, lacks, objectIn, PAYOUT_STATUSES, statusIn, textIn } from './expectations';
import type { Obligation } from './obligation';
import { created, named, paymentRequest, payoutRequest, type PaymentType } from './samples';
import type { Resource } from './service';

/** What of a server-to-server payment a look-up still shows while the payer has to act. */
const WAITING: { id: string; type: PaymentType; shows: string[] }[] = [
  { id: 'LOOK-040', type: 'upi', shows: ['upi_id', 'upi_link'] },
  { id: 'LOOK-041', type: 'dcb', shows: [] },
  { id: 'LOOK-042', type: 'c2c', shows: ['card_number', 'recipient'] },
  { id: 'LOOK-043', type: 'bkash', shows: ['account'] },
  { id: 'LOOK-044', type: 'nagad', shows: ['account'] },
  { id: 'LOOK-045', type: 'rocket', shows: ['account'] },
];

const waiting = WAITING.map(({ id, type, shows }): Obligation => ({
  id,
  level: 'MUST',
  says: `show on the look-up of a waiting ${type} payment ${['its state', ...shows].join(', ')}`,
  spec: '2.5, 3.3, 4.3',
  run: async (service) => {
    const request = paymentRequest(service, type, { flow: 'direct' });
    const payment = await created(service, 'payment', request);
    const found = (await service.lookUp('payment', { transaction_id: payment.transaction_id }))
      .having(200)
      .body();
    fullPayment(found, request);
    assert.equal(found.status, payment.status, 'status');
    const [before, now] = [objectIn(payment, 'payment_method'), objectIn(found, 'payment_method')];
    for (const field of ['state', ...shows]) assert.equal(textIn(now, field), before[field], field);
  },
}));

/** The ways in which a transaction is found that exists. */
const WAYS: { id: string; resource: Resource; by: ('transaction_id' | 'external_id')[] }[] = [
  { id: 'LOOK-001', resource: 'payment', by: ['transaction_id'] },
  { id: 'LOOK-002', resource: 'payment', by: ['external_id'] },
  { id: 'LOOK-003', resource: 'payment', by: ['transaction_id', 'external_id'] },
  { id: 'LOOK-004', resource: 'payout', by: ['transaction_id'] },
  { id: 'LOOK-005', resource: 'payout', by: ['external_id'] },
  { id: 'LOOK-006', resource: 'payout', by: ['transaction_id', 'external_id'] },
];

const ways = WAYS.map(({ id, resource, by }): Obligation => ({
  id,
  level: 'MUST',
  says: `answer 200 with the ${resource} to a look-up by ${by.join(' and ')}`,
  spec: resource === 'payment' ? '2.3, 4.3' : '2.6, 4.1',
  run: async (service) => {
    const request = named(service, resource, `order-${randomUUID()}`);
    const { transaction_id, create_date } = await created(service, resource, request);
    const ids: Record<string, string> = { transaction_id, external_id: String(request.external_id) };
    const asked = Object.fromEntries(by.map((name) => [name, ids[name] ?? '']));
    const found = (await service.lookUp(resource, asked)).having(200).body();
    assert.equal(found.transaction_id, transaction_id, 'transaction_id');
    if (resource === 'payout') return void statusIn(found, PAYOUT_STATUSES);
    fullPayment(found, request);
    assert.equal(found.create_date, create_date, 'create_date');
  },
}));

export const lookupObligations: Obligation[] = [
  ...ways,
  ...waiting,
  {
    id: 'LOOK-050',
    level: 'MUST',
    says: 'show user_agent and user_ip on the look-up of a server-to-server card payment',
    spec: '2.5',
    run: async (service) => {
      const request = paymentRequest(service, 'card', { flow: 'direct' });
      const { transaction_id } = await created(service, 'payment', request);
      const found = (await service.lookUp('payment', { transaction_id })).having(200).body();
      const method = objectIn(found, 'payment_method');
      for (const field of ['user_agent', 'user_ip', 'card_mask', 'cardholder']) textIn(method, field);
    },
  },
  {
    id: 'LOOK-051',
    level: 'SHOULD',
    says: 'show on a payout look-up the external_id of its create request',
    spec: '2.6, 4.1',
    run: async (service) => {
      const request = payoutRequest(service, 'bank_transfer');
      const { transaction_id } = await created(service, 'payout', request);
      const found = (await service.lookUp('payout', { transaction_id })).having(200).body();
      assert.equal(found.external_id, request.external_id);
    },
  },
  {
    id: 'LOOK-055',
    level: 'MUST',
    says: 'not show a state on the look-up of a redirect payment',
    spec: '2.5 note 4',
    run: async (service) => {
      const { transaction_id } = await created(service, 'payment', paymentRequest(service, 'upi'));
      const found = (await service.lookUp('payment', { transaction_id })).having(200).body();
      lacks(objectIn(found, 'payment_method'), 'state');
      lacks(found, 'error');
    },
  },
];
