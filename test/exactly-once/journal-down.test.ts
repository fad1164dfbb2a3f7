import { openJournal } from '../../src/datasources/journal/open';
import { reset } from './service/faults';
import { CHANNEL, type End, type Kind } from './support/caller';
import { gate, until } from './support/gate';
import { OUTAGES, type Outage } from './support/outage';
import { describeStores, newKey, type Rig } from './support/rig';
import { openStore } from './support/stores';

/** The gateway gives up within half a second, and without that it would wait as long as the outage lasts. Machines are busy. */
const SOON_MS = 5_000;

/** Longer than in earnest: before and after the outage a busy machine must not look like one. */
const DEADLINE_MS = 1_500;

const KINDS: Kind[] = ['payment', 'payout'];

async function timed(call: Promise<End>): Promise<End & { ms: number }> {
  const startedAt = performance.now();
  return { ...(await call), ms: performance.now() - startedAt };
}

describeStores('While the journal cannot be reached', (rigs) => {
  describe.each(Object.entries(OUTAGES[rigs.kind]))('(%s)', (_name, prepare) => {
    let rig: Rig;
    let outage: Outage;

    beforeEach(async () => {
      const store = await openStore(rigs.kind);
      rigs.closeAtEnd(() => store.drop());
      const prepared = await prepare(store);
      rigs.closeAtEnd(() => prepared.close());
      outage = prepared;
      rig = await rigs.start({ store: outage.store, open: (url) => openJournal(url, DEADLINE_MS) });
    });

    afterEach(() => outage.up());

    const expectClosed = ({ ms, ...end }: End & { ms: number }): void => {
      expect(end).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(ms).toBeLessThan(SOON_MS);
    };

    /** The same again, until the journal is there again. */
    const untilOpen = (call: () => Promise<End>): Promise<End> =>
      until(
        call,
        ({ error, result }) => error !== 'SERVICE_UNAVAILABLE' && result !== 'RequestInProgressError',
      );

    test.each(KINDS)('a %s is not created: callers hear soon, and nothing is sent', async (kind) => {
      const key = newKey();
      await outage.down();
      expectClosed(await timed(rig.create(kind, key)));
      expectClosed(await timed(rig.create(kind, key)));
      expect(rig.service.asked(`create-${kind}`)).toHaveLength(0);
      await outage.up();
      expect(await untilOpen(() => rig.create(kind, key))).toMatchObject({ replayed: false });
      expect(rig.service.created(key)).toHaveLength(1);
    });

    test('many creates at once hear as soon', async () => {
      await outage.down();
      const ends = await Promise.all(
        Array.from({ length: 30 }, () => timed(rig.create('payment', newKey()))),
      );
      ends.forEach(expectClosed);
      expect(rig.service.asked('create-payment')).toHaveLength(0);
    });

    test('a payment is not confirmed', async () => {
      const { transactionId = '' } = await rig.create('payment', newKey());
      await outage.down();
      expectClosed(await timed(rig.confirm(transactionId ?? '')));
      expect(rig.service.asked('confirm')).toHaveLength(0);
      await outage.up();
      expect(await untilOpen(() => rig.confirm(transactionId ?? ''))).toMatchObject({
        result: 'PaymentSuccess',
      });
      expect(rig.service.asked('confirm')).toHaveLength(1);
    });

    test.each(KINDS)('a %s can still be looked up', async (kind) => {
      const key = newKey();
      const { transactionId } = await rig.create(kind, key);
      await outage.down();
      const resource = kind === 'payment' ? 'PaymentResource' : 'PayoutResource';
      const query = `query ($channel: UUID!, $externalId: String!) {
        found: ${kind}(channel: $channel, externalId: $externalId) { ... on ${resource} { transactionId } } }`;
      const variables = { channel: CHANNEL, externalId: `order ${key}` };
      expect(await rig.ask(query, variables)).toEqual({ data: { found: { transactionId } } });
    });

    test.each(KINDS)(
      'a %s that was under way is answered all the same, and known afterwards',
      async (kind) => {
        const key = newKey();
        const hold = gate();
        rig.service.next(`create-${kind}`, { acts: true, first: hold.opened });
        const first = rig.create(kind, key);
        await until(
          () => rig.service.asked(`create-${kind}`).length,
          (count) => count === 1,
        );
        await outage.down();
        hold.open();
        const end = await first;
        expect(end).toMatchObject({ result: expect.stringContaining('Success') as unknown, replayed: false });
        await outage.up();
        const again = await until(
          () => {
            rig.clock.advance(1000);
            return rig.create(kind, key);
          },
          ({ replayed }) => replayed === true,
        );
        expect(again.transactionId).toBe(end.transactionId);
        expect(rig.service.created(key)).toHaveLength(1);
      },
    );

    test.each(KINDS)('a %s whose answer is lost meanwhile is found afterwards', async (kind) => {
      const key = newKey();
      const hold = gate();
      rig.service.next(`create-${kind}`, { acts: true, first: hold.opened, reply: reset });
      const first = rig.create(kind, key);
      await until(
        () => rig.service.asked(`create-${kind}`).length,
        (count) => count === 1,
      );
      await outage.down();
      hold.open();
      expect((await first).result).toMatch(/Success|OutcomeUnknownError/);
      await outage.up();
      const again = await until(
        () => {
          rig.clock.advance(1000);
          return rig.create(kind, key);
        },
        ({ replayed }) => replayed === true,
      );
      expect(rig.service.created(key)).toMatchObject([{ transactionId: again.transactionId }]);
    });
  });
});

describeStores('A gateway that starts while the journal cannot be reached', (rigs) => {
  if (rigs.kind === 'SQLite') {
    test('does not start where the file cannot be made', async () => {
      const store = await openStore('SQLite');
      rigs.closeAtEnd(() => store.drop());
      const start = rigs.start({ store: { ...store, url: 'file:/proc/nowhere/journal.db' } });
      await expect(start).rejects.toThrow();
    });
    return;
  }
  test('starts, and creates as soon as it is there', async () => {
    const store = await openStore(rigs.kind);
    rigs.closeAtEnd(() => store.drop());
    const outage = await OUTAGES.PostgreSQL['the database refuses connections'](store);
    rigs.closeAtEnd(() => outage.close());
    await outage.down();
    const rig = await rigs.start({ store: outage.store, open: (url) => openJournal(url, DEADLINE_MS) });
    const key = newKey();
    expect(await rig.create('payment', key)).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
    await outage.up();
    const end = await until(
      () => rig.create('payment', key),
      ({ error }) => error === undefined,
    );
    expect(end).toMatchObject({ result: 'PaymentSuccess', replayed: false });
  });
});
