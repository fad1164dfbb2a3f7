import { CHANNEL, type CallResult, type Json } from '../support/caller';
import { validCall } from '../support/calls';
import { latch, until } from '../support/latch';
import type { FaultReply } from '../support/payment-service/fake-payment-service';
import { html, reset, status } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import { KINDS, OTHER_AMOUNT, SUCCESS, disconnect, failing, sent, untilSent } from './support/creates';

const CONFLICT = { result: 'IdempotencyConflictError' };

/** Responses that prove that nothing was created. */
const REFUSALS: [string, FaultReply, CallResult, string][] = [
  ['400 in HTML', html(400), { result: 'RejectedByServiceError', httpStatus: 400 }, 'REJECTED'],
  ['422', status(422), { result: 'RejectedByServiceError', httpStatus: 422 }, 'REJECTED'],
  ['401', status(401), { error: 'SERVICE_AUTH_FAILED', retryable: false }, 'NOT_SENT'],
  [
    '429 with Retry-After',
    status(429, { 'retry-after': '7' }),
    { error: 'SERVICE_UNAVAILABLE', retryable: true, retryAfterMs: 7000 },
    'NOT_SENT',
  ],
];

describeSqlite('An idempotency key', (harnesses) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await harnesses.start();
  });

  describe.each(KINDS)('of a %s', (kind) => {
    test('creates one transaction; later calls return its current state, or its last known state if the lookup fails', async () => {
      const key = newKey();
      const first = await harness.create(kind, key);
      expect(first).toMatchObject({ result: SUCCESS[kind], replayed: false });
      harness.service.plan(failing(`look-up-${kind}`));
      const again = await harness.create(kind, key).finally(() => harness.service.plan(() => undefined));
      expect(again).toMatchObject({ ...first, replayed: true });
      harness.service.created(key)[0]!.status = 'completed';
      expect(await harness.create(kind, key)).toEqual({ ...first, replayed: true, status: 'COMPLETED' });
      expect(harness.service.created(key)).toHaveLength(1);
    });

    test('cannot be used by another call while the first call is in flight', async () => {
      const key = newKey();
      const hold = latch();
      harness.service.next(`create-${kind}`, { acts: true, first: hold.opened });
      const first = harness.create(kind, key);
      await untilSent(harness.service, kind, key);
      const second = await harness.create(kind, key);
      expect(second).toMatchObject({ result: 'RequestInProgressError' });
      expect(second.retryAfterMs).toBeGreaterThan(0);
      expect(await harness.create(kind, key, OTHER_AMOUNT)).toMatchObject(CONFLICT);
      expect(await harness.attempt(key)).toMatchObject({ outcome: 'IN_PROGRESS' });
      hold.open();
      const { transactionId } = await first;
      expect(await first).toMatchObject({ result: SUCCESS[kind], replayed: false });
      expect(await harness.create(kind, key)).toMatchObject({ replayed: true, transactionId });
    });

    test.each(REFUSALS)('can be used again after the response %s', async (_name, reply, end, outcome) => {
      const key = newKey();
      harness.service.next(`create-${kind}`, { acts: false, reply });
      expect(await harness.create(kind, key)).toMatchObject(end);
      expect(sent(harness.service, kind, key)).toBe(1);
      expect(await harness.attempt(key)).toMatchObject({ outcome, settledAt: expect.any(String) as unknown });
      const again = await harness.create(kind, key, OTHER_AMOUNT);
      expect(again).toMatchObject({ result: SUCCESS[kind], replayed: false });
      expect(harness.service.created(key)).toMatchObject([OTHER_AMOUNT]);
      expect(await harness.create(kind, key)).toMatchObject(CONFLICT);
    });

    test('can be used again after a refused connection', async () => {
      const key = newKey();
      await harness.service.close();
      const refused = await harness.create(kind, key).finally(() => harness.service.listen());
      expect(refused).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(await harness.create(kind, key)).toMatchObject({ result: SUCCESS[kind], replayed: false });
      expect(harness.service.created(key)).toHaveLength(1);
    });

    test('creates one transaction even if the caller disconnects and the gateway shuts down', async () => {
      const key = newKey();
      const closing = await harnesses.start();
      const hold = latch();
      closing.service.next(`create-${kind}`, { acts: true, first: hold.opened });
      await disconnect(
        (signal) => closing.create(kind, key, {}, signal),
        () => sent(closing.service, kind, key),
      );
      const closed = closing.close();
      const responses = () => fetch(closing.url).then(Boolean, () => false);
      await until(responses, (does) => !does);
      hold.open();
      await closed;
      const next = await harnesses.start({ service: closing.service, clock: closing.clock });
      expect(await next.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED' });
      expect(await next.create(kind, key)).toMatchObject({ result: SUCCESS[kind], replayed: true });
      expect(closing.service.created(key)).toHaveLength(1);
    });
  });

  test('of a payment without external id determines a unique external id, which replays use too', async () => {
    const ids: string[] = [];
    for (const isLost of [false, true, false]) {
      const key = newKey();
      if (isLost) harness.service.next('create-payment', { acts: true, reply: reset });
      const first = await harness.create('payment', key, { externalId: undefined });
      const [created] = harness.service.created(key);
      const { externalId, transactionId } = created!;
      expect(first).toMatchObject({ replayed: isLost, transactionId });
      const again = await harness.create('payment', key, { externalId: undefined });
      expect(again).toMatchObject({ externalId, transactionId, replayed: true });
      expect(await harness.attempt(key)).toMatchObject({ externalId });
      ids.push(externalId);
    }
    expect(ids.join('')).toMatch(/^[\x21-\x7e]+$/);
    expect(new Set(ids).size).toBe(3);
  });

  test('is independent of the same key for another payment service', async () => {
    const key = newKey();
    await harness.create('payment', key);
    const other = await harnesses.start();
    expect(await other.attempt(key)).toBeNull();
    expect(await other.create('payment', key, OTHER_AMOUNT)).toMatchObject({ replayed: false });
  });
});

