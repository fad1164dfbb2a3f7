import { eachTest, type Answer } from './fixtures/running';
import { direct, DIRECT, payoutTo, redirect, REDIRECT } from './fixtures/requests';

const running = eachTest();
const PROVIDER = 'PROVIDER_PROCESSING_FAILED';

const DECLINES = [
  ['01', 'DECLINED_GENERIC', undefined],
  ['02', 'PERSONAL_DATA_NOT_PROVIDED', undefined],
  ['03', 'CARD_DATA_NOT_PROVIDED', undefined],
  ['04', 'BROWSER_DATA_NOT_PROVIDED', undefined],
  ['05', 'DECLINED_3DS_AUTHENTICATION_FAILED', undefined],
  ['51', PROVIDER, 'Insufficient funds'],
  ['54', PROVIDER, 'Card expired'],
  ['57', PROVIDER, 'Transaction not permitted'],
  ['59', PROVIDER, 'Suspected fraud'],
  ['60', PROVIDER, 'Do not honor'],
  ['61', PROVIDER, '3DS authentication error'],
] as const;

function idIn(answer: Answer): string {
  expect(answer.status).toBe(201);
  return String(answer.body['transaction_id']);
}

/** One transaction of every method and flow, and a payout. */
async function everywhere(value: string): Promise<{ payments: string[]; payout: string }> {
  const bodies = [
    ...Object.keys(REDIRECT).map((type) => redirect(type, { value })),
    ...Object.keys(DIRECT).map((type) => direct(type, { value })),
  ];
  const payments = await Promise.all(bodies.map(async (body) => idIn(await running.createPayment(body))));
  return { payments, payout: idIn(await running.createPayout(payoutTo({ value }))) };
}

test.each(DECLINES)(
  'cents .%s: %s %s, for every method and for payouts, within 5 s',
  async (cents, code, text) => {
    const { payments, payout } = await everywhere(`30.${cents}`);
    running.clock.advance(5000);
    const answers = [
      ...(await Promise.all(payments.map((id) => running.payment(id)))),
      await running.payout(payout),
    ];
    for (const { body } of answers) {
      expect(body).toMatchObject({ status: 'failed', error: { code, message: text ?? expect.any(String) } });
      expect(body['payment_method'] ?? {}).not.toHaveProperty('state');
    }
  },
);

test.each([
  ['70', '15.35'],
  ['71', '46.07'],
])('cents .%s: mispaid with %s received, payouts complete', async (cents, received) => {
  const { payments, payout } = await everywhere(`30.${cents}`);
  running.clock.advance(5000);
  for (const { body } of await Promise.all(payments.map((id) => running.payment(id)))) {
    expect(body['status']).toBe('mispaid');
    expect(body['amount']).toMatchObject({ value: `30.${cents}`, received });
    expect(body).not.toHaveProperty('error');
  }
  expect((await running.payout(payout)).body['status']).toBe('completed');
});

test('what received is reckoned in cents, whatever the size of the amount', async () => {
  const id = idIn(await running.createPayment(direct('jazz_cash', { value: '90071992547409931.70' })));
  running.clock.advance(1500);
  expect((await running.payment(id)).body['amount']?.['received']).toBe('45035996273704965.85');
});

test('cents .75: nothing ends by itself, before or after a confirm, until the control plane settles it', async () => {
  const { payments, payout } = await everywhere('30.75');
  const upi = idIn(await running.createPayment(direct('upi', { value: '30.75' })));
  expect((await running.confirm({ id: upi, utr: '1' })).body['status']).toBe('processing');
  running.clock.advance(86_400_000);
  for (const id of [...payments, upi]) {
    expect((await running.payment(id)).body['status']).toMatch(/^(pending|processing)$/);
  }
  expect((await running.payment(upi)).body['payment_method']?.['state']).toBe('waiting_for_provider');
  expect((await running.payout(payout)).body['status']).toBe('processing');
  for (const id of [upi, payout]) expect(running.sandbox.control.settle(id).status).toBe('completed');
});

test.each(['.00', '.06', '.50', '.72', '.99'])('cents %s succeed', async (cents) => {
  const id = idIn(await running.createPayment(direct('jazz_cash', { value: `7${cents}` })));
  running.clock.advance(1500);
  expect((await running.payment(id)).body['status']).toBe('completed');
});

