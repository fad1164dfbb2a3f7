import { status } from './service/faults';
import { CHANNEL, type Json } from './support/caller';
import { describeStores, newKey, type Rig } from './support/rig';

const CARD = {
  pan: '4111111111111111',
  expiryMonth: '12',
  expiryYear: '2099',
  cvc: '737',
  cardholder: 'Ann Payer',
};
const card = (over: Json = {}): Json => ({
  amount: { currency: 'EUR', value: '10.00' },
  method: { card: { ...CARD, ...over } },
});

/** Changes that make it another payment. */
const OTHER_INPUTS: [string, Json, Json][] = [
  ['another amount', {}, { amount: { currency: 'INR', value: '10.01' } }],
  ['another external id', {}, { externalId: 'another order' }],
  ['an external id, where there was none', { externalId: undefined }, { externalId: 'order 1' }],
  ['no external id, where there was one', {}, { externalId: undefined }],
  ['another channel', {}, { channel: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b11' }],
  ['another method', {}, { method: { redirect: 'UPI' } }],
  ['another detail of the method', {}, { method: { upi: { email: 'bob@example.com' } } }],
  ['another return URL', { returnUrl: 'https://shop.example/a' }, { returnUrl: 'https://shop.example/b' }],
  ['another callback URL', {}, { callbackUrl: 'https://shop.example/callback' }],
  ['another description', {}, { description: 'another' }],
  ['another card number', card(), card({ pan: '5555555555554444' })],
  ['another cardholder', card(), card({ cardholder: 'Bob Payer' })],
];

const NAMES = { email: 'ann@example.com', firstName: 'Ann' };
const NAMES_TURNED = Object.fromEntries(Object.entries(NAMES).reverse());

/** Changes in writing alone. */
const OTHER_WRITINGS: [string, Json, Json][] = [
  ['a UUID in upper case', {}, { channel: CHANNEL.toUpperCase() }],
  [
    '5.5 for 5.50',
    { amount: { currency: 'INR', value: '5.50' } },
    { amount: { currency: 'INR', value: '5.5' } },
  ],
  ['5 for 5.00', { amount: { currency: 'INR', value: '5.00' } }, { amount: { currency: 'INR', value: '5' } }],
  [
    '005.00 for 5.00',
    { amount: { currency: 'INR', value: '5.00' } },
    { amount: { currency: 'INR', value: '005.00' } },
  ],
  ['a null for nothing', {}, { returnUrl: null, callbackUrl: null }],
  ['details in another order', { method: { upi: NAMES } }, { method: { upi: NAMES_TURNED } }],
  ['a card number with spaces', card(), card({ pan: '4111 1111 1111 1111' })],
  ['a card number with dashes', card(), card({ pan: '4111-1111-1111-1111' })],
  ['another security code, which is not kept', card(), card({ cvc: '838' })],
];

describeStores('A key that is used again', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  test.each([
    ['amount', 'payment', { amount: { currency: 'INR', value: '77.70' } }],
    ['externalId', 'payment', { externalId: 'another order' }],
    ['method', 'payment', { method: { redirect: 'HAVALE' } }],
    ['operation', 'payout', {}],
  ] as const)(
    'names what differs in the message of a conflict, without its value: %s',
    async (part, kind, other) => {
      const key = newKey();
      await rig.create('payment', key);
      const { result, message } = await rig.create(kind, key, other);
      expect(result).toBe('IdempotencyConflictError');
      expect(message).toContain(part);
      expect(message).not.toMatch(/77\.70|another order/);
    },
  );

  test.each(OTHER_INPUTS)('conflicts with %s', async (_name, input, other) => {
    const key = newKey();
    expect(await rig.create('payment', key, input)).toMatchObject({ result: 'PaymentSuccess' });
    expect(await rig.create('payment', key, { ...input, ...other })).toMatchObject({
      result: 'IdempotencyConflictError',
    });
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test.each(OTHER_WRITINGS)('does not tell %s', async (_name, input, other) => {
    const key = newKey();
    const { transactionId } = await rig.create('payment', key, input);
    const again = await rig.create('payment', key, { ...input, ...other });
    expect(again).toMatchObject({ result: 'PaymentSuccess', replayed: true, transactionId });
    expect(rig.service.created(key)).toHaveLength(1);
  });
});

describeStores('An input that was accepted and breaks a rule now', (rigs) => {
  const INPUT = { returnUrl: 'https://shop.example/back' };
  let before: Rig;
  let now: Rig;

  beforeAll(async () => {
    before = await rigs.start();
    const { store, clock } = before;
    const env = { ALLOWED_URL_HOSTS: 'other.example' };
    now = await rigs.start({ store, clock, service: before.service, env });
  });

  test.each(['payment', 'payout'] as const)('is answered with the %s that it created', async (kind) => {
    const input = { callbackUrl: 'https://shop.example/called' };
    const key = newKey();
    const { transactionId } = await before.create(kind, key, input);
    const again = await now.create(kind, key, input);
    expect(again).toMatchObject({
      result: expect.stringMatching(/Success$/) as string,
      replayed: true,
      transactionId,
    });
    expect(before.service.created(key)).toHaveLength(1);
  });

  test('conflicts when it is another input than the one that created something', async () => {
    const key = newKey();
    await before.create('payment', key, INPUT);
    const other = { ...INPUT, amount: { currency: 'INR', value: '10.01' } };
    expect((await now.create('payment', key, other)).result).toBe('IdempotencyConflictError');
  });

  test('is refused under a key that created nothing', async () => {
    const key = newKey();
    expect(await now.create('payment', key, INPUT)).toMatchObject({
      result: 'InvalidInputError',
      fields: [{ path: ['returnUrl'], rule: 'allowedHost' }],
    });
    expect(before.service.created(key)).toHaveLength(0);
  });

  test('is refused, and not sent again, under a key that is free because the service refused', async () => {
    const key = newKey();
    before.service.plan((purpose) =>
      purpose === 'create-payment' ? { acts: false, reply: status(400) } : undefined,
    );
    expect((await before.create('payment', key, INPUT)).result).toBe('RejectedByServiceError');
    before.service.plan(() => undefined);
    const sent = before.service.asked('create-payment').length;
    expect((await now.create('payment', key, INPUT)).result).toBe('InvalidInputError');
    expect(before.service.asked('create-payment')).toHaveLength(sent);
  });
});
