import { eachTest, type Wire } from './fixtures/running';
import { direct, payoutTo, redirect } from './fixtures/requests';

const running = eachTest({ control: true });

async function created(body: unknown): Promise<string> {
  return String((await running.createPayment(body)).body['transaction_id']);
}

async function statusOf(id: string): Promise<unknown> {
  return (await running.payment(id)).body['status'];
}

test('transactions are listed newest first, page by page', async () => {
  const ids = [];
  for (const name of ['a', 'b', 'c']) ids.unshift(await created(redirect('card', { external_id: name })));
  const page = await running.fetch('_sandbox/transactions?limit=2');
  const listed = page.body['transactions'] as unknown as Wire[];
  expect(listed.map((one) => one['transactionId'])).toEqual(ids.slice(0, 2));
  expect(listed[0]).toMatchObject({
    kind: 'payment',
    externalId: 'c',
    type: 'card',
    flow: 'redirect',
    status: 'pending',
  });
  const rest = await running.fetch(`_sandbox/transactions?limit=2&before=${ids[1]}`);
  expect((rest.body['transactions'] as unknown as Wire[]).map((one) => one['transactionId'])).toEqual(
    ids.slice(2),
  );
  expect((await running.fetch('_sandbox/transactions?limit=0')).status).toBe(400);
});

test('settling ends a transaction as its amount says, at once', async () => {
  const good = await created(redirect('card'));
  const bad = await created(redirect('card', { value: '1.59' }));
  expect((await running.control(`transactions/${good}/settle`)).body['status']).toBe('completed');
  expect((await running.control(`transactions/${bad}/settle`)).body['status']).toBe('failed');
  expect([await statusOf(good), await statusOf(bad)]).toEqual(['completed', 'failed']);
});

test('declining takes a code and a message, underpaying what was received', async () => {
  const declined = await created(direct('upi'));
  const error = { code: 'PROVIDER_PROCESSING_FAILED', message: 'Account closed' };
  await running.control(`transactions/${declined}/decline`, error);
  expect((await running.payment(declined)).body).toMatchObject({ status: 'failed', error });
  const underpaid = await created(direct('upi'));
  await running.control(`transactions/${underpaid}/underpay`, { received: '24.99' });
  expect((await running.payment(underpaid)).body).toMatchObject({
    status: 'mispaid',
    amount: { received: '24.99' },
  });
});

test('payouts are settled and declined as well, but never underpaid', async () => {
  const ids = [];
  for (let count = 0; count < 2; count += 1) {
    ids.push(String((await running.createPayout(payoutTo())).body['transaction_id']));
  }
  expect((await running.control(`transactions/${ids[0]}/underpay`)).status).toBe(400);
  await running.control(`transactions/${ids[0]}/settle`);
  await running.control(`transactions/${ids[1]}/decline`);
  expect((await running.payout(ids[0] ?? '')).body['status']).toBe('completed');
  expect((await running.payout(ids[1] ?? '')).body['error']).toMatchObject({ code: 'DECLINED_GENERIC' });
});

test('what is settled stays settled, and the unknown is unknown', async () => {
  const id = await created(redirect('card'));
  await running.control(`transactions/${id}/settle`);
  for (const word of ['settle', 'decline', 'underpay']) {
    expect((await running.control(`transactions/${id}/${word}`)).status).toBe(409);
    expect((await running.control(`transactions/none/${word}`)).status).toBe(404);
  }
  expect(await statusOf(id)).toBe('completed');
});

test('moving the clock on makes happen what falls due, step by step', async () => {
  const id = await created(direct('jazz_cash'));
  const first = await running.control('clock/advance', { ms: 1499 });
  expect(first.body).toEqual({ now: '2024-05-31T09:12:46.622Z', fired: 0 });
  expect((await running.control('clock/advance', { ms: 1 })).body['fired']).toBe(1);
  expect(await statusOf(id)).toBe('completed');
  const later = await running.createPayment(redirect('card'));
  expect(later.body['create_date']).toMatch(/^2024-05-31T09:12:46\.623\d{3}\+00:00$/);
});

test.each([
  [{ ms: -1 }, { ms: 'must be a whole number from 0 to 34560000000' }],
  [{ ms: 'soon' }, { ms: 'must be a whole number from 0 to 34560000000' }],
  [{ ms: 1, also: 2 }, { also: 'is unknown' }],
])('the advance %j is refused', async (body, errors) => {
  const answer = await running.control('clock/advance', body);
  expect(answer.status).toBe(400);
  expect(answer.body['errors']).toEqual(errors);
});

const create = () => running.createPayment(redirect('card', { external_id: 'x' }));
const exists = async () => (await running.paymentNamed('x')).status === 200;

