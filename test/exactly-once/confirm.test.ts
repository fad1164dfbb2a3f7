import { LOST_ANSWERS, html, reset, status } from './service/faults';
import type { Fault } from './service/faulty-service';
import { CHANNEL, type End } from './support/caller';
import { gate, until } from './support/gate';
import { TIMEOUT_MS, describeStores, newKey, type Rig } from './support/rig';

/** A confirm has no amount and no external id that its answer could contradict. */
const FAULTS = Object.entries(LOST_ANSWERS).filter(([name]) => !/currency|value|external id/.test(name));

const SLACK_MS = 3_000;

describeStores('A confirm', (rigs) => {
  let rig: Rig;
  let id: string;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  beforeEach(async () => {
    const { transactionId } = await rig.create('payment', newKey());
    id = transactionId ?? '';
  });

  const sent = (): number => rig.service.asked('confirm').filter(({ json }) => json['id'] === id).length;
  const done = (): number | undefined => rig.service.ledger.byId('payment', id)?.confirms;
  const moved = (replayed: boolean): End => ({ result: 'PaymentSuccess', replayed, transactionId: id });
  const unknown: End = { result: 'OutcomeUnknownError', idempotencyKey: null, externalId: null };

  test('is carried out once', async () => {
    expect(await rig.confirm(id)).toMatchObject(moved(false));
    expect([sent(), done()]).toEqual([1, 1]);
  });

  test.each(FAULTS)('answers the state that it led to, if the service %s after it', async (_name, reply) => {
    rig.service.next('confirm', { acts: true, reply });
    const startedAt = performance.now();
    expect(await rig.confirm(id)).toMatchObject(moved(true));
    expect(performance.now() - startedAt).toBeLessThan(2 * TIMEOUT_MS + SLACK_MS);
    expect([sent(), done()]).toEqual([1, 1]);
  });

  test.each(FAULTS)('is unknown, if the service %s instead of it', async (_name, reply) => {
    rig.service.next('confirm', { acts: false, reply });
    expect(await rig.confirm(id)).toMatchObject({ ...unknown, transactionId: id });
    expect([sent(), done()]).toEqual([1, 0]);
  });

  test('that is repeated after a lost answer looks first, and sends nothing if the payment has moved on', async () => {
    rig.service.next('confirm', { acts: false, reply: reset });
    expect(await rig.confirm(id)).toMatchObject(unknown);
    rig.service.ledger.confirm({ id });
    expect(await rig.confirm(id)).toMatchObject(moved(true));
    expect(sent()).toBe(1);
  });

  test('that is repeated after a lost answer is sent again if the payment still waits', async () => {
    rig.service.next('confirm', { acts: false, reply: reset });
    expect(await rig.confirm(id)).toMatchObject(unknown);
    expect(await rig.confirm(id)).toMatchObject(moved(false));
    expect([sent(), done()]).toEqual([2, 1]);
  });

  test('that is repeated after a lost answer sends nothing while the payment cannot be looked up', async () => {
    rig.service.next('confirm', { acts: false, reply: reset });
    expect(await rig.confirm(id)).toMatchObject(unknown);
    const down: Fault = { acts: false, reply: status(503) };
    rig.service.plan((purpose) => (purpose === 'look-up-payment' ? down : undefined));
    const end = await rig.confirm(id).finally(() => rig.service.plan(() => undefined));
    expect(end).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(sent()).toBe(1);
    rig.service.ledger.confirm({ id });
    expect(await rig.confirm(id)).toMatchObject(moved(true));
    expect(sent()).toBe(1);
  });

  test('that another gateway lost is looked at first as well', async () => {
    const other = await rigs.start({ service: rig.service, clock: rig.clock });
    rig.service.next('confirm', { acts: false, reply: reset });
    expect(await rig.confirm(id)).toMatchObject(unknown);
    rig.service.ledger.confirm({ id });
    expect(await other.confirm(id)).toMatchObject(moved(true));
    expect(sent()).toBe(1);
  });

  test('is one at a time per payment, across gateways', async () => {
    const other = await rigs.start({ service: rig.service, clock: rig.clock });
    const hold = gate();
    rig.service.next('confirm', { acts: true, first: hold.opened });
    const first = rig.confirm(id);
    await until(sent, (count) => count === 1);
    for (const gateway of [rig, other]) {
      const second = await gateway.confirm(id);
      expect(second).toMatchObject({ result: 'RequestInProgressError' });
      expect(second.retryAfterMs).toBeGreaterThan(0);
    }
    hold.open();
    expect(await first).toMatchObject(moved(false));
    expect([sent(), done()]).toEqual([1, 1]);
  });

  test('of 100 at the same time through two gateways is carried out once', async () => {
    const other = await rigs.start({ service: rig.service, clock: rig.clock });
    const ends = await Promise.all(
      Array.from({ length: 100 }, (_, place) => (place % 2 ? rig : other).confirm(id)),
    );
    expect(done()).toBe(1);
    expect(ends.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    expect(ends.filter(({ error }) => error)).toEqual([]);
  });

  test('goes on although its caller leaves', async () => {
    const hold = gate();
    rig.service.next('confirm', { acts: true, first: hold.opened });
    const leaving = new AbortController();
    const input = { channel: CHANNEL, transactionId: id };
    const query =
      'mutation ($input: ConfirmPaymentInput!) { done: confirmPayment(input: $input) { __typename } }';
    const confirmation = { upi: { utr: '123456789012' } };
    const left = rig.call(query, { ...input, confirmation }, leaving.signal).catch(() => 'left');
    await until(sent, (count) => count === 1);
    leaving.abort();
    expect(await left).toBe('left');
    hold.open();
    await until(done, (count) => count === 1);
    await until(
      () => rig.confirm(id),
      ({ result }) => result !== 'RequestInProgressError',
    );
    expect(done()).toBe(1);
  });

  test.each<[string, Fault['reply'], End]>([
    ['400 in HTML', html(400), { result: 'RejectedByServiceError', httpStatus: 400 }],
    ['404', status(404), { result: 'RejectedByServiceError', httpStatus: 404 }],
    ['401', status(401), { error: 'SERVICE_AUTH_FAILED' }],
    ['429', status(429, { 'retry-after': '3' }), { error: 'SERVICE_UNAVAILABLE', retryAfterMs: 3000 }],
  ])(
    'that the service answers with %s was not carried out, and can be repeated',
    async (_name, reply, end) => {
      rig.service.next('confirm', { acts: false, reply });
      expect(await rig.confirm(id)).toMatchObject(end);
      expect(await rig.confirm(id)).toMatchObject(moved(false));
      expect([sent(), done()]).toEqual([2, 1]);
    },
  );

  test('is not sent where the connection is refused', async () => {
    await rig.service.close();
    const end = await rig.confirm(id).finally(() => rig.service.listen());
    expect(end).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(await rig.confirm(id)).toMatchObject(moved(false));
  });

  test.each(['dcb', 'bkash', 'nagad', 'rocket'])(
    'by the arm of another method (%s) is refused',
    async (arm) => {
      const end = await rig.confirm(id, { [arm]: { code: '1234' } });
      expect(end).toMatchObject({ result: 'InvalidInputError', fields: [{ path: ['confirmation', arm] }] });
      expect(sent()).toBe(0);
    },
  );

  test('by c2c of a payment by upi is refused', async () => {
    expect(await rig.confirm(id, { c2c: 'TRANSFER_MADE' })).toMatchObject({ result: 'InvalidInputError' });
    expect(sent()).toBe(0);
  });

  test('is taken on trust for a payment that this gateway did not create', async () => {
    const body = { external_id: newKey(), payment_method: { type: 'dcb', user_id: 'u' } };
    const elsewhere = rig.service.ledger.create('payment', { ...body, channel: CHANNEL }, rig.service.now());
    id = elsewhere.transactionId;
    expect(await rig.confirm(id, { dcb: { code: '1234' } })).toMatchObject(moved(false));
  });
});
