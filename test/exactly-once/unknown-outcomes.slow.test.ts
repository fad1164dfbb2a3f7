import { randomUUID } from 'node:crypto';
import { latch } from '../support/latch';
import type { Fault } from '../support/payment-service/fake-payment-service';
import { reset } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import {
  DAY,
  MINUTE,
  UNKNOWN_RESULT,
  SECOND,
  SETTLE,
  failing,
  loseResponse,
  paidBefore,
  repeatFor,
  replacing,
  sent,
  untilCreated,
  untilDone,
  untilOutcome,
} from './support/creates';

describeSqlite('A payment of unknown outcome', (harnesses) => {
  let harness: Harness;

  beforeEach(async () => {
    harness = await harnesses.start();
  });

  test('can be sent again under the same key after UNKNOWN_SETTLE_SECONDS, but not before', async () => {
    const key = newKey();
    await loseResponse(harness, 'payment', key);
    await repeatFor(harness, key, SETTLE - 2 * MINUTE);
    expect(await harness.attempt(key)).toMatchObject({ outcome: 'UNKNOWN' });
    expect(sent(harness.service, 'payment', key)).toBe(1);
    await repeatFor(harness, key, 6 * MINUTE);
    expect(sent(harness.service, 'payment', key)).toBe(2);
    expect(harness.service.created(key)).toHaveLength(1);
    const { transactionId } = harness.service.created(key)[0]!;
    expect(await harness.create('payment', key)).toMatchObject({ replayed: true, transactionId });
  });

  test('is not sent again while lookups fail, however long that takes', async () => {
    const key = newKey();
    harness.service.plan(failing('look-up-payment'));
    await loseResponse(harness, 'payment', key, true);
    for (let day = 0; day < 3; day += 1) {
      harness.clock.advance(DAY);
      expect((await harness.create('payment', key)).result).not.toBe('PaymentSuccess');
    }
    expect(sent(harness.service, 'payment', key)).toBe(1);
    harness.service.plan(() => undefined);
    const { transactionId } = harness.service.created(key)[0]!;
    expect(await untilCreated(harness, 'payment', key)).toMatchObject({ replayed: true, transactionId });
  });

  test.each([
    ['only seconds older', 5 * SECOND, {}],
    ['of another value', 0, { amount: { currency: 'INR', value: '10.01' } }],
    ['in another currency', 0, { amount: { currency: 'EUR', value: '10.00' } }],
    ['made with another method', 0, { payment_method: { type: 'card' } }],
  ])('is not matched with a payment of the same external id that is %s', async (_name, ago, over) => {
    const key = newKey();
    paidBefore(harness, key, ago, over);
    await loseResponse(harness, 'payment', key);
    expect(await harness.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(await harness.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', payment: null });
  });

  test('is not created twice if an older payment with the same external id hides it from lookups', async () => {
    const key = newKey();
    paidBefore(harness, key, 10 * MINUTE);
    harness.service.ledger.shows = 'oldest';
    await loseResponse(harness, 'payment', key, true);
    await repeatFor(harness, key, 2 * SETTLE);
    expect(harness.service.created(key)).toHaveLength(1);
  });

  test('is looked up by only one instance at a time', async () => {
    const key = newKey();
    const other = await harnesses.start({ service: harness.service, clock: harness.clock });
    await loseResponse(harness, 'payment', key);
    const hold = latch();
    let inFlight = 0;
    let most = 0;
    harness.service.plan((endpoint, { parameters }) => {
      if (endpoint !== 'look-up-payment' || parameters.get('external_id') !== `order ${key}`)
        return undefined;
      most = Math.max(most, (inFlight += 1));
      return { acts: true, first: hold.opened.then(() => (inFlight -= 1)) };
    });
    // Advances by less than a lease, which is renewed during a lookup.
    harness.clock.advance(SECOND);
    const calls = [harness, other].map((gateway) => gateway.create('payment', key));
    await Promise.race(calls);
    hold.open();
    for (const { result } of await Promise.all(calls)) expect(result).toMatch(UNKNOWN_RESULT);
    expect(most).toBe(1);
  });
});

describeSqlite('A payout of unknown outcome', (harnesses) => {
  let harness: Harness;

  beforeEach(async () => {
    harness = await harnesses.start();
  });

  test('stays unknown and is never sent again, however long lookups find nothing', async () => {
    const key = newKey();
    await loseResponse(harness, 'payout', key);
    for (let round = 0; round < 5; round += 1) {
      harness.clock.advance(10 * DAY);
      expect((await harness.create('payout', key)).result).toMatch(UNKNOWN_RESULT);
    }
    expect(await harness.attempt(key)).toMatchObject({ outcome: 'UNKNOWN' });
    expect(sent(harness.service, 'payout', key)).toBe(1);
  });

  test('is found as soon as lookups show it, even after weeks', async () => {
    const key = newKey();
    harness.service.ledger.lag = { ms: 20 * DAY, lookups: 0 };
    await loseResponse(harness, 'payout', key, true);
    harness.clock.advance(21 * DAY);
    const { transactionId } = harness.service.created(key)[0]!;
    expect(await untilCreated(harness, 'payout', key)).toMatchObject({ replayed: true, transactionId });
  });

  test('is not matched with a failed payout of another method', async () => {
    const key = newKey();
    await loseResponse(harness, 'payout', key);
    const json = { status: 'failed', method: 'bkash', transaction_id: randomUUID() };
    harness.service.plan(failing('look-up-payout', (connection) => connection.send({ status: 200, json })));
    expect(await harness.create('payout', key)).toMatchObject({ result: 'OutcomeUnknownError' });
  });
});

describeSqlite('A create', (harnesses) => {
  test('that was refused for its timestamp is not retried if another instance has taken over the attempt', async () => {
    const harness = await harnesses.start();
    const taken = (): Promise<unknown> =>
      harness.store.rows("UPDATE stored_attempts SET state = 'u', owner = 'another' RETURNING seq");
    const stale: Fault = {
      acts: false,
      get first() {
        return taken();
      },
      reply: (connection) => {
        const date = new Date(harness.service.now() + 20 * MINUTE).toUTCString();
        connection.send({ status: 401, json: {}, headers: { date } });
      },
    };
    harness.service.next('create-payment', stale);
    expect(await harness.create('payment', newKey())).toMatchObject({ error: 'SERVICE_AUTH_FAILED' });
    expect(harness.service.requestsTo('create-payment')).toHaveLength(1);
  });

  test('of unknown outcome is not matched with a payment after JOURNAL_RETENTION_DAYS, as a purged attempt may own it', async () => {
    const harness = await harnesses.start({ env: { JOURNAL_RETENTION_DAYS: '30' } });
    const [kept, expired] = [newKey(), newKey()];
    for (const key of [kept, expired]) {
      harness.service.next('create-payment', { acts: false, reply: reset });
      harness.service.plan(failing('look-up-payment'));
      expect(await harness.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
      harness.clock.advance(key === kept ? 29 * DAY : 31 * DAY);
      harness.service.plan(() => undefined);
      paidBefore(harness, key, MINUTE);
      const result = key === kept ? 'PaymentSuccess' : 'OutcomeUnknownError';
      expect(await untilDone(() => harness.create('payment', key))).toMatchObject({ result });
    }
  });

  test('of unknown outcome is not matched with a payment of another key whose outcome is not yet recorded', async () => {
    let isRecording = false;
    const harness = await harnesses.start({
      wrap: replacing('recordOutcome', (record) => async (...args) => {
        if (isRecording) return record(...args);
        throw new Error('The journal fails.');
      }),
    });
    const [one, other] = [newKey(), newKey()];
    const same = { externalId: `order ${one}` };
    const { transactionId } = await harness.create('payment', one, same);
    expect(harness.service.created(one)).toMatchObject([{ transactionId }]);
    harness.service.next('create-payment', { acts: false, reply: reset });
    expect(await harness.create('payment', other, same)).toMatchObject({ result: 'OutcomeUnknownError' });
    isRecording = true;
    await untilOutcome(harness, one, 'SUCCEEDED');
    expect(await harness.create('payment', one, same)).toMatchObject({ replayed: true, transactionId });
    expect((await harness.create('payment', other, same)).result).not.toBe('PaymentSuccess');
  });
});
