import { randomUUID } from 'node:crypto';
import { CallbackTokens } from '../../src/operations/callback-tokens';
import { gate, until } from '../exactly-once/support/gate';
import { describeStores, type Rig } from '../exactly-once/support/rig';
import { API_KEY, SECRET_KEY } from '../support/gateway';
import { movedClock } from '../support/moved-clock';
import {
  HINTED,
  callBack,
  endedAt,
  lookedUp,
  lookups,
  outcome,
  roundTrip,
  sell,
  shown,
  stillAt,
  tokenIn,
  watch,
  type Sold,
} from './support/called-back';

/** Does something for each of many, so many at a time. */
async function forEach<T>(all: readonly T[], atOnce: number, act: (one: T) => Promise<unknown>) {
  const waiting = [...all];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await act(next);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

const times = (count: number): number[] => Array.from({ length: count }, (_, place) => place);

/** Everything but the token itself: cut, longer, spelled otherwise, another gateway's, the journal's own name for it. */
function forgeriesOf(token: string, attemptId: string): string[] {
  const others = [...token].map(
    (letter, place) => token.slice(0, place) + (letter === 'A' ? 'B' : 'A') + token.slice(place + 1),
  );
  return [
    ...others,
    ...times(43).map((length) => token.slice(0, length)),
    ...times(43).map((place) => token.slice(place + 1)),
    `${token}A`,
    `${token}=`,
    `${token}%00`,
    `%${token.charCodeAt(0).toString(16)}${token.slice(1)}`,
    token.toLowerCase(),
    token.split('').reverse().join(''),
    attemptId,
    Buffer.from(attemptId.replaceAll('-', ''), 'hex').toString('base64url'),
    new CallbackTokens('another secret').of(attemptId),
    new CallbackTokens(API_KEY).of(attemptId),
    new CallbackTokens(`${SECRET_KEY} `).of(attemptId),
    new CallbackTokens(SECRET_KEY).of(randomUUID()),
  ].filter((forged) => forged !== token);
}

describeStores('Callbacks that come in masses', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start({ env: HINTED });
  });

  const asked = (): number => rig.service.seen.length;

  test('with forged tokens make the gateway ask for nothing, and are answered as all others are', async () => {
    const sold = await sell(rig);
    const watching = await watch(rig, sold);
    const [row] = await rig.store.rows(`SELECT id FROM attempts WHERE key = '${sold.key}'`);
    const forged = forgeriesOf(tokenIn(sold.address), String(row?.['id']));
    expect(forged.length).toBeGreaterThan(130);
    sold.entry.status = 'completed';
    const before = asked();
    await forEach(forged, 8, (token) => callBack(rig, token));
    expect(asked()).toBe(before);
    await roundTrip(rig);
    expect(lookups(rig, sold)).toBe(1);
    expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
    await callBack(rig, sold.address);
    await watching.ended();
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
  });

  test('with tokens of another gateway say nothing, also of the same transaction', async () => {
    const { service, clock } = rig;
    const other = await rigs.start({ env: { ...HINTED, FINGERPRINT_KEY: 'another-key' }, service, clock });
    const sold = await sell(rig);
    await callBack(other, sold.address);
    await roundTrip(other);
    expect(lookups(rig, sold)).toBe(0);
    await callBack(rig, sold.address);
    await lookedUp(rig, sold, 1);
  });

  test('of one transaction cost a few lookups, and the last state arrives', async () => {
    const sold = await sell(rig);
    const watching = await watch(rig, sold);
    await Promise.all(times(50).map(() => callBack(rig, sold.address)));
    sold.entry.status = 'completed';
    await Promise.all(times(50).map(() => callBack(rig, sold.address)));
    await watching.ended();
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
    expect(lookups(rig, sold)).toBeLessThanOrEqual(1 + 4);
  });

  test('of one transaction that change while it is looked up are not forgotten', async () => {
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

  test('that drip for ten seconds cost two lookups in a second at most', async () => {
    const clock = movedClock(Date.now());
    const dripping = await rigs.start({ env: HINTED, clock });
    for (const isWatched of [true, false]) {
      const sold = await sell(dripping);
      const watching = isWatched ? await watch(dripping, sold) : undefined;
      const before = lookups(dripping, sold);
      for (let step = 0; step < 200; step += 1) {
        await callBack(dripping, sold.address);
        clock.advance(50);
      }
      const cost = lookups(dripping, sold) - before;
      expect(cost).toBeGreaterThan(1);
      expect(cost).toBeLessThanOrEqual(21);
      if (!watching) continue;
      sold.entry.status = 'completed';
      await callBack(dripping, sold.address);
      await until(() => {
        clock.advance(100);
        return watching.completed;
      }, Boolean);
      expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
    }
  });
});

describeStores('When the service calls back for a thousand transactions at once', (rigs) => {
  const COUNT = 1000;
  /** A gateway makes no more lookups at a time: some have to be left for callers. */
  const ALL = 128;
  let rig: Rig;
  let sold: Sold[];

  beforeAll(async () => {
    rig = await rigs.start({ env: { ...HINTED, PAYOUT_PREFLIGHT: 'off', SERVICE_TIMEOUT_MS: '20000' } });
    sold = [];
    await forEach(times(COUNT), 16, async () => sold.push(await sell(rig)));
  });

  test('callers are answered meanwhile, and afterwards all is as before', async () => {
    const released = gate();
    let [open, most] = [0, 0];
    const caller = await sell(rig);
    const flooded = new Set(sold.map(({ entry }) => entry.transactionId));
    rig.service.plan((purpose, { query }) => {
      if (purpose !== 'look-up-payment' || !flooded.has(query.get('transaction_id') ?? '')) return undefined;
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
    await forEach(sold, 32, ({ address }) => callBack(rig, address));
    // None of the lookups that the callbacks set off is answered; a caller's is.
    await until(() => most > 0, Boolean);
    expect(await shown(rig, caller)).toBe('PROCESSING');
    expect(most).toBeLessThan(ALL);
    released.open();
    const [first] = sold;
    const watching = await watch(rig, first!);
    first!.entry.status = 'completed';
    await until(async () => {
      await callBack(rig, first!.address);
      return watching.completed;
    }, Boolean);
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
    // Hints of others are dropped for as long as those of the flood are remembered: a second.
    const other = await sell(rig);
    const watchingOther = await watch(rig, other);
    other.entry.status = 'completed';
    await until(async () => {
      await callBack(rig, other.address);
      return watchingOther.completed;
    }, Boolean);
    expect(most).toBeLessThan(ALL);
  });
});
