import { randomUUID } from 'node:crypto';
import { CallbackTokens } from '../../src/core/callbacks/callback-tokens';
import type { Kind } from '../support/caller';
import { latch, until } from '../support/latch';
import { API_KEY, SECRET_KEY } from '../support/gateway';
import { fakeClock } from '../support/fake-clock';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import {
  CALLBACKS_ONLY,
  LOSING_CREATES,
  callbackUrlOf,
  callBack,
  completedWith,
  untilLookedUp,
  lookups,
  loseCreate,
  roundTrip,
  createTransaction,
  shown,
  ongoingWith,
  tokenIn,
  untilSucceeded,
  watch,
  type Created,
} from './support/harness';

describeSqlite('A callback (polling is off)', (harnesses) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await harnesses.start({ env: { ...CALLBACKS_ONLY, PAYOUT_PREFLIGHT: 'off' } });
  });

  test.each<[Kind, string, string]>([
    ['payment', 'completed', 'COMPLETED'],
    ['payout', 'failed', 'FAILED'],
  ])('for a %s that is now %s updates its subscribers with one lookup', async (kind, status, seen) => {
    const created = await createTransaction(harness, kind);
    const watching = await watch(harness, created);
    expect(lookups(harness, created)).toBe(1);
    created.entry.status = status;
    await callBack(harness, created.callbackUrl);
    await watching.ended();
    expect(watching.outcome).toEqual(completedWith('PROCESSING', seen));
    expect(lookups(harness, created)).toBe(2);
  });

  test('causes one lookup even if nobody has subscribed or nothing has changed', async () => {
    const unwatched = await createTransaction(harness, 'payout');
    const unchanged = await createTransaction(harness);
    const watching = await watch(harness, unchanged);
    for (const created of [unwatched, unchanged]) await callBack(harness, created.callbackUrl);
    await untilLookedUp(harness, unwatched, 1);
    await untilLookedUp(harness, unchanged, 2);
    await roundTrip(harness);
    expect([lookups(harness, unwatched), lookups(harness, unchanged)]).toEqual([1, 2]);
    expect(watching.outcome).toEqual(ongoingWith('PROCESSING'));
  });

  test('only triggers a lookup: status and transaction id in its body are ignored', async () => {
    const [created, other] = [await createTransaction(harness), await createTransaction(harness)];
    const [watching, elsewhere] = [await watch(harness, created), await watch(harness, other)];
    for (const [place, { transactionId, channel, amount }] of [created.entry, other.entry].entries()) {
      const claim = { type: 'payment', transaction_id: transactionId, channel, status: 'completed' };
      const body = { ...claim, amount: { ...amount, received: '10.00' } };
      await callBack(harness, created.callbackUrl, JSON.stringify(body));
      await untilLookedUp(harness, created, 2 + place);
    }
    await roundTrip(harness);
    expect(await shown(harness, created)).toBe('PROCESSING');
    expect(await harness.attempt(created.key)).toMatchObject({ payment: { status: 'PROCESSING' } });
    for (const one of [watching, elsewhere]) expect(one.outcome).toEqual(ongoingWith('PROCESSING'));
    expect(lookups(harness, other)).toBe(1);
    const rows = await harness.store.rows(`SELECT status FROM attempts WHERE key = '${created.key}'`);
    expect(rows).toEqual([{ status: 'processing' }]);
  });

  test.each<Kind>(['payment', 'payout'])(
    'that arrives before the response to the create of a %s is ignored, and later subscribers get the final state',
    async (kind) => {
      const key = newKey();
      const held = harness.service.hold();
      const created = harness.create(kind, key);
      await held.arrived;
      const entry = harness.service.created(key)[0]!;
      const { transactionId } = entry;
      entry.status = 'completed';
      for (let count = 0; count < 3; count += 1) await callBack(harness, callbackUrlOf(harness, key));
      held.release();
      expect(await created).toMatchObject({ replayed: false, transactionId, status: 'PROCESSING' });
      expect(await harness.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED', [kind]: { transactionId } });
      const watching = await watch(harness, { kind, entry });
      await watching.ended();
      expect(watching.outcome).toEqual(completedWith('COMPLETED'));
    },
  );
});

