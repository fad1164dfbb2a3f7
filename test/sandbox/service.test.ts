import { API_KEY } from '../support/gateway';
import { eachTest, type Answer } from './fixtures/running';
import { direct, PAN, payoutTo, redirect } from './fixtures/requests';

// Behaviour of the sandbox beyond the specification, which test/conformance covers.

const running = eachTest();

function idIn(response: Answer): string {
  expect(response.status).toBe(201);
  return String(response.body['transaction_id']);
}

async function created(request: unknown) {
  const response = await running.createPayment(request);
  return { id: idIn(response), body: response.body };
}

function expectRefusal(response: Answer, names: string[]): void {
  expect(response.status).toBe(400);
  expect(Object.keys(response.body['errors'] ?? {}).sort()).toEqual(names.sort());
}

describe('The authentication of the sandbox', () => {
  test('gives the same response to a wrong key and a wrong signature', async () => {
    const body = redirect();
    const wrongKey = await running.post('api/v1/payment/', body, { 'X-API-Key': `${API_KEY}x` });
    const wrongSignature = await running.post('api/v1/payment/', body, { 'X-Signature': 'x' });
    expect([wrongKey.status, wrongSignature.status]).toEqual([401, 401]);
    expect(wrongKey.text).toBe(wrongSignature.text);
  });

  test('accepts timestamps of the real time after the clock of the sandbox was advanced', async () => {
    running.sandbox.controlPlane.advance(3_600_000);
    expect((await running.createPayment(redirect())).status).toBe(201);
  });
});

describe('A payment in the sandbox', () => {
  test('stores no card number and no security code', async () => {
    const { id, body: payment } = await created(direct('card', { external_id: 'o-1' }));
    const other = await created(
      redirect({ payment_method: { type: 'other', note: `card ${PAN} please`, cvc: '987' } }),
    );
    const stored = JSON.stringify([payment, other.body, running.sandbox.controlPlane.transactions()]);
    const found = [(await running.payment(id)).text, (await running.payment(other.id)).text];
    for (const text of [stored, ...found]) expect(text).not.toMatch(new RegExp(`${PAN}|\\b987\\b`));
  });
});

describe('A payout in the sandbox', () => {
  test('accepts a valid card number and never shows it', async () => {
    const card = (pan: string) =>
      payoutTo({ amount: { currency: 'KZT', value: '9.00' }, payout_method: { type: 'card', pan } });
    expectRefusal(await running.createPayout(card('4111111111111112')), ['payout_method.pan']);
    const { body: payout, status } = await running.createPayout(card(PAN));
    expect(status).toBe(201);
    const found = await running.payout(String(payout['transaction_id']));
    expect(found.text + JSON.stringify(running.sandbox.controlPlane.transactions())).not.toContain(PAN);
  });
});

describe('In the sandbox, confirming', () => {
  const waiting = async (type: 'upi' | 'c2c'): Promise<string> => (await created(direct(type))).id;

  async function stateOf(id: string) {
    const { body: payment } = await running.payment(id);
    return [payment['status'], payment['payment_method']?.['state']];
  }

  test('a upi payment with the UTR 000000 is refused, and can be repeated with another UTR', async () => {
    const id = await waiting('upi');
    const before = await stateOf(id);
    expectRefusal(await running.confirm({ id, utr: '000000' }), ['utr']);
    expect(await stateOf(id)).toEqual(before);
    expect((await running.confirm({ id, utr: '482913' })).body['status']).toBe('completed');
  });

  test.each([
    ['upi', { utr: '111111' }, 3000],
    ['c2c', {}, 1500],
  ] as const)('a %s payment with the input %j completes the payment %d ms later', async (type, code, ms) => {
    const id = await waiting(type);
    expect((await running.confirm({ id, ...code })).body['status']).toBe('processing');
    running.clock.advance(ms - 1);
    expect(await stateOf(id)).toEqual(['processing', 'waiting_for_provider']);
    running.clock.advance(1);
    expect(await stateOf(id)).toEqual(['completed', undefined]);
  });
});

