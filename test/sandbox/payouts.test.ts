import { CHANNEL, eachTest } from './fixtures/running';
import { PAN, payoutTo } from './fixtures/requests';

const running = eachTest();

test('a payout is created processing, without its external id, and completes by itself', async () => {
  const answer = await running.createPayout(payoutTo());
  expect(answer.status).toBe(201);
  const id = String(answer.body['transaction_id']);
  expect(answer.body).toEqual({ status: 'processing', transaction_id: id, external_id: null });
  expect((await running.payout(id)).body).toEqual({
    status: 'processing',
    transaction_id: id,
    external_id: 'payout-1',
  });
  running.clock.advance(1500);
  expect((await running.payoutNamed('payout-1')).body).toEqual({
    status: 'completed',
    transaction_id: id,
    external_id: 'payout-1',
  });
});

test('the lookup of a failed payout names method and error', async () => {
  const { body } = await running.createPayout(payoutTo({ value: '5.02' }));
  running.clock.advance(1500);
  expect((await running.payout(String(body['transaction_id']))).body).toEqual({
    status: 'failed',
    transaction_id: body['transaction_id'],
    method: 'jazz_cash',
    external_id: 'payout-1',
    error: { code: 'PERSONAL_DATA_NOT_PROVIDED', message: expect.any(String) },
  });
});

test('external ids of payouts need not be unique: a lookup finds the newest', async () => {
  await running.createPayout(payoutTo());
  const newer = await running.createPayout(payoutTo());
  expect((await running.payoutNamed('payout-1')).body['transaction_id']).toBe(newer.body['transaction_id']);
});

test('the card number of a payout is checked, and shown nowhere', async () => {
  const card = (pan: string) =>
    payoutTo({ amount: { currency: 'KZT', value: '9.00' }, payout_method: { type: 'card', pan } });
  expect((await running.createPayout(card('4111111111111112'))).status).toBe(400);
  const { body, status } = await running.createPayout(card(PAN));
  expect(status).toBe(201);
  const texts = [
    (await running.payout(String(body['transaction_id']))).text,
    JSON.stringify(running.sandbox.control.transactions()),
  ];
  for (const text of texts) expect(text).not.toContain(PAN);
});

test('description and callback are taken, an unknown payout is answered with 404', async () => {
  const more = { description: 'salary', callback_url: 'http://127.0.0.1:9/' };
  expect((await running.createPayout(payoutTo(more))).status).toBe(201);
  expect((await running.payout(CHANNEL)).status).toBe(404);
});
