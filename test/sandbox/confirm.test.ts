import { eachTest } from './fixtures/running';
import { direct, payoutTo, redirect } from './fixtures/requests';

const running = eachTest();

async function waiting(type: string, chosen = {}): Promise<string> {
  const answer = await running.createPayment(direct(type, chosen));
  expect(answer.status).toBe(201);
  return String(answer.body['transaction_id']);
}

async function stateOf(id: string) {
  const { body } = await running.payment(id);
  return [body['status'], body['payment_method']?.['state']];
}

const WITH_ANSWER = [
  ['upi', 'utr'],
  ['dcb', 'code'],
  ['bkash', 'transaction_id'],
] as const;

test.each(WITH_ANSWER)('a %s payment confirmed with %s completes at once', async (type, field) => {
  const id = await waiting(type);
  const answer = await running.confirm({ id, [field]: '482913' });
  expect(answer.status).toBe(200);
  expect(Object.keys(answer.body)).toEqual([
    'status',
    'transaction_id',
    'amount',
    'redirect_url',
    'create_date',
  ]);
  expect(answer.body).toMatchObject({ status: 'completed', transaction_id: id, amount: { value: '25.00' } });
  expect(await stateOf(id)).toEqual(['completed', undefined]);
});

test('a c2c payment is confirmed by its id alone and waits for the provider', async () => {
  const id = await waiting('c2c');
  const answer = await running.confirm({ id });
  expect(answer.body).toEqual({
    status: 'processing',
    transaction_id: id,
    payment_method: { type: 'c2c', state: 'waiting_for_provider' },
  });
  running.clock.advance(1499);
  expect(await stateOf(id)).toEqual(['processing', 'waiting_for_provider']);
  running.clock.advance(1);
  expect(await stateOf(id)).toEqual(['completed', undefined]);
});

test.each(WITH_ANSWER)('a wrong answer leaves a %s payment waiting', async (type, field) => {
  const id = await waiting(type);
  const before = await stateOf(id);
  const answer = await running.confirm({ id, [field]: '000000' });
  expect(answer.status).toBe(400);
  expect(answer.body['errors']).toEqual({ [field]: 'was refused' });
  expect(await stateOf(id)).toEqual(before);
  expect((await running.confirm({ id, [field]: '482913' })).body['status']).toBe('completed');
});

test.each(WITH_ANSWER)('the answer 111111 to %s is approved only later', async (type, field) => {
  const id = await waiting(type);
  const answer = await running.confirm({ id, [field]: '111111' });
  expect(answer.body).toMatchObject({
    status: 'processing',
    payment_method: { type, state: 'waiting_for_provider' },
  });
  expect(answer.body).not.toHaveProperty('amount');
  running.clock.advance(2999);
  expect(await stateOf(id)).toEqual(['processing', 'waiting_for_provider']);
  running.clock.advance(1);
  expect(await stateOf(id)).toEqual(['completed', undefined]);
});

test('the short answer of upi repeats the payer, that of a wallet does not', async () => {
  const upi = await running.confirm({ id: await waiting('upi'), utr: '111111' });
  expect(upi.body['payment_method']).toHaveProperty('first_name', 'Asha');
  const wallet = await running.confirm({ id: await waiting('bkash'), transaction_id: '111111' });
  expect(Object.keys(wallet.body['payment_method'] ?? {})).toEqual(['type', 'state']);
});

test('a payment whose amount forces an end is confirmed and then ends that way', async () => {
  const id = await waiting('upi', { value: '10.51' });
  expect((await running.confirm({ id, utr: '482913' })).body['status']).toBe('processing');
  expect(await stateOf(id)).toEqual(['processing', 'waiting_for_provider']);
  running.clock.advance(1500);
  expect((await running.payment(id)).body['error']).toEqual({
    code: 'PROVIDER_PROCESSING_FAILED',
    message: 'Insufficient funds',
  });
});

test('what does not wait for a confirmation cannot be confirmed', async () => {
  const completed = await waiting('upi');
  await running.confirm({ id: completed, utr: '1' });
  const approving = await waiting('c2c');
  await running.confirm({ id: approving });
  const byPage = String((await running.createPayment(redirect('upi'))).body['transaction_id']);
  const never = await waiting('jazz_cash');
  for (const id of [completed, approving, byPage, never]) {
    const answer = await running.confirm({ id, utr: '1' });
    expect(answer.status).toBe(400);
    expect(answer.body['errors']).toEqual({ id: 'must be a payment that waits for a confirmation' });
  }
});

test('an unknown id is answered with 404, and so is that of a payout', async () => {
  const payout = String((await running.createPayout(payoutTo())).body['transaction_id']);
  for (const id of [payout, '6f1f36ee-52e4-4f9c-9cd5-0a6f4b21a0c5']) {
    expect((await running.confirm({ id })).status).toBe(404);
  }
});

test.each([
  [{}, { utr: 'is required' }],
  [{ code: '1' }, { utr: 'is required', code: 'is unknown' }],
  [{ utr: 1 }, { utr: 'must be a string' }],
  [{ utr: '' }, { utr: 'must not be empty' }],
  [{ utr: '1', channel: 'x' }, { channel: 'is unknown' }],
])('the confirm body %j is refused', async (fields, errors) => {
  const id = await waiting('upi');
  const answer = await running.confirm({ id, ...fields });
  expect(answer.status).toBe(400);
  expect(answer.body['errors']).toEqual(errors);
  expect(await stateOf(id)).toEqual(['processing', 'waiting_for_utr']);
});

test('a confirm without an id, or with one that is none, is refused', async () => {
  expect((await running.confirm({})).body['errors']).toEqual({ id: 'is required' });
  expect((await running.confirm({ id: '7' })).body['errors']).toEqual({ id: 'must be a UUID' });
});
