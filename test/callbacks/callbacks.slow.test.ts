import { randomUUID } from 'node:crypto';
import { CallbackTokens } from '../../src/core/callbacks/callback-tokens';
import type { Kind } from '../support/caller';
import { gate, until } from '../support/latch';
import { API_KEY, SECRET_KEY } from '../support/gateway';
import { movedClock } from '../support/fake-clock';
import { hangUp, reset } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Rig } from '../support/harness';
import {
  HINTED,
  addressOf,
  callBack,
  endedAt,
  lookedUp,
  lookups,
  lose,
  outcome,
  roundTrip,
  sell,
  shown,
  stillAt,
  tokenIn,
  untilSucceeded,
  watch,
  type Sold,
} from './support/harness';

const times = (count: number): number[] => Array.from({ length: count }, (_, place) => place);

describeSqlite('Without polling, a callback', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start({ env: HINTED });
  });

  test.each<[Kind, string, string]>([
    ['payment', 'completed', 'COMPLETED'],
    ['payout', 'failed', 'FAILED'],
  ])('for a %s that is %s updates its subscribers by one lookup', async (kind, status, seen) => {
    const sold = await sell(rig, kind);
    const watching = await watch(rig, sold);
    expect(lookups(rig, sold)).toBe(1);
    sold.entry.status = status;
    await callBack(rig, sold.address);
    await watching.ended();
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', seen));
    expect(lookups(rig, sold)).toBe(2);
  });

  test('causes one lookup without subscribers, and without a change', async () => {
    const [unwatched, unchanged] = [await sell(rig, 'payout'), await sell(rig)];
    const watching = await watch(rig, unchanged);
    for (const sold of [unwatched, unchanged]) await callBack(rig, sold.address);
    await lookedUp(rig, unwatched, 1);
    await lookedUp(rig, unchanged, 2);
    await roundTrip(rig);
    expect([lookups(rig, unwatched), lookups(rig, unchanged)]).toEqual([1, 2]);
    expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
  });

  test('is not believed: neither its state nor its transaction', async () => {
    const [sold, other] = [await sell(rig), await sell(rig)];
    const [watching, elsewhere] = [await watch(rig, sold), await watch(rig, other)];
    for (const [place, { transactionId, channel, amount }] of [sold.entry, other.entry].entries()) {
      const claim = { type: 'payment', transaction_id: transactionId, channel, status: 'completed' };
      await callBack(
        rig,
        sold.address,
        JSON.stringify({ ...claim, amount: { ...amount, received: '10.00' } }),
      );
      await lookedUp(rig, sold, 2 + place);
    }
    await roundTrip(rig);
    expect(await shown(rig, sold)).toBe('PROCESSING');
    expect(await rig.attempt(sold.key)).toMatchObject({ payment: { status: 'PROCESSING' } });
    for (const one of [watching, elsewhere]) expect(outcome(one)).toEqual(stillAt('PROCESSING'));
    expect(lookups(rig, other)).toBe(1);
    const rows = await rig.store.rows(`SELECT status FROM attempts WHERE key = '${sold.key}'`);
    expect(rows).toEqual([{ status: 'processing' }]);
  });

  test.each<Kind>(['payment', 'payout'])(
    'before the response to the create of a %s is ignored, and a subscriber gets the final state',
    async (kind) => {
      const key = newKey();
      const [called, answered] = [gate(), gate()];
      rig.service.next(`create-${kind}`, {
        acts: true,
        reply: (connection, answer) => {
          rig.service.created(key)[0]!.status = 'completed';
          called.open();
          void answered.opened.then(() => connection.send(answer));
        },
      });
      const created = rig.create(kind, key);
      await called.opened;
      for (let count = 0; count < 3; count += 1) await callBack(rig, addressOf(rig, key));
      answered.open();
      const entry = rig.service.created(key)[0]!;
      const { transactionId } = entry;
      expect(await created).toMatchObject({ replayed: false, transactionId, status: 'PROCESSING' });
      expect(await rig.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED', [kind]: { transactionId } });
      const watching = await watch(rig, { kind, entry });
      await watching.ended();
      expect(outcome(watching)).toEqual(endedAt('COMPLETED'));
    },
  );
});

