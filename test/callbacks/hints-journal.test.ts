import { randomUUID } from 'node:crypto';
import type { Journal } from '../../src/datasources/journal/journal';
import { openJournal } from '../../src/datasources/journal/open';
import { CallbackTokens } from '../../src/operations/callback-tokens';
import { until } from '../exactly-once/support/gate';
import { describeStores, newKey, type Rig } from '../exactly-once/support/rig';
import { SECRET_KEY, openPatiently } from '../support/gateway';
import { movedClock } from '../support/moved-clock';
import { HINTED, callBack, lookedUp, sell, type Sold } from './support/called-back';

/** A journal that says what it was asked. */
function told(journal: Journal, asked: string[]): Journal {
  return new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        asked.push(String(name));
        return Reflect.apply(value, target, given);
      };
    },
  });
}

describeStores('The journal', (rigs) => {
  test('is asked a few times for a token that is good, and not at all for any other', async () => {
    const asked: string[] = [];
    const clock = movedClock(Date.now());
    const rig = await rigs.start({
      env: HINTED,
      clock,
      open: async (url) => told(await openPatiently(url), asked),
    });
    const others = new CallbackTokens('another secret');
    const bad = Array.from({ length: 300 }, () => others.of(randomUUID()));
    asked.length = 0;
    for (const token of [...bad, 'a', 'A'.repeat(43), 'A'.repeat(5000), randomUUID()])
      await callBack(rig, token);
    expect(asked).toEqual([]);
    const token = new CallbackTokens(SECRET_KEY).of(randomUUID());
    for (let times = 0; times < 100; times += 1) await callBack(rig, token);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThanOrEqual(4);
    expect(rig.service.seen).toEqual([]);
  });
});

describeStores('With a journal of a month', (rigs) => {
  const ATTEMPTS = 150_000;
  const CALLED = 40;
  let rig: Rig;
  let sold: Sold[];

  /** Copies one attempt, under other names, as often as that. */
  async function fill(): Promise<void> {
    const numbers =
      rigs.kind === 'SQLite'
        ? `(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${ATTEMPTS}) SELECT n FROM r)`
        : `(SELECT n FROM generate_series(1, ${ATTEMPTS}) n)`;
    const id = rigs.kind === 'SQLite' ? 'lower(hex(randomblob(12))) || n' : 'gen_random_uuid()::text';
    const same =
      'service, client, kind, fingerprint, channel, method, currency, value, shown, outcome, status, owner, lease_until, started_at, send_until, settled_at, checks';
    const one = `(SELECT * FROM attempts WHERE key = '${sold[0]!.key}')`;
    await rig.store.rows(
      `INSERT INTO attempts (id, key, external_id, transaction_id, ${same})
       SELECT ${id}, 'copy-' || n, 'copy ' || n, 'copy ' || n, ${same} FROM ${one} o, ${numbers} c RETURNING 1`,
    );
  }

  beforeAll(async () => {
    // As patient as a gateway is.
    rig = await rigs.start({ env: HINTED, open: openJournal });
    sold = [];
    for (let count = 0; count < CALLED; count += 1) sold.push(await sell(rig));
    await fill();
  }, 120_000);

  test('callbacks do not keep creates waiting', async () => {
    const creates = async (): Promise<boolean> =>
      (await rig.create('payment', newKey())).result === 'PaymentSuccess';
    let gone = 0;
    // A machine that is busy keeps one waiting now and then: not each time.
    for (let tries = 0; tries < 4; tries += 1) {
      await until(creates, Boolean);
      await Promise.all(sold.map(({ address }) => callBack(rig, address)));
      if (await creates()) gone += 1;
    }
    expect(gone).toBeGreaterThan(0);
    for (const one of sold) await lookedUp(rig, one, 1);
  });
});
