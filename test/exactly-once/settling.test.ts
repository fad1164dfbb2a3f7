import { randomUUID } from 'node:crypto';
import { reset, status } from './service/faults';
import type { Fault } from './service/faulty-service';
import { CHANNEL, type Kind } from './support/caller';
import { until } from './support/gate';
import { describeStores, newKey, type Rig } from './support/rig';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;
/** UNKNOWN_SETTLE_SECONDS where it is not set. */
const SETTLE = 900 * SECOND;

/** A payment as an earlier order with the same number left it in the service. */
const paidBefore = ({ service }: Rig, externalId: string, agoMs: number, over: object = {}) =>
  service.ledger.create(
    'payment',
    {
      channel: CHANNEL,
      external_id: externalId,
      amount: { currency: 'INR', value: '10.00' },
      payment_method: { type: 'upi', email: 'ann@example.com' },
      ...over,
    },
    service.now() - agoMs,
  );

/** Makes a create whose answer is lost; `acts`: whether, or how much later, the service did it all the same. */
async function lose(rig: Rig, kind: Kind, key: string, acts: boolean | number = false): Promise<void> {
  rig.service.next(`create-${kind}`, { acts, reply: reset });
  expect(await rig.create(kind, key)).toMatchObject({ result: 'OutcomeUnknownError' });
}

/** Asks with the same key every two minutes, until that much time has passed. */
async function askFor(rig: Rig, key: string, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 120 * SECOND) {
    rig.clock.advance(120 * SECOND);
    await rig.create('payment', key);
  }
}

const sent = ({ service }: Rig, kind: Kind, key: string): number =>
  service.asked(`create-${kind}`).filter(({ json }) => json['description'] === key).length;