describe('A request to the sandbox', () => {
  test('is refused with all its errors at once, listed by field and without the sent values', async () => {
    const response = await running.createPayment({
      channel: 'secret-channel',
      amount: { value: '12,50', currency: 'eur', received: '1.00' },
      return_url: 'javascript:alert(1)',
      callback_url: 'ftp://files.example/',
      payment_method: { type: 'telepathy-secret' },
      surprise: 1,
    });
    const amount = ['amount.currency', 'amount.value', 'amount.received'];
    const urls = ['return_url', 'callback_url'];
    expectRefusal(response, ['channel', 'payment_method.type', ...amount, ...urls, 'surprise']);
    expect(response.text).not.toMatch(/secret|12,50|javascript|ftp/);
  });

  test('is refused if its description or a field name contains a card number, but not for other long numbers', async () => {
    const card = redirect({ description: 'for 4111-1111-1111-1111, thanks' });
    expectRefusal(await running.createPayment(card), ['description']);
    const named = { ...redirect(), [PAN]: 1, [`x${PAN}`]: 1 };
    expectRefusal(await running.createPayment(named), ['(unnamed)']);
    const order = redirect({ description: 'order 1717146765123' });
    expect((await running.createPayment(order)).status).toBe(201);
  });
});

async function everywhere(value: string): Promise<{ payments: string[]; payout: string }> {
  const bodies = [redirect({ value }), direct('upi', { value }), direct('jazz_cash', { value })];
  const payments = await Promise.all(bodies.map(async (body) => idIn(await running.createPayment(body))));
  return { payments, payout: idIn(await running.createPayout(payoutTo({ value }))) };
}

describe('In the sandbox, an amount', () => {
  test.each([
    ['30.70', '15.35'],
    ['30.71', '46.07'],
    // Large amounts are computed exactly, in cents.
    ['90071992547409931.70', '45035996273704965.85'],
  ])('of %s makes a payment mispaid with %s received, and completes a payout', async (value, received) => {
    const { payments, payout } = await everywhere(value);
    running.clock.advance(5000);
    for (const id of payments) {
      const { body } = await running.payment(id);
      expect(body).toMatchObject({ status: 'mispaid', amount: { value, received } });
      expect(body).not.toHaveProperty('error');
    }
    expect((await running.payout(payout)).body['status']).toBe('completed');
  });

  test('that ends in .75 leaves transactions open until the control plane settles them', async () => {
    const { payments, payout } = await everywhere('30.75');
    const upi = idIn(await running.createPayment(direct('upi', { value: '30.75' })));
    expect((await running.confirm({ id: upi, utr: '1' })).body['status']).toBe('processing');
    running.clock.advance(86_400_000);
    for (const id of [...payments, upi])
      expect((await running.payment(id)).body['status']).toMatch(/^(pending|processing)$/);
    expect((await running.payment(upi)).body['payment_method']?.['state']).toBe('waiting_for_provider');
    expect((await running.payout(payout)).body['status']).toBe('processing');
    for (const id of [upi, payout]) expect(running.sandbox.controlPlane.settle(id).status).toBe('completed');
  });
});

describe.each(['payment', 'payout'] as const)('In the sandbox, a %s amount', (kind) => {
  const create = (value: string): Promise<Answer> => {
    const named = { value, external_id: 'x' };
    if (kind === 'payment') return running.createPayment(direct('jazz_cash', named));
    return running.createPayout(payoutTo(named));
  };
  const lookUp = () => (kind === 'payment' ? running.paymentNamed('x') : running.payoutNamed('x'));
  const COMPLETED = { status: 200, body: { status: 'completed' } };

  test.each([
    ['ending in .80 causes a lost response after the create', '1.80', undefined, COMPLETED],
    ['ending in .81 cuts the connection before the create', '1.81', undefined, { status: 404 }],
    ['ending in .82 causes a response with 500 after the create', '1.82', 500, COMPLETED],
    ['ending in .84 truncates the JSON of the response', '1.84', 201, COMPLETED],
  ])('%s', async (_what, value, status, later) => {
    const response = await create(value).catch(() => undefined);
    expect(response?.status).toBe(status);
    expect(response?.body['transaction_id']).toBeUndefined();
    running.clock.advance(1500);
    expect(await lookUp()).toMatchObject(later);
  });

  test('ending in .83 hides the transaction from lookups for 5 s', async () => {
    const older = idIn(await create('1.00'));
    const id = idIn(await create('1.83'));
    running.clock.advance(4999);
    expect((await lookUp()).body['transaction_id']).toBe(older);
    running.clock.advance(1);
    expect((await lookUp()).body['transaction_id']).toBe(id);
  });

  test('ending in .85 causes an unknown status in the responses to the create and to lookups', async () => {
    expect((await create('1.85')).body['status']).toBe('on_hold');
    expect((await lookUp()).body['status']).toBe('on_hold');
  });

  test('ending in .86 causes an unknown method in lookups', async () => {
    await create('1.86');
    const { body } = await lookUp();
    const type = kind === 'payment' ? body['payment_method']?.['type'] : body['method'];
    expect(type).toBe('carrier_pigeon');
  });
});
