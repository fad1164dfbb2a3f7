import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { accepted, CONFIRMABLE, waiting, type Confirmable } from './confirm';
import { objectIn } from './expectations';
import type { Obligation } from './obligation';
import { created, paymentRequest, payoutRequest } from './samples';
import type { Service } from './service';
import type { WireObject } from './wire';

function needsTheAnswer(method: Confirmable): Obligation[] {
  const { field, ids } = method;
  if (!field || !ids.withoutAnswer) return [];
  const says = `refuse a confirm of ${method.type} without ${field} and leave the payment waiting`;
  const run = async (service: Service) => {
    const { payment } = await waiting(service, method.type);
    const id = payment.transaction_id;
    const other = field === 'utr' ? 'code' : 'utr';
    (await service.confirm({ id })).refused();
    (await service.confirm({ id, [other]: method.answer })).refused();
    const found = (await service.lookUp('payment', { transaction_id: id })).having(200).body();
    const state = objectIn(payment, 'payment_method').state;
    assert.equal(objectIn(found, 'payment_method').state, state, 'the state moved');
  };
  return [{ id: ids.withoutAnswer, level: 'SHOULD', says, spec: '4.5', run }];
}

/** Error answers of the confirm endpoint are not shown, so that no status code can be required. */
const REFUSED: { id: string; says: string; body(service: Service): Promise<WireObject> }[] = [
  {
    id: 'CNF-040',
    says: 'without id',
    body: async (service) => {
      await waiting(service, 'upi');
      return { utr: '412345678901' };
    },
  },
  {
    id: 'CNF-041',
    says: 'of an id that is not a UUID',
    body: async () => ({ id: '17', utr: '412345678901' }),
  },
  {
    id: 'CNF-042',
    says: 'of an unknown payment',
    body: async () => ({ id: randomUUID(), utr: '412345678901' }),
  },
  {
    id: 'CNF-043',
    says: 'of a redirect payment',
    body: async (service) => {
      const payment = await created(service, 'payment', paymentRequest(service, 'upi'));
      return { id: payment.transaction_id, utr: '412345678901' };
    },
  },
  {
    id: 'CNF-044',
    says: 'of a method that is never confirmed',
    body: async (service) => ({ id: (await waiting(service, 'qris')).payment.transaction_id }),
  },
  {
    id: 'CNF-045',
    says: 'whose utr is a number',
    body: async (service) => ({
      id: (await waiting(service, 'upi')).payment.transaction_id,
      utr: 412345678901,
    }),
  },
  {
    id: 'CNF-046',
    says: 'of a payout',
    body: async (service) => ({
      id: (await created(service, 'payout', payoutRequest(service, 'jazz_cash'))).transaction_id,
    }),
  },
];

const refused = REFUSED.map(({ id, says, body }): Obligation => ({
  id,
  level: 'SHOULD',
  says: `refuse a confirm ${says}`,
  spec: '4.5',
  run: async (service) => {
    (await service.confirm(await body(service))).refused();
  },
}));

export const confirmRefusalObligations: Obligation[] = [
  ...CONFIRMABLE.flatMap(needsTheAnswer),
  ...refused,
  {
    id: 'CNF-050',
    level: 'SHOULD',
    says: 'refuse a second confirm of a completed payment',
    spec: '4.5',
    needs: 'forced outcomes',
    run: async (service) => {
      const { payment } = await waiting(service, 'upi');
      const body = { id: payment.transaction_id, utr: '412345678901' };
      assert.equal(accepted(await service.confirm(body)).status, 'completed');
      (await service.confirm(body)).refused();
    },
  },
];