describeSqlite('A callback after a lost response to a create', (rigs) => {
  test.each<[Kind, string, typeof reset]>([
    ['payment', 'was cut off', reset],
    ['payout', 'ended at once', hangUp],
  ])('resolves the unknown %s at once when the response %s', async (kind, _how, reply) => {
    // A fixed clock stops periodic work.
    const rig = await rigs.start({ env: HINTED, clock: movedClock(Date.now()) });
    const { key, entry, address } = await lose(rig, kind, reply);
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', [kind]: null });
    entry.hiddenLookups = 0;
    entry.status = 'completed';
    await callBack(rig, address);
    const { transactionId } = entry;
    expect(await untilSucceeded(rig, key)).toMatchObject({ [kind]: { transactionId, status: 'COMPLETED' } });
    expect(await rig.create(kind, key)).toMatchObject({ replayed: true, transactionId, status: 'COMPLETED' });
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('leaves it unknown while no lookup shows it, and the next callback resolves it', async () => {
    const clock = movedClock(Date.now());
    const rig = await rigs.start({ env: HINTED, clock });
    const { key, entry, address } = await lose(rig, 'payment');
    const before = rig.service.requestsTo('look-up-payment').length;
    await callBack(rig, address, '{"status":"completed"}');
    await until(() => rig.service.requestsTo('look-up-payment').length > before);
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', payment: null });
    entry.hiddenLookups = 0;
    await callBack(rig, address);
    await until(async () => {
      // Less than half a second of the fake clock is between them.
      clock.advance(100);
      return (await rig.attempt(key))?.outcome === 'SUCCEEDED';
    });
  });
});

describeSqlite('While the service fails', (rigs) => {
  test('callbacks end no subscription, and later ones update subscribers', async () => {
    const rig = await rigs.start({ env: HINTED });
    const sold = await sell(rig);
    const watching = await watch(rig, sold);
    await rig.service.close();
    for (let count = 0; count < 5; count += 1) await callBack(rig, sold.address);
    expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
    await rig.service.listen();
    sold.entry.status = 'completed';
    await until(async () => {
      await callBack(rig, sold.address);
      return watching.completed || watching.errors;
    });
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
  });
});

/** Strings similar to the token: cut, longer, respelled, of another secret, and the attempt's own id. */
const forgeriesOf = (token: string, attemptId: string): string[] => [
  (token.startsWith('A') ? 'B' : 'A') + token.slice(1),
  ...[token.slice(0, 42), token.slice(1), `${token}A`, `${token}=`, `${token}%00`],
  `%${token.charCodeAt(0).toString(16)}${token.slice(1)}`,
  attemptId,
  Buffer.from(attemptId.replaceAll('-', ''), 'hex').toString('base64url'),
  ...['another secret', API_KEY].map((secret) => new CallbackTokens(secret).of(attemptId)),
  new CallbackTokens(SECRET_KEY).of(randomUUID()),
];

describeSqlite('Many callbacks', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start({ env: { ...HINTED, PAYOUT_PREFLIGHT: 'off', SERVICE_TIMEOUT_MS: '20000' } });
  });

  test('with forged tokens cause no lookup', async () => {
    const sold = await sell(rig);
    const watching = await watch(rig, sold);
    const [row] = await rig.store.rows(`SELECT id FROM attempts WHERE key = '${sold.key}'`);
    sold.entry.status = 'completed';
    const before = rig.service.requests.length;
    const forged = forgeriesOf(tokenIn(sold.address), String(row?.['id']));
    for (const token of forged) await callBack(rig, token);
    expect(rig.service.requests).toHaveLength(before);
    await roundTrip(rig);
    expect(lookups(rig, sold)).toBe(1);
    expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
  });

  test('during a lookup cause another lookup', async () => {
    const sold = await sell(rig);
    const watching = await watch(rig, sold);
    const [arrived, released] = [gate(), gate()];
    rig.service.next('look-up-payment', {
      acts: true,
      reply: (connection, answer) => {
        arrived.open();
        void released.opened.then(() => connection.send(answer));
      },
    });
    await callBack(rig, sold.address);
    await arrived.opened;
    sold.entry.status = 'completed';
    await callBack(rig, sold.address);
    released.open();
    await watching.ended();
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
  });

  test('at 20 a second cause at most two lookups a second, and the last state arrives', async () => {
    const clock = movedClock(Date.now());
    const steady = await rigs.start({ env: HINTED, clock });
    const sold = await sell(steady);
    const watching = await watch(steady, sold);
    const before = lookups(steady, sold);
    for (let step = 0; step < 100; step += 1) {
      await callBack(steady, sold.address);
      clock.advance(50);
    }
    const cost = lookups(steady, sold) - before;
    expect(cost).toBeGreaterThan(1);
    expect(cost).toBeLessThanOrEqual(11);
    sold.entry.status = 'completed';
    await callBack(steady, sold.address);
    await until(() => {
      clock.advance(100);
      return watching.completed;
    });
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
  });

  test('for 200 transactions leave capacity for lookups of callers, and later callbacks work', async () => {
    const IN_FLIGHT = 128;
    const sold: Sold[] = [];
    for (const _ of times(10)) sold.push(...(await Promise.all(times(20).map(() => sell(rig)))));
    const released = gate();
    let [open, most] = [0, 0];
    const caller = await sell(rig);
    const flooded = new Set(sold.map(({ entry }) => entry.transactionId));
    rig.service.plan((purpose, { parameters }) => {
      if (purpose !== 'look-up-payment' || !flooded.has(parameters.get('transaction_id') ?? ''))
        return undefined;
      open += 1;
      most = Math.max(most, open);
      return {
        acts: true,
        first: released.opened,
        reply: (connection, answer) => {
          open -= 1;
          connection.send(answer);
        },
      };
    });
    await Promise.all(sold.map(({ address }) => callBack(rig, address)));
    // Lookups caused by callbacks get no response; the caller's lookup does.
    await until(() => most > 0);
    expect(await shown(rig, caller)).toBe('PROCESSING');
    expect(most).toBeLessThan(IN_FLIGHT);
    released.open();
    // Callbacks for other transactions are dropped while the flood is remembered: one second.
    for (const one of [sold[0]!, await sell(rig)]) {
      const watching = await watch(rig, one);
      one.entry.status = 'completed';
      await until(async () => {
        await callBack(rig, one.address);
        return watching.completed;
      });
      expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
    }
    expect(most).toBeLessThan(IN_FLIGHT);
  });
});