describeStores('An unknown payment', (rigs) => {
  let rig: Rig;

  beforeEach(async () => {
    rig = await rigs.start();
  });

  test('is created anew under the same key, but not before UNKNOWN_SETTLE_SECONDS have passed', async () => {
    const key = newKey();
    await lose(rig, 'payment', key);
    await askFor(rig, key, SETTLE - 120 * SECOND);
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN' });
    expect(sent(rig, 'payment', key)).toBe(1);
    await askFor(rig, key, 360 * SECOND);
    expect(sent(rig, 'payment', key)).toBe(2);
    expect(rig.service.created(key)).toHaveLength(1);
    const { transactionId } = rig.service.created(key)[0]!;
    expect(await rig.create('payment', key)).toMatchObject({ replayed: true, transactionId });
  });

  test('may then be another input, too', async () => {
    const key = newKey();
    await lose(rig, 'payment', key);
    await until(
      () => {
        rig.clock.advance(60 * SECOND);
        return rig.attempt(key);
      },
      (attempt) => attempt?.outcome === 'NOT_SENT',
    );
    const amount = { currency: 'INR', value: '11.00' };
    expect(await rig.create('payment', key, { amount })).toMatchObject({ replayed: false });
    expect(rig.service.created(key)).toMatchObject([{ amount }]);
  });

  test('is not created anew when lookups failed all the time', async () => {
    const key = newKey();
    rig.service.plan((purpose) =>
      purpose === 'look-up-payment' ? { acts: false, reply: status(503) } : undefined,
    );
    await lose(rig, 'payment', key, true);
    for (let day = 0; day < 3; day += 1) {
      rig.clock.advance(DAY);
      expect(await rig.create('payment', key)).toMatchObject({
        result: expect.not.stringContaining('Success'),
      });
    }
    expect(sent(rig, 'payment', key)).toBe(1);
    rig.service.plan(() => undefined);
    const { transactionId } = rig.service.created(key)[0]!;
    const end = await until(
      () => rig.create('payment', key),
      ({ result }) => result === 'PaymentSuccess',
    );
    expect(end).toMatchObject({ replayed: true, transactionId });
  });

  test('is found although the service creates it only long after it cut the connection', async () => {
    const key = newKey();
    await lose(rig, 'payment', key, 1200);
    await until(
      () => rig.service.created(key).length,
      (count) => count === 1,
    );
    const { transactionId } = rig.service.created(key)[0]!;
    const end = await until(
      () => rig.create('payment', key),
      ({ result }) => result === 'PaymentSuccess',
    );
    expect(end).toMatchObject({ replayed: true, transactionId });
  });

  test.each([
    ['older', 10 * 60 * SECOND, {}],
    ['only seconds older', 5 * SECOND, {}],
    ['of another amount', 0, { amount: { currency: 'INR', value: '10.01' } }],
    ['of another currency', 0, { amount: { currency: 'EUR', value: '10.00' } }],
    ['by another method', 0, { payment_method: { type: 'card' } }],
  ])('is not taken for a payment with the same external id that is %s', async (_name, ago, over) => {
    const key = newKey();
    paidBefore(rig, `order ${key}`, ago, over);
    await lose(rig, 'payment', key);
    expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', payment: null });
  });

  test('is not taken for the payment of another key with the same external id', async () => {
    const [key, other] = [newKey(), newKey()];
    const same = { externalId: `order ${key}` };
    await rig.create('payment', other, same);
    await lose(rig, 'payment', key);
    expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
  });

  test('is not created twice where an older payment with the same external id hides it from lookups', async () => {
    const key = newKey();
    paidBefore(rig, `order ${key}`, 10 * 60 * SECOND);
    rig.service.ledger.shows = 'oldest';
    await lose(rig, 'payment', key, true);
    await askFor(rig, key, 2 * SETTLE);
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('is followed up by another instance when its own has gone', async () => {
    const key = newKey();
    const other = await rigs.start({ service: rig.service, clock: rig.clock });
    rig.service.ledger.lag = { ms: 0, lookups: 1_000_000 };
    await lose(rig, 'payment', key, true);
    await rig.close();
    const [created] = rig.service.created(key);
    created!.hiddenLookups = 0;
    const attempt = await until(
      () => {
        rig.clock.advance(SECOND);
        return other.attempt(key);
      },
      (seen) => seen?.outcome === 'SUCCEEDED',
    );
    expect(attempt).toMatchObject({ payment: { transactionId: created!.transactionId } });
  });

  test('is looked for by one instance at a time', async () => {
    const key = newKey();
    const other = await rigs.start({ service: rig.service, clock: rig.clock });
    await lose(rig, 'payment', key);
    let underWay = 0;
    let most = 0;
    rig.service.plan((purpose, { query }) => {
      if (purpose !== 'look-up-payment' || query.get('external_id') !== `order ${key}`) return undefined;
      underWay += 1;
      most = Math.max(most, underWay);
      const done = new Promise((resolve) => setTimeout(resolve, 30)).then(() => (underWay -= 1));
      return { acts: true, first: done };
    });
    for (let round = 0; round < 10; round += 1) {
      // Less than a lease lasts: a look that is under way keeps it.
      rig.clock.advance(SECOND);
      const ends = await Promise.all([rig, other].map((gateway) => gateway.create('payment', key)));
      for (const { result } of ends) expect(result).toMatch(/^(OutcomeUnknown|RequestInProgress)Error$/);
    }
    expect(most).toBe(1);
  });
});

describeStores('An unknown payout', (rigs) => {
  let rig: Rig;

  beforeEach(async () => {
    rig = await rigs.start();
  });

  test('stays unknown, however long nothing is found, and is never sent again', async () => {
    const key = newKey();
    await lose(rig, 'payout', key);
    for (let round = 0; round < 5; round += 1) {
      rig.clock.advance(10 * DAY);
      const end = await rig.create('payout', key);
      expect(end.result).toMatch(/^(OutcomeUnknown|RequestInProgress)Error$/);
    }
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN' });
    expect(sent(rig, 'payout', key)).toBe(1);
  });

  test('is found as soon as lookups show it, also after weeks', async () => {
    const key = newKey();
    rig.service.ledger.lag = { ms: 20 * DAY, lookups: 0 };
    await lose(rig, 'payout', key, true);
    rig.clock.advance(21 * DAY);
    const { transactionId } = rig.service.created(key)[0]!;
    const end = await until(
      () => rig.create('payout', key),
      ({ result }) => result === 'PayoutSuccess',
    );
    expect(end).toMatchObject({ replayed: true, transactionId });
  });

  test('is not taken for a payout that a failed lookup says is of another method', async () => {
    const key = newKey();
    await lose(rig, 'payout', key);
    const json = { status: 'failed', method: 'bkash', transaction_id: randomUUID() };
    const reply: Fault['reply'] = (connection) => connection.send({ status: 200, json });
    rig.service.plan((purpose) => (purpose === 'look-up-payout' ? { acts: false, reply } : undefined));
    expect(await rig.create('payout', key)).toMatchObject({ result: 'OutcomeUnknownError' });
  });
});
