import { CHANNEL, eachTest } from './fixtures/running';
import { direct, PAN, redirect, REDIRECT } from './fixtures/requests';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const running = eachTest();

async function created(body: unknown) {
  const answer = await running.createPayment(body);
  expect(answer.status).toBe(201);
  return { id: String(answer.body['transaction_id']), body: answer.body };
}

test('a redirect payment is answered with the full resource and waits for the payer', async () => {
  const { id, body } = await created(redirect('scheme', { return_url: 'https://shop.example/' }));
  expect(body).toEqual({
    status: 'pending',
    transaction_id: expect.stringMatching(UUID),
    amount: { currency: 'EUR', value: '25.00' },
    redirect_url: `${running.url}pay/${id}`,
    channel: CHANNEL,
    payment_method: { type: 'scheme' },
    create_date: '2024-05-31T09:12:45.123001+00:00',
  });
  running.sandbox.control.advance(86_400_000);
  expect((await running.payment(id)).body['status']).toBe('pending');
});

test.each(Object.keys(REDIRECT))('the redirect flow of %s has no state', async (type) => {
  const { body } = await created(redirect(type));
  expect(body['status']).toBe('pending');
  expect(body['payment_method']).not.toHaveProperty('state');
});

test('the number of a card leaves nothing but a mask, and the security code nothing at all', async () => {
  const { id, body } = await created(direct('card', { external_id: 'o-1' }));
  expect(body['payment_method']).toEqual({
    type: 'card',
    cardholder: 'JANE DOE',
    card_mask: '4111********1111',
    bank_name: 'Test Bank',
    card_type: 'debit',
  });
  const kept = [(await running.payment(id)).text, JSON.stringify(running.sandbox.control.transactions())];
  for (const text of [JSON.stringify(body), ...kept]) expect(text).not.toMatch(new RegExp(`${PAN}|987`));
});

test('a method of any fields keeps no card number either', async () => {
  const payment_method = { type: 'other', note: `card ${PAN} please`, cvc: '987' };
  const { id } = await created(redirect('card', { payment_method }));
  const found = await running.payment(id);
  expect(found.body['payment_method']).toEqual({ type: 'other', note: 'card 4111********1111 please' });
});

test('user agent and address of a card payer are shown by lookups only', async () => {
  const { id, body } = await created(direct('card'));
  expect(body['payment_method']).not.toHaveProperty('user_agent');
  expect((await running.payment(id)).body['payment_method']).toMatchObject({
    user_agent: 'test',
    user_ip: '192.0.2.7',
  });
});

test('a direct payment without a state begins processing and completes by itself', async () => {
  const { id, body } = await created(direct('jazz_cash'));
  expect(body['status']).toBe('processing');
  running.clock.advance(1499);
  expect((await running.payment(id)).body['status']).toBe('processing');
  running.clock.advance(1);
  expect((await running.payment(id)).body['status']).toBe('completed');
});

test.each([
  ['upi', 'waiting_for_utr', ['upi_id', 'upi_link']],
  ['dcb', 'waiting_for_code', []],
  ['c2c', 'waiting_for_confirm', ['card_number', 'recipient']],
  ['bkash', 'waiting_for_code', ['account']],
])('a direct %s payment begins in %s and stays there', async (type, state, added) => {
  const { id, body } = await created(direct(type));
  expect(body['status']).toBe('processing');
  expect(body['payment_method']).toMatchObject({ type, state });
  for (const name of added) expect(body['payment_method']).toHaveProperty(name);
  running.sandbox.control.advance(86_400_000);
  const later = await running.payment(id);
  expect(later.body['payment_method']).toEqual(body['payment_method']);
});

test('a wallet names its account beside the method as well, in the server-to-server flow only', async () => {
  const { body } = await created(direct('bkash'));
  expect(body['account']).toMatch(/^017\d{8}$/);
  expect(body['payment_method']?.['account']).toBe(body['account']);
  expect((await created(redirect('bkash'))).body).not.toHaveProperty('account');
  expect((await created(direct('jazz_cash'))).body).not.toHaveProperty('account');
});

test('a method whose flows ask for the same fields answers with both ways to pay', async () => {
  const account = (await created(redirect('virtual_account'))).body;
  expect(account['payment_method']).toEqual({
    type: 'virtual_account',
    bank_code: 'bca',
    account_number: '123',
    virtual_account: expect.stringMatching(/^\d{16}$/),
  });
  expect(account['redirect_url']).toContain('/pay/');
  expect((await created(redirect('qris'))).body['payment_method']).toHaveProperty('qr_code');
  expect((await created(redirect('upi'))).body['payment_method']).toEqual({ type: 'upi' });
});

test('external ids need not be unique: a lookup finds the newest', async () => {
  const older = await created(redirect('card', { external_id: 'o & 1/ü' }));
  const newer = await created(redirect('card', { external_id: 'o & 1/ü' }));
  expect((await running.paymentNamed('o & 1/ü')).body['transaction_id']).toBe(newer.id);
  const both = `channel=${CHANNEL}&external_id=o+%26+1/%C3%BC&transaction_id=${older.id.toUpperCase()}`;
  expect((await running.get('api/v1/payment/', both)).body['transaction_id']).toBe(older.id);
});

test('where both ids are given both must fit', async () => {
  const { id } = await created(redirect('card', { external_id: 'o-1' }));
  const query = `channel=${CHANNEL}&transaction_id=${id}&external_id=o-2`;
  expect((await running.get('api/v1/payment/', query)).status).toBe(404);
});

test('a payment is found on its own channel only, and not as a payout', async () => {
  const { id } = await created(redirect('card', { external_id: 'o-1' }));
  const other = CHANNEL.replace('6', '7');
  expect((await running.get('api/v1/payment/', `channel=${other}&transaction_id=${id}`)).status).toBe(404);
  expect((await running.get('api/v1/payment/', `channel=${other}&external_id=o-1`)).status).toBe(404);
  expect((await running.payout(id)).status).toBe(404);
  expect((await running.payoutNamed('o-1')).status).toBe(404);
  const capitals = `channel=${CHANNEL.toUpperCase()}&transaction_id=${id}`;
  expect((await running.get('api/v1/payment/', capitals)).status).toBe(200);
});

test('an unknown payment is answered with 404 in JSON', async () => {
  const answer = await running.payment(CHANNEL);
  expect(answer.status).toBe(404);
  expect(answer.body).toEqual({ message: 'There is no such transaction' });
});
