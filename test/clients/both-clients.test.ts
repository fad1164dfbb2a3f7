import { randomUUID } from 'node:crypto';
import {
  ConfirmPaymentDocument,
  CreatePaymentDocument,
  CreatePayoutDocument,
  NodeDocument,
  PaymentDocument,
  PaymentsDocument,
  PayoutDocument,
  type CreatePaymentInput,
} from '../generated/operations';
import type { Sandbox } from '../../src/sandbox/server';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { CLIENTS, type AnyClient, type Seen } from './clients';
import { cardInput, paymentInput, payoutInput, upiInput } from './samples';

/** The one member of a result union that the test is about; TypeScript then knows its fields. */
function member<R extends { __typename: string }, N extends R['__typename']>(
  result: R | null | undefined,
  name: N,
): Extract<R, { __typename: N }> {
  expect(result).toMatchObject({ __typename: name });
  return result as Extract<R, { __typename: N }>;
}

function dataOf<D>({ data, errors }: Seen<D>): D {
  expect(errors).toEqual([]);
  if (data === undefined) throw new Error('The client gave neither data nor errors.');
  return data;
}

describe.each(CLIENTS)('%s', (_name, connect) => {
  let sandbox: Sandbox;
  let client: AnyClient;

  beforeEach(async () => {
    sandbox = await testSandbox();
    client = connect((await testGateway(sandbox.url)).url);
  });

  const createPayment = async (input: CreatePaymentInput) =>
    dataOf(await client.mutate(CreatePaymentDocument, { input })).createPayment;
  const created = async (input: CreatePaymentInput) =>
    member(await createPayment(input), 'PaymentSuccess').payment;
  const lookUp = async (transactionId: string) =>
    dataOf(await client.query(PaymentDocument, { channel: CHANNEL, transactionId })).payment;

  test('creates a payment and reads what all payments have through one interface fragment', async () => {
    const payment = await created(paymentInput({ externalId: 'order 1 & more' }));
    expect(payment).toMatchObject({
      __typename: 'CardPayment',
      channel: CHANNEL,
      externalId: 'order 1 & more',
      method: 'CARD',
      status: 'PENDING',
      rawStatus: 'pending',
      amount: { currency: 'EUR', value: '10.00', received: null },
      error: null,
      cardMask: null,
      nextAction: { __typename: 'RedirectAction', url: `${sandbox.url}pay/${payment.transactionId}` },
    });
  });

  test('finds a payment by its transaction id, its external id and its global id', async () => {
    const { id, transactionId } = await created(paymentInput({ externalId: 'Bestellung/№ 7' }));
    const byExternalId = await client.query(PaymentDocument, {
      channel: CHANNEL,
      externalId: 'Bestellung/№ 7',
    });
    const byNodeId = await client.query(NodeDocument, { id });
    const found = { __typename: 'CardPayment', id, transactionId, status: 'PENDING' };
    expect(await lookUp(transactionId)).toMatchObject(found);
    expect(dataOf(byExternalId).payment).toMatchObject(found);
    expect(dataOf(byNodeId).node).toMatchObject(found);
  });

  test('finds several payments of several methods at once, with null where there is none', async () => {
    const card = await created(paymentInput());
    const upi = await created(upiInput());
    const transactionIds = [upi.transactionId, randomUUID(), card.transactionId];
    const { payments } = dataOf(await client.query(PaymentsDocument, { channel: CHANNEL, transactionIds }));
    expect(payments).toMatchObject([
      { __typename: 'UpiPayment', transactionId: upi.transactionId, method: 'UPI' },
      null,
      { __typename: 'CardPayment', transactionId: card.transactionId, method: 'CARD' },
    ]);
  });

  test('is told what the payer has to hand in, confirms with it, and sees the payment completed', async () => {
    const { transactionId, nextAction } = await created(upiInput());
    expect(member(nextAction, 'ProvideUtrAction').confirmWith).toBe('upi');
    const input = { channel: CHANNEL, transactionId, confirmation: { upi: { utr: '412345678901' } } };
    const { confirmPayment } = dataOf(await client.mutate(ConfirmPaymentDocument, { input }));
    const confirmed = { __typename: 'UpiPayment', transactionId, status: 'COMPLETED', nextAction: null };
    expect(member(confirmPayment, 'PaymentSuccess').payment).toMatchObject(confirmed);
    expect(await lookUp(transactionId)).toMatchObject(confirmed);
  });

  test('reads a decline as data of the payment', async () => {
    const { transactionId } = await created(cardInput('4111 1111 1111 1111', '10.51'));
    sandbox.control.advance(5000);
    expect(await lookUp(transactionId)).toMatchObject({
      status: 'FAILED',
      error: { code: 'PROVIDER_PROCESSING_FAILED', reason: 'INSUFFICIENT_FUNDS' },
      nextAction: null,
    });
  });

  test('sends a payout, sees the account masked, and finds the payout completed', async () => {
    const input = payoutInput();
    const { createPayout } = dataOf(await client.mutate(CreatePayoutDocument, { input }));
    const { payout } = member(createPayout, 'PayoutSuccess');
    expect(payout).toMatchObject({
      __typename: 'BankTransferPayout',
      status: 'PROCESSING',
      externalId: input.externalId,
      amount: { currency: 'USD', value: '25.00' },
      accountMask: '****7890',
      bankName: 'Sample Bank',
    });
    sandbox.control.advance(5000);
    const { externalId } = input;
    const found = dataOf(await client.query(PayoutDocument, { channel: CHANNEL, externalId }));
    expect(found.payout).toMatchObject({ transactionId: payout.transactionId, status: 'COMPLETED' });
  });

  test('is told by an InvalidInputError which field is wrong, and nothing is sent', async () => {
    const pan = '4111111111111112';
    const result = member(await createPayment(cardInput(pan)), 'InvalidInputError');
    expect(result.code).toBe('INVALID_INPUT');
    expect(result.fields).toMatchObject([{ path: ['method', 'card', 'pan'], rule: 'luhn' }]);
    expect(JSON.stringify(result)).not.toContain(pan);
    expect(sandbox.control.counts().payment.creates).toBe(0);
  });

  test('is told by a RejectedByServiceError that the service refused', async () => {
    sandbox.control.inject({ operation: 'create', fault: 'status', status: 422, times: 1 });
    const result = member(await createPayment(paymentInput()), 'RejectedByServiceError');
    expect(result).toMatchObject({ code: 'REJECTED_BY_SERVICE', httpStatus: 422 });
    expect(result.message).not.toBe('');
  });

  test('gets a payment whose answer was lost, and is told that it was found again', async () => {
    const input = paymentInput({ amount: { currency: 'EUR', value: '10.80' } });
    const found = member(await createPayment(input), 'PaymentSuccess');
    expect(found).toMatchObject({ replayed: true, payment: { amount: { value: '10.80' } } });
  });

  test('is told by an OutcomeUnknownError under which id a payment is being looked for', async () => {
    const input = paymentInput({ amount: { currency: 'EUR', value: '10.81' } });
    const lost = member(await createPayment(input), 'OutcomeUnknownError');
    expect(lost).toMatchObject({ code: 'OUTCOME_UNKNOWN', idempotencyKey: input.idempotencyKey });
    const { externalId } = lost;
    const found = dataOf(await client.query(PaymentDocument, { channel: CHANNEL, externalId }));
    expect(found.payment).toBeNull();
  });

  test.each([
    ['the caller', undefined, { code: 'BAD_USER_INPUT', retryable: false }],
    ['the service', 'order-1', { code: 'SERVICE_UNAVAILABLE', retryable: true }],
  ])('reads in a GraphQL error that %s is at fault', async (_who, externalId, extensions) => {
    sandbox.control.inject({ operation: 'lookup', fault: 'status', status: 503, times: 3 });
    const { errors } = await client.query(PaymentDocument, { channel: CHANNEL, externalId });
    expect(errors).toMatchObject([{ extensions }]);
    expect(errors[0]?.extensions?.['requestId']).toMatch(/^[0-9a-f-]{36}$/);
  });
});
