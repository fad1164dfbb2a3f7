import assert from 'node:assert/strict';
import { confirmBody, CONFIRMABLE } from './confirm';
import { isDeclined, isFailedPayout } from './declines';
import { decimalIn, fullPayment, lacks, objectIn, sameAmount } from './expectations';
import type { Obligation } from './obligation';
import {
  created,
  PAYMENTS,
  paymentRequest,
  PAYOUTS,
  payoutRequest,
  type Flow,
  type PaymentSample,
  type PaymentType,
  type PayoutType,
} from './samples';
import type { Service } from './service';

/** A payment whose payer has done all that the flow asks of the client. */
async function acted(service: Service, type: PaymentType, options: { flow: Flow; value: string }) {
  const request = paymentRequest(service, type, options);
  const payment = await created(service, 'payment', request);
  const confirmable = CONFIRMABLE.find((method) => method.type === type);
  if (options.flow === 'direct' && confirmable) {
    const body = confirmBody(confirmable, payment.transaction_id);
    (await service.confirm(body)).having(200, 201);
  }
  return { request, id: payment.transaction_id };
}

/** The types that have the flow. */
function typesOf(flow: Flow): PaymentType[] {
  const samples = Object.entries(PAYMENTS) as [PaymentType, PaymentSample][];
  return samples.filter(([, sample]) => sample[flow]).map(([type]) => type);
}

const MISPAID: { id: string; cents: string; flow: Flow; less: boolean }[] = [
  { id: 'ERR-050', cents: '70', flow: 'direct', less: true },
  { id: 'ERR-051', cents: '71', flow: 'direct', less: false },
  { id: 'ERR-052', cents: '70', flow: 'redirect', less: true },
  { id: 'ERR-053', cents: '71', flow: 'redirect', less: false },
];

const mispaid = MISPAID.map(({ id, cents, flow, less }): Obligation => ({
  id,
  level: 'MUST',
  says: `show a ${flow} c2c payment that was paid ${less ? 'too little' : 'too much'} as mispaid with received`,
  spec: '2.2, 3.4',
  needs: 'forced outcomes',
  run: async (service) => {
    const { request, id: payment } = await acted(service, 'c2c', { flow, value: `250.${cents}` });
    const found = await service.reaching('payment', payment, 'mispaid');
    sameAmount(found, request);
    lacks(found, 'error');
    const amount = objectIn(found, 'amount');
    const [value, received] = [decimalIn(amount, 'value'), decimalIn(amount, 'received')];
    assert(less ? received < value : received > value, `received ${received} of ${value}`);
  },
}));

const everyMethod = (['redirect', 'direct'] as const).map((flow): Obligation => ({
  id: flow === 'redirect' ? 'ERR-040' : 'ERR-041',
  level: 'MUST',
  says: `show the error of a failed ${flow} payment of every method`,
  spec: '3.4, 7.2',
  needs: 'forced outcomes',
  run: async (service) => {
    for (const type of typesOf(flow)) {
      const { id } = await acted(service, type, { flow, value: '25.01' });
      isDeclined(await service.reaching('payment', id, 'failed'), { code: 'DECLINED_GENERIC' });
    }
  },
}));

export const outcomeObligations: Obligation[] = [
  ...everyMethod,
  {
    id: 'ERR-042',
    level: 'MUST',
    says: 'show method and error of a failed payout of every method',
    spec: '2.6, 7.2',
    needs: 'forced outcomes',
    run: async (service) => {
      for (const type of Object.keys(PAYOUTS) as PayoutType[]) {
        const request = payoutRequest(service, type, { value: '25.01' });
        const { transaction_id } = await created(service, 'payout', request);
        const failed = await service.reaching('payout', transaction_id, 'failed');
        isFailedPayout(failed, request, { code: 'DECLINED_GENERIC' });
      }
    },
  },
  ...mispaid,
  {
    id: 'ERR-060',
    level: 'MUST',
    says: 'show no error and no received on a completed payment of every server-to-server method',
    spec: '2.2, 2.3',
    needs: 'forced outcomes',
    run: async (service) => {
      for (const type of typesOf('direct').filter((each) => !['virtual_account', 'qris'].includes(each))) {
        const { request, id } = await acted(service, type, { flow: 'direct', value: '25.00' });
        const completed = await service.reaching('payment', id, 'completed');
        fullPayment(completed, request);
        lacks(completed, 'error');
        lacks(objectIn(completed, 'amount'), 'received');
      }
    },
  },
  {
    id: 'ERR-061',
    level: 'MUST',
    says: 'show no error on a completed payout of every method',
    spec: '2.6',
    needs: 'forced outcomes',
    run: async (service) => {
      for (const type of Object.keys(PAYOUTS) as PayoutType[]) {
        const { transaction_id } = await created(service, 'payout', payoutRequest(service, type));
        lacks(await service.reaching('payout', transaction_id, 'completed'), 'error');
      }
    },
  },
];