describeSqlite('A callback after a lost response to a create', (harnesses) => {
  test.each<Kind>(['payment', 'payout'])(
    'recovers the unknown outcome of the %s immediately',
    async (kind) => {
      // A fixed clock stops periodic work.
      const harness = await harnesses.start({ env: LOSING_CREATES, clock: fakeClock(Date.now()) });
      const { key, entry, callbackUrl: address } = await loseCreate(harness, kind);
      expect(await harness.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', [kind]: null });
      entry.hiddenLookups = 0;
      entry.status = 'completed';
      await callBack(harness, address);
      const completed = { transactionId: entry.transactionId, status: 'COMPLETED' };
      expect(await untilSucceeded(harness, key)).toMatchObject({ [kind]: completed });
      expect(await harness.create(kind, key)).toMatchObject({ replayed: true, ...completed });
      expect(harness.service.created(key)).toHaveLength(1);
    },
  );
});

describeSqlite('Callbacks', (harnesses) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await harnesses.start({ env: { ...CALLBACKS_ONLY, PAYOUT_PREFLIGHT: 'off' } });
  });

  test('with forged tokens cause no lookup', async () => {
    const created = await createTransaction(harness);
    const watching = await watch(harness, created);
    const [row] = await harness.store.rows(`SELECT id FROM attempts WHERE key = '${created.key}'`);
    const id = String(row?.['id']);
    created.entry.status = 'completed';
    const before = harness.service.requests.length;
    const foreign = ['another secret', API_KEY].map((secret) => new CallbackTokens(secret).encode(id));
    const unknown = new CallbackTokens(SECRET_KEY).encode(randomUUID());
    for (const token of [...foreign, unknown, id, `${tokenIn(created.callbackUrl)}=`])
      await callBack(harness, token);
    expect(harness.service.requests).toHaveLength(before);
    await roundTrip(harness);
    expect(lookups(harness, created)).toBe(1);
    expect(watching.outcome).toEqual(ongoingWith('PROCESSING'));
  });

  test('during a lookup cause another lookup, so that subscribers get the new status', async () => {
    const created = await createTransaction(harness);
    const watching = await watch(harness, created);
    const held = harness.service.hold();
    await callBack(harness, created.callbackUrl);
    await held.arrived;
    created.entry.status = 'completed';
    await callBack(harness, created.callbackUrl);
    held.release();
    await watching.ended();
    expect(watching.outcome).toEqual(completedWith('PROCESSING', 'COMPLETED'));
  });

  test('at 20 per second cause about two lookups per second, and subscribers get the last status', async () => {
    const clock = fakeClock(Date.now());
    const steady = await harnesses.start({ env: CALLBACKS_ONLY, clock });
    const created = await createTransaction(steady);
    const watching = await watch(steady, created);
    const before = lookups(steady, created);
    for (let step = 0; step < 100; step += 1) {
      await callBack(steady, created.callbackUrl);
      clock.advance(50);
    }
    const cost = lookups(steady, created) - before;
    expect(cost).toBeGreaterThan(1);
    expect(cost).toBeLessThanOrEqual(11);
    created.entry.status = 'completed';
    await callBack(steady, created.callbackUrl);
    await until(() => {
      clock.advance(100);
      return watching.completed;
    });
    expect(watching.outcome).toEqual(completedWith('PROCESSING', 'COMPLETED'));
  });

  test('for 200 transactions at once leave capacity for lookups by callers', async () => {
    const created: Created[] = [];
    for (let round = 0; round < 10; round += 1)
      created.push(...(await Promise.all(Array.from({ length: 20 }, () => createTransaction(harness)))));
    const caller = await createTransaction(harness);
    const flooded = new Set(created.map(({ entry }) => entry.transactionId));
    const released = latch();
    let arrived = 0;
    harness.service.plan((_purpose, { parameters }) => {
      if (!flooded.has(parameters.get('transaction_id') ?? '')) return undefined;
      arrived += 1;
      return { acts: true, first: released.opened };
    });
    await Promise.all(created.map(({ callbackUrl: address }) => callBack(harness, address)));
    // Lookups caused by callbacks get no response; the caller's lookup does.
    await until(() => arrived > 0);
    expect(await shown(harness, caller)).toBe('PROCESSING');
    // At most 128 lookups can be in flight.
    expect(arrived).toBeLessThan(128);
    released.open();
    const [last] = created;
    const watching = await watch(harness, last!);
    last!.entry.status = 'completed';
    // For one second after the flood, callbacks for other transactions are dropped.
    await until(async () => {
      await callBack(harness, last!.callbackUrl);
      return watching.completed;
    });
    expect(watching.outcome).toEqual(completedWith('PROCESSING', 'COMPLETED'));
  });
});
