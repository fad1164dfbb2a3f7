import assert from 'node:assert/strict';
import { createDateIn, lacks, objectIn, sameAmount } from './expectations';
import type { Obligation } from './obligation';
import { created, paymentRequest, type PaymentType } from './samples';
import type { Service } from './service';
import type { Answer, WireObject } from './wire';

/** A payer's answer that is approved only later, where outcomes can be forced. */
const APPROVED_LATER = '111111';

export interface Confirmable {
  type: PaymentType;
  /** The body field that carries the payer's answer (spec 4.5). Absent: only `id` is sent. */
  field?: string;
  answer: string;
  ids: { answers: string; later: string; completed?: string; withoutAnswer?: string };
}

/** Spec 3.4 and 4.5. */
export const CONFIRMABLE: Confirmable[] = [
  {
    type: 'upi',
    field: 'utr',
    answer: '412345678901',
    ids: { answers: 'CNF-001', later: 'CNF-010', completed: 'CNF-020', withoutAnswer: 'CNF-030' },
  },
  {
    type: 'dcb',
    field: 'code',
    answer: '482913',
    ids: { answers: 'CNF-002', later: 'CNF-011', completed: 'CNF-021', withoutAnswer: 'CNF-031' },
  },
  {
    type: 'bkash',
    field: 'transaction_id',
    answer: '9AB7C6D5E4',
    ids: { answers: 'CNF-003', later: 'CNF-012', completed: 'CNF-022', withoutAnswer: 'CNF-032' },
  },
  {
    type: 'nagad',
    field: 'transaction_id',
    answer: '9AB7C6D5E4',
    ids: { answers: 'CNF-004', later: 'CNF-013', completed: 'CNF-023', withoutAnswer: 'CNF-033' },
  },
  {
    type: 'rocket',
    field: 'transaction_id',
    answer: '9AB7C6D5E4',
    ids: { answers: 'CNF-005', later: 'CNF-014', completed: 'CNF-024', withoutAnswer: 'CNF-034' },
  },
  { type: 'c2c', answer: '', ids: { answers: 'CNF-006', later: 'CNF-015' } },
];

export function confirmBody({ field, answer }: Confirmable, id: string, given = answer): WireObject {
  return field ? { id, [field]: given } : { id };
}

/** The request and the answer of a payment that waits for its confirmation. */
export async function waiting(service: Service, type: PaymentType) {
  const request = paymentRequest(service, type, { flow: 'direct' });
  return { request, payment: await created(service, 'payment', request) };
}

/** The short answer that keeps `processing` (spec 2.3, 4.5). */
function staysProcessing(answer: WireObject, payment: WireObject, type: PaymentType): void {
  assert.equal(answer.status, 'processing', 'status');
  assert.equal(answer.transaction_id, payment.transaction_id, 'transaction_id');
  const method = objectIn(answer, 'payment_method');
  assert.equal(method.type, type, 'payment_method.type');
  assert.equal(method.state, 'waiting_for_provider', 'payment_method.state');
  lacks(answer, 'amount', 'error');
}

/** The answer of a payment that the confirmation completed (spec 4.5). */
function isCompleted(answer: WireObject, payment: WireObject, request: WireObject): void {
  assert.equal(answer.status, 'completed', 'status');
  assert.equal(answer.transaction_id, payment.transaction_id, 'transaction_id');
  sameAmount(answer, request);
  assert.equal(createDateIn(answer), payment.create_date, 'create_date');
  lacks(answer, 'payment_method', 'error');
}

/** The status code of a confirm is not shown: that of a look-up and that of a creation are both good. */
export function accepted(answer: Answer): WireObject {
  return answer.having(200, 201).body();
}

function answersShortly(method: Confirmable): Obligation {
  const body = ['id', ...(method.field ? [method.field] : [])].join(' and ');
  return {
    id: method.ids.answers,
    level: 'MUST',
    says: `answer a confirm of ${method.type} with ${body} in one of the two short forms`,
    spec: '4.5',
    run: async (service) => {
      const { request, payment } = await waiting(service, method.type);
      const answer = accepted(await service.confirm(confirmBody(method, payment.transaction_id)));
      if (answer.status === 'completed') isCompleted(answer, payment, request);
      else staysProcessing(answer, payment, method.type);
      if (!method.field) assert.equal(answer.status, 'processing', 'spec 3.4 shows no other status');
    },
  };
}

function approvedLater(method: Confirmable): Obligation {
  return {
    id: method.ids.later,
    level: 'MUST',
    says: `keep ${method.type} processing in waiting_for_provider while the approval is pending`,
    spec: '3.4, 4.5',
    needs: 'forced outcomes',
    run: async (service) => {
      const { payment } = await waiting(service, method.type);
      const id = payment.transaction_id;
      const answer = accepted(await service.confirm(confirmBody(method, id, APPROVED_LATER)));
      staysProcessing(answer, payment, method.type);
      const found = (await service.lookUp('payment', { transaction_id: id })).having(200).body();
      assert.equal(found.status, 'processing', 'status of the look-up');
      assert.equal(objectIn(found, 'payment_method').state, 'waiting_for_provider', 'state of the look-up');
    },
  };
}

function completes(method: Confirmable): Obligation[] {
  if (!method.ids.completed) return [];
  const run = async (service: Service) => {
    const { request, payment } = await waiting(service, method.type);
    const id = payment.transaction_id;
    isCompleted(accepted(await service.confirm(confirmBody(method, id))), payment, request);
    const found = (await service.lookUp('payment', { transaction_id: id })).having(200).body();
    assert.equal(found.status, 'completed', 'status of the look-up');
    lacks(found, 'error');
  };
  const says = `answer a confirm that completes ${method.type} with amount and create_date and no payment_method`;
  return [
    { id: method.ids.completed, level: 'MUST', says, spec: '2.3, 3.4, 4.5', needs: 'forced outcomes', run },
  ];
}

export const confirmObligations: Obligation[] = [
  ...CONFIRMABLE.map(answersShortly),
  ...CONFIRMABLE.map(approvedLater),
  ...CONFIRMABLE.flatMap(completes),
  {
    id: 'CNF-025',
    level: 'SHOULD',
    says: 'repeat the payer of upi and dcb in the answer that keeps processing',
    spec: '4.5',
    needs: 'forced outcomes',
    run: async (service) => {
      for (const method of CONFIRMABLE.filter(({ type }) => type === 'upi' || type === 'dcb')) {
        const { request, payment } = await waiting(service, method.type);
        const body = confirmBody(method, payment.transaction_id, APPROVED_LATER);
        const answer = objectIn(accepted(await service.confirm(body)), 'payment_method');
        assert.equal(answer.phone, objectIn(request, 'payment_method').phone, `phone of ${method.type}`);
      }
    },
  },
];
