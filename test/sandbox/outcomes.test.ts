import { eachTest, type Answer } from './fixtures/running';
import { direct, payoutTo, redirect } from './fixtures/requests';

const running = eachTest();

function idIn(response: Answer): string {
  expect(response.status).toBe(201);
  return String(response.body['transaction_id']);
}

async function everywhere(value: string): Promise<{ payments: string[]; payout: string }> {
  const bodies = [redirect({ value }), direct('upi', { value }), direct('jazz_cash', { value })];
  const payments = await Promise.all(bodies.map(async (body) => idIn(await running.createPayment(body))));
  return { payments, payout: idIn(await running.createPayout(payoutTo({ value }))) };
}

describe('Transactions with amounts of special cents', () => {
  test.each([
    ['30.70', '15.35'],
    ['30.71', '46.07'],
    // Large amounts are computed exactly, in cents.
    ['90071992547409931.70', '45035996273704965.85'],
  ])('of %s: payments are mispaid with %s received, payouts complete', async (value, received) => {
    const { payments, payout } = await everywhere(value);
    running.clock.advance(5000);
    for (const id of payments) {
      const { body } = await running.payment(id);
      expect(body).toMatchObject({ status: 'mispaid', amount: { value, received } });
      expect(body).not.toHaveProperty('error');
    }
    expect((await running.payout(payout)).body['status']).toBe('completed');
  });

  test('stay open with .75 until the control plane settles them', async () => {
    const { payments, payout } = await everywhere('30.75');
    const upi = idIn(await running.createPayment(direct('upi', { value: '30.75' })));
    expect((await running.confirm({ id: upi, utr: '1' })).body['status']).toBe('processing');
    running.clock.advance(86_400_000);
    for (const id of [...payments, upi])
      expect((await running.payment(id)).body['status']).toMatch(/^(pending|processing)$/);
    expect((await running.payment(upi)).body['payment_method']?.['state']).toBe('waiting_for_provider');
    expect((await running.payout(payout)).body['status']).toBe('processing');
    for (const id of [upi, payout]) expect(running.sandbox.control.settle(id).status).toBe('completed');
  });

  type Create = (value: string) => Promise<Answer>;

  describe.each<[kind: string, create: Create, lookUp: () => Promise<Answer>]>([
    [
      'payment',
      (value) => running.createPayment(direct('jazz_cash', { value, external_id: 'x' })),
      () => running.paymentNamed('x'),
    ],
    [
      'payout',
      (value) => running.createPayout(payoutTo({ value, external_id: 'x' })),
      () => running.payoutNamed('x'),
    ],
  ])('of a %s', (kind, create, lookUp) => {
    test('lose the response with .80 after the create', async () => {
      await expect(create('1.80')).rejects.toThrow();
      expect((await lookUp()).body['status']).toBe('processing');
      running.clock.advance(1500);
      expect((await lookUp()).body['status']).toBe('completed');
    });

    test('cut the connection with .81 before the create', async () => {
      await expect(create('1.81')).rejects.toThrow();
      expect((await lookUp()).status).toBe(404);
    });

    test('respond with 500 for .82 after the create', async () => {
      const { status, body } = await create('1.82');
      expect(status).toBe(500);
      expect(body).not.toHaveProperty('transaction_id');
      expect((await lookUp()).status).toBe(200);
    });

    test('are hidden from lookups for 5 s with .83', async () => {
      const older = idIn(await create('1.00'));
      const id = idIn(await create('1.83'));
      running.clock.advance(4999);
      expect((await lookUp()).body['transaction_id']).toBe(older);
      running.clock.advance(1);
      expect((await lookUp()).body['transaction_id']).toBe(id);
    });

    test('truncate the JSON of the response with .84', async () => {
      const response = await create('1.84');
      expect(response.status).toBe(201);
      expect(Number(response.headers.get('content-length'))).toBe(response.text.length);
      expect(() => JSON.parse(response.text) as unknown).toThrow(SyntaxError);
      expect((await lookUp()).status).toBe(200);
    });

    test('have an unknown status with .85, on create and lookup', async () => {
      expect((await create('1.85')).body['status']).toBe('on_hold');
      expect((await lookUp()).body['status']).toBe('on_hold');
    });

    test('have an unknown method with .86', async () => {
      idIn(await create('1.86'));
      const { body } = await lookUp();
      const type = kind === 'payment' ? body['payment_method']?.['type'] : body['method'];
      expect(type).toBe('carrier_pigeon');
    });
  });
});