const creates = [
  ['payment', () => running.createPayment(direct('jazz_cash', { value: '1.80', external_id: 'x' }))],
  ['payout', () => running.createPayout(payoutTo({ value: '1.80', external_id: 'x' }))],
] as const;

test.each(creates)('cents .80: the %s is created, but nobody is told', async (kind, create) => {
  await expect(create()).rejects.toThrow('fetch failed');
  const found = await (kind === 'payment' ? running.paymentNamed('x') : running.payoutNamed('x'));
  expect(found.body['status']).toBe('processing');
  running.clock.advance(1500);
  const later = await (kind === 'payment' ? running.paymentNamed('x') : running.payoutNamed('x'));
  expect(later.body['status']).toBe('completed');
});

test('cents .81: the connection is cut and nothing is created', async () => {
  const payment = running.createPayment(direct('jazz_cash', { value: '1.81', external_id: 'x' }));
  await expect(payment).rejects.toThrow('fetch failed');
  await expect(running.createPayout(payoutTo({ value: '1.81', external_id: 'x' }))).rejects.toThrow(
    'fetch failed',
  );
  expect((await running.paymentNamed('x')).status).toBe(404);
  expect((await running.payoutNamed('x')).status).toBe(404);
  expect(running.sandbox.control.counts().payment).toMatchObject({ creates: 1, created: 0 });
});

test('cents .82: created, but the answer is 500', async () => {
  const payment = await running.createPayment(direct('jazz_cash', { value: '1.82', external_id: 'x' }));
  const payout = await running.createPayout(payoutTo({ value: '1.82', external_id: 'x' }));
  expect([payment.status, payout.status]).toEqual([500, 500]);
  expect(payment.body).not.toHaveProperty('transaction_id');
  expect((await running.paymentNamed('x')).status).toBe(200);
  expect((await running.payoutNamed('x')).status).toBe(200);
});

test('cents .83: created and answered, but lookups miss it for 5 s', async () => {
  const older = idIn(await running.createPayment(direct('upi', { external_id: 'x' })));
  const id = idIn(await running.createPayment(direct('upi', { value: '1.83', external_id: 'x' })));
  const payout = idIn(await running.createPayout(payoutTo({ value: '1.83' })));
  running.clock.advance(4999);
  expect((await running.payment(id)).status).toBe(404);
  expect((await running.paymentNamed('x')).body['transaction_id']).toBe(older);
  expect((await running.payout(payout)).status).toBe(404);
  running.clock.advance(1);
  expect((await running.payment(id)).status).toBe(200);
  expect((await running.paymentNamed('x')).body['transaction_id']).toBe(id);
  expect((await running.payout(payout)).status).toBe(200);
});

test('cents .84: created, and the answer breaks off in the middle of its JSON', async () => {
  for (const answer of [
    await running.createPayment(direct('jazz_cash', { value: '1.84', external_id: 'x' })),
    await running.createPayout(payoutTo({ value: '1.84', external_id: 'x' })),
  ]) {
    expect(answer.status).toBe(201);
    expect(Number(answer.headers.get('content-length'))).toBe(answer.text.length);
    expect(() => JSON.parse(answer.text) as unknown).toThrow(SyntaxError);
  }
  expect((await running.paymentNamed('x')).status).toBe(200);
  expect((await running.payoutNamed('x')).status).toBe(200);
});

test('cents .85: a status nobody has heard of, on create and lookup', async () => {
  const payment = await running.createPayment(direct('jazz_cash', { value: '1.85' }));
  const payout = await running.createPayout(payoutTo({ value: '1.85' }));
  const found = await running.payment(idIn(payment));
  const foundPayout = await running.payout(idIn(payout));
  for (const { body } of [payment, payout, found, foundPayout]) expect(body['status']).toBe('on_hold');
});

test('cents .86: a method nobody has heard of, on create and lookup', async () => {
  const payment = await running.createPayment(direct('upi', { value: '1.86' }));
  const id = idIn(payment);
  expect(payment.body['payment_method']?.['type']).toBe('carrier_pigeon');
  expect((await running.payment(id)).body['payment_method']?.['type']).toBe('carrier_pigeon');
  const confirmed = await running.confirm({ id, utr: '111111' });
  expect(confirmed.body['payment_method']?.['type']).toBe('carrier_pigeon');
  const payout = idIn(await running.createPayout(payoutTo({ value: '1.86' })));
  expect((await running.payout(payout)).body['method']).toBe('carrier_pigeon');
});
