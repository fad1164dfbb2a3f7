import type { Fault } from './service/faulty-service';
import type { Kind } from './support/caller';
import { describeSqlite, newKey, type Rig } from './support/rig';

const MINUTE = 60_000;

/** Refuses whatever is asked, with that on its clock. */
const refusing = (dateMs: number): Fault => ({
  acts: false,
  reply: (connection) =>
    connection.send({ status: 401, json: {}, headers: { date: new Date(dateMs).toUTCString() } }),
});

const timestamps = ({ service }: Rig): number[] =>
  service.asked('create-payment').map(({ headers }) => Number(headers['x-timestamp']) * 1000);

describeSqlite('Where the clock of the service', (rigs) => {
  let rig: Rig;

  beforeEach(async () => {
    rig = await rigs.start();
  });

  describe.each([10, -10, 600, -600])('is %i minutes off', (minutes) => {
    test.each<Kind>(['payment', 'payout'])(
      'a %s is created once, and later ones without a detour',
      async (kind) => {
        rig.service.clockOffsetMs = minutes * MINUTE;
        const keys = [newKey(), newKey()];
        for (const key of keys) {
          expect(await rig.create(kind, key)).toMatchObject({ replayed: false });
          expect(rig.service.created(key)).toHaveLength(1);
        }
        const { length } = rig.service.seen;
        expect(await rig.create(kind, newKey())).toMatchObject({ replayed: false });
        expect(rig.service.seen.length - length).toBe(kind === 'payment' ? 1 : 2);
      },
    );

    test('a payment whose answer was lost is found again', async () => {
      rig.service.clockOffsetMs = minutes * MINUTE;
      const key = newKey();
      // The first is refused for its timestamp, the second is carried out.
      const lost: Fault = {
        acts: true,
        reply: (connection, answer) => (answer.status === 401 ? connection.send(answer) : connection.reset()),
      };
      rig.service.next('create-payment', lost, lost);
      const { transactionId } = (await rig.create('payment', key)) ?? {};
      expect(rig.service.created(key)).toMatchObject([{ transactionId }]);
      expect(await rig.create('payment', key)).toMatchObject({ replayed: true, transactionId });
    });
  });

  test('goes right again, calls succeed again', async () => {
    for (const minutes of [10, 0, -10, 0]) {
      rig.service.clockOffsetMs = minutes * MINUTE;
      expect(await rig.create('payment', newKey())).toMatchObject({ replayed: false });
    }
  });

  test('is not why it refuses, it is asked once', async () => {
    rig.service.plan(() => refusing(rig.service.now()));
    expect(await rig.create('payment', newKey())).toMatchObject({ error: 'SERVICE_AUTH_FAILED' });
    expect(timestamps(rig)).toHaveLength(1);
  });

  test('is forged, it moves nothing but one more try', async () => {
    const forged = rig.service.now() + 20 * MINUTE;
    rig.service.next('create-payment', refusing(forged), refusing(forged));
    expect(await rig.create('payment', newKey())).toMatchObject({ error: 'SERVICE_AUTH_FAILED' });
    expect(timestamps(rig)).toHaveLength(2);
    expect(await rig.create('payment', newKey())).toMatchObject({ result: 'PaymentSuccess' });
    expect(Math.abs(timestamps(rig)[2]! - rig.service.now())).toBeLessThan(5000);
  });

  test.each([
    ['says nothing that is a time', 'yesterday'],
    ['is years off', new Date(0).toUTCString()],
  ])('%s, it is asked once', async (_name, date) => {
    const reply: Fault['reply'] = (connection) =>
      connection.send({ status: 401, json: {}, headers: { date } });
    rig.service.plan(() => ({ acts: false, reply }));
    expect(await rig.create('payment', newKey())).toMatchObject({ error: 'SERVICE_AUTH_FAILED' });
    expect(timestamps(rig)).toHaveLength(1);
  });
});