test('a cut before the work leaves nothing behind, one after it does', async () => {
  await running.control('faults', { operation: 'create', fault: 'cut_before' });
  await expect(create()).rejects.toThrow('fetch failed');
  expect(await exists()).toBe(false);
  await running.control('faults', { operation: 'create', fault: 'cut_after' });
  await expect(create()).rejects.toThrow('fetch failed');
  expect(await exists()).toBe(true);
});

test('a status comes instead of the work, a 500 and a broken answer after it', async () => {
  await running.control('faults', { operation: 'create', fault: 'status', status: 429 });
  expect((await create()).status).toBe(429);
  expect(await exists()).toBe(false);
  await running.control('faults', { operation: 'create', fault: 'error_after' });
  expect((await create()).status).toBe(500);
  expect(await exists()).toBe(true);
  await running.control('faults', { operation: 'lookup', fault: 'truncated' });
  const broken = await running.paymentNamed('x');
  expect(broken.status).toBe(200);
  expect(() => JSON.parse(broken.text) as unknown).toThrow(SyntaxError);
});

test('a delay holds the answer back until the clock has moved on', async () => {
  await running.control('faults', { operation: 'create', fault: 'delay', ms: 4000 });
  let answered = false;
  const answer = create().finally(() => (answered = true));
  // The count tells that the create has arrived: from then on it waits for the clock alone.
  while (running.sandbox.control.counts().payment.creates === 0) await running.fetch('healthz');
  running.sandbox.control.advance(3999);
  await running.fetch('healthz');
  expect(answered).toBe(false);
  running.sandbox.control.advance(1);
  expect((await answer).status).toBe(201);
});

test('a fault strikes so many requests of its operation and resource, and no others', async () => {
  const fault = { operation: 'create', resource: 'payment', fault: 'status', status: 503, times: 2 };
  const injected = await running.control('faults', fault);
  expect(injected.body['faults']).toEqual([{ ...fault, ms: 1000 }]);
  expect((await running.createPayout(payoutTo())).status).toBe(201);
  expect(await exists()).toBe(false);
  expect([(await create()).status, (await create()).status, (await create()).status]).toEqual([
    503, 503, 201,
  ]);
  expect((await running.fetch('_sandbox/faults')).body['faults']).toEqual([]);
});

test('a confirm can be struck, and has then been done or not', async () => {
  const id = await created(direct('upi'));
  await running.control('faults', { operation: 'confirm', fault: 'cut_before' });
  await expect(running.confirm({ id, utr: '1' })).rejects.toThrow('fetch failed');
  expect(await statusOf(id)).toBe('processing');
  await running.control('faults', { operation: 'confirm', fault: 'cut_after' });
  await expect(running.confirm({ id, utr: '1' })).rejects.toThrow('fetch failed');
  expect(await statusOf(id)).toBe('completed');
});

test.each([
  [{}, { operation: 'is required', fault: 'is required' }],
  [{ operation: 'refund', fault: 'cut_before' }, { operation: 'must be one of create, lookup, confirm' }],
  [
    { operation: 'create', fault: 'status', status: 200 },
    { status: 'must be a whole number from 400 to 599' },
  ],
  [{ operation: 'create', fault: 'delay', times: 0 }, { times: 'must be a whole number from 1 to 10000' }],
])('the fault %j is refused', async (body, errors) => {
  const answer = await running.control('faults', body);
  expect(answer.status).toBe(400);
  expect(answer.body['errors']).toEqual(errors);
});

test('what arrived and what was created is counted', async () => {
  const id = await created(direct('upi'));
  await running.createPayment({});
  await running.payment(id);
  await running.confirm({ id, utr: '1' });
  await running.createPayout(payoutTo());
  await running.post('api/v1/payment/', '{}', { 'X-API-Key': 'stranger' });
  expect((await running.fetch('_sandbox/counts')).body).toEqual({
    payment: { creates: 2, created: 1, lookups: 1, confirms: 1 },
    payout: { creates: 1, created: 1, lookups: 0, confirms: 0 },
  });
});

test('reset forgets everything', async () => {
  const id = await created(direct('jazz_cash'));
  await running.control('faults', { operation: 'create', fault: 'cut_before' });
  await running.control('clock/advance', { ms: 60_000 });
  expect((await running.control('reset')).status).toBe(200);
  expect((await running.payment(id)).status).toBe(404);
  expect((await running.createPayment(redirect('card'))).body['create_date']).toContain('T09:12:45.');
  expect(running.sandbox.control.counts().payment.creates).toBe(1);
});

test('an interface in the process does the same without HTTP', async () => {
  const id = await created(redirect('card'));
  expect(running.sandbox.control.decline(id)).toMatchObject({ transactionId: id, status: 'failed' });
  expect(() => running.sandbox.control.settle(id)).toThrow('settled already');
  expect(() => running.sandbox.control.settle('none')).toThrow('no such transaction');
});