const { amount, method } = validCall('createPayment', 'card').input as Record<string, { card: Json }>;
const card = (over: Json = {}): Json => ({ amount, method: { card: { ...method?.card, ...over } } });

const OTHER_INPUTS: [string, Json, Json][] = [
  ['only the second input has an external id', { externalId: undefined }, { externalId: 'order 1' }],
  ['only the first input has an external id', {}, { externalId: undefined }],
  ['the second input has another channel', {}, { channel: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b11' }],
  ['the second input has another email in the method', {}, { method: { upi: { email: 'bob@example.com' } } }],
  ['the second input has another callback URL', {}, { callbackUrl: 'https://shop.example/callback' }],
  ['the second input has another card number', card(), card({ pan: '5555555555554444' })],
];

const NAMES = { email: 'ann@example.com', firstName: 'Ann' };
const NAMES_TURNED = Object.fromEntries(Object.entries(NAMES).reverse());

const other = (fields: Json): Json => ({ method: { other: { fields } } });

/** Other notations of the same input. */
const OTHER_NOTATIONS: [string, Json, Json][] = [
  ['a UUID in upper case', {}, { channel: CHANNEL.toUpperCase() }],
  ['10.0 for 10.00', {}, { amount: { currency: 'INR', value: '10.0' } }],
  ['null for an omitted field', {}, { returnUrl: null, callbackUrl: null }],
  ['free fields in another order', other(NAMES), other(NAMES_TURNED)],
  ['a card number with spaces', card(), card({ pan: '4111 1111 1111 1111' })],
  ['another security code, which is not stored', card(), card({ cvc: '838' })],
];

describeSqlite('An idempotency key that is used again', (harnesses) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await harnesses.start();
  });

  test.each([
    ['amount', 'payment', { amount: { currency: 'INR', value: '77.70' } }],
    ['externalId', 'payment', { externalId: 'another order' }],
    ['method', 'payment', { method: { redirect: 'HAVALE' } }],
    ['operation', 'payout', {}],
  ] as const)(
    'with another %s causes a conflict error that names it, but not its value',
    async (part, kind, other) => {
      const key = newKey();
      await harness.create('payment', key);
      const { result, message } = await harness.create(kind, key, other);
      expect(result).toBe('IdempotencyConflictError');
      expect(message).toContain(part);
      expect(message).not.toMatch(/77\.70|another order/);
    },
  );

  test.each(OTHER_INPUTS)('causes a conflict error when %s', async (_name, input, other) => {
    const key = newKey();
    expect(await harness.create('payment', key, input)).toMatchObject({ result: 'PaymentSuccess' });
    expect(await harness.create('payment', key, { ...input, ...other })).toMatchObject(CONFLICT);
    expect(harness.service.created(key)).toHaveLength(1);
  });

  test.each(OTHER_NOTATIONS)(
    'replays the create when the second input has %s',
    async (_name, input, other) => {
      const key = newKey();
      const { transactionId } = await harness.create('payment', key, input);
      const again = await harness.create('payment', key, { ...input, ...other });
      expect(again).toMatchObject({ result: 'PaymentSuccess', replayed: true, transactionId });
      expect(harness.service.created(key)).toHaveLength(1);
    },
  );
});

describeSqlite('An input that breaks a rule only since a change of settings', (harnesses) => {
  test.each(KINDS)('still replays the %s that it created, but cannot create another', async (kind) => {
    const before = await harnesses.start();
    const { clock, service } = before;
    const env = { ALLOWED_URL_HOSTS: 'other.example' };
    const now = await harnesses.start({ clock, service, env });
    const input = { callbackUrl: 'https://shop.example/called' };
    const [key, rejected] = [newKey(), newKey()];
    const { transactionId } = await before.create(kind, key, input);
    const again = await now.create(kind, key, input);
    expect(again).toMatchObject({ result: SUCCESS[kind], replayed: true, transactionId });
    expect(await now.create(kind, key, { ...input, ...OTHER_AMOUNT })).toMatchObject(CONFLICT);
    expect(service.created(key)).toHaveLength(1);
    service.next(`create-${kind}`, { acts: false, reply: status(400) });
    expect((await before.create(kind, rejected, input)).result).toBe('RejectedByServiceError');
    const fields = [{ path: ['callbackUrl'], rule: 'allowedHost' }];
    expect(await now.create(kind, rejected, input)).toMatchObject({ result: 'InvalidInputError', fields });
    expect(sent(service, kind, rejected)).toBe(1);
  });
});
