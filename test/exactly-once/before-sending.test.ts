import type { Fault } from './service/faulty-service';
import { reset } from './service/faults';
import type { Kind } from './support/caller';
import { gate, until } from './support/gate';
import { describeStores, newKey } from './support/rig';

/** More than are sent to the service at a time. */
const MANY = 150;

describeStores('A create', (rigs) => {
  test.each<Kind>(['payment', 'payout'])(
    '(%s) is not in the journal before there is a slot for it towards the service',
    async (kind) => {
      const rig = await rigs.start({ env: { SERVICE_TIMEOUT_MS: '20000', RATE_LIMIT_PER_MINUTE: '0' } });
      const held = gate();
      rig.service.plan((purpose) =>
        purpose === `create-${kind}` ? { acts: true, first: held.opened } : undefined,
      );
      const keys = Array.from({ length: MANY }, newKey);
      const ends = keys.map((key) => rig.create(kind, key));
      const arrived = (): number => rig.service.asked(`create-${kind}`).length;
      const begun = async (): Promise<number> =>
        (await rig.store.rows("SELECT id FROM attempts WHERE outcome = 'in_progress'")).length;
      const queued = await until(
        async () => ({ arrived: arrived(), begun: await begun() }),
        (seen) => seen.arrived > 0 && seen.arrived === seen.begun && seen.arrived < MANY,
      );
      expect(await begun()).toBe(queued.arrived);
      held.open();
      for (const end of await Promise.all(ends)) expect(end).toMatchObject({ replayed: false });
      expect(rig.service.ledger.entries).toHaveLength(MANY);
    },
  );

  test('whose key was used is answered while all slots are taken', async () => {
    const rig = await rigs.start({ env: { SERVICE_TIMEOUT_MS: '20000', RATE_LIMIT_PER_MINUTE: '0' } });
    const key = newKey();
    await rig.create('payment', key);
    const held = gate();
    rig.service.plan((purpose) =>
      purpose === 'create-payment' ? { acts: true, first: held.opened } : undefined,
    );
    const others = Array.from({ length: MANY }, () => rig.create('payment', newKey()));
    await until(
      () => rig.service.asked('create-payment').length,
      (count) => count > 90,
    );
    expect(await rig.create('payment', key)).toMatchObject({ replayed: true });
    held.open();
    await Promise.all(others);
  });

  test('that was refused for its timestamp is not sent again when another instance has taken it for lost', async () => {
    const rig = await rigs.start();
    const key = newKey();
    const taken = async (): Promise<void> => {
      await rig.store.rows("UPDATE attempts SET outcome = 'unknown', owner = 'another' RETURNING id");
    };
    const stale: Fault = {
      acts: false,
      get first() {
        return taken();
      },
      reply: (connection) => {
        const date = new Date(rig.service.now() + 20 * 60_000).toUTCString();
        connection.send({ status: 401, json: {}, headers: { date } });
      },
    };
    rig.service.next('create-payment', stale);
    expect(await rig.create('payment', key)).toMatchObject({ error: 'SERVICE_AUTH_FAILED' });
    expect(rig.service.asked('create-payment')).toHaveLength(1);
  });

  test('is not told the payment of another key while that one has no recorded outcome', async () => {
    let isRecording = true;
    const rig = await rigs.start({
      wrap: (journal) =>
        Object.assign(journal, {
          settle: intercept(journal.settle.bind(journal), () => isRecording),
        }),
    });
    const [one, other] = [newKey(), newKey()];
    const same = { externalId: `order ${one}` };
    isRecording = false;
    const { transactionId } = await rig.create('payment', one, same);
    expect(rig.service.created(one)).toMatchObject([{ transactionId }]);
    rig.service.next('create-payment', { acts: false, reply: reset });
    expect(await rig.create('payment', other, same)).toMatchObject({ result: 'OutcomeUnknownError' });
    isRecording = true;
    await until(
      () => {
        rig.clock.advance(1000);
        return rig.attempt(one);
      },
      (attempt) => attempt?.outcome === 'SUCCEEDED',
    );
    expect(await rig.create('payment', one, same)).toMatchObject({ replayed: true, transactionId });
    expect((await rig.create('payment', other, same)).result).not.toBe('PaymentSuccess');
  });
});

/** The same function, which fails as long as it may not do its work. */
function intercept<A extends unknown[], R>(
  work: (...args: A) => Promise<R>,
  may: () => boolean,
): (...args: A) => Promise<R> {
  return (...args) => (may() ? work(...args) : Promise.reject(new Error('The journal fails.')));
}
