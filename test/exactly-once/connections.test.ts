import type { Fault, Purpose } from './service/faulty-service';
import type { Kind } from './support/caller';
import { gate, until } from './support/gate';
import { describeStores, newKey, type Rig } from './support/rig';

describeStores('A connection that is reset before anything is read from it', (rigs) => {
  test.each<Kind>(['payment', 'payout'])(
    'leaves a %s unknown, or says that nothing was sent',
    async (kind) => {
      const rig = await rigs.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
      const key = newKey();
      rig.service.resetConnections = 1;
      const end = await rig.create(kind, key);
      expect([end.error, end.result]).toContainEqual(
        expect.stringMatching(/^(SERVICE_UNAVAILABLE|OutcomeUnknownError)$/),
      );
      expect(rig.service.created(key)).toHaveLength(0);
      expect(rig.service.asked(`create-${kind}`)).toHaveLength(0);
    },
  );
});

const answerAndClose: Fault['reply'] = (connection, answer) => {
  connection.send(answer);
  connection.end();
};
const closing = (purpose: Purpose): Fault | undefined =>
  purpose.startsWith('create') ? { acts: true, reply: answerAndClose } : undefined;

describeStores('Connections that the service closes while they are idle', (rigs) => {
  test.each<[string, (rig: Rig) => void]>([
    ['at once', (rig) => rig.service.plan(closing)],
    ['after 30 ms', (rig) => (rig.service.idleMs = 30)],
  ])('cost no create: %s', async (_name, prepare) => {
    const rig = await rigs.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
    prepare(rig);
    for (let round = 0; round < 150; round += 1) {
      const kind = round % 2 ? 'payment' : 'payout';
      const end = await rig.create(kind, newKey());
      expect(end).toMatchObject({ replayed: false });
      // Around the very moment at which the service closes.
      await new Promise((resolve) => setTimeout(resolve, 20 + (round % 15)));
    }
  });
});

describeStores('An answer that comes a second time, and late', (rigs) => {
  test.each<Kind>(['payment', 'payout'])('is not taken for the answer to the next %s', async (kind) => {
    const rig = await rigs.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
    for (let round = 0; round < 20; round += 1) {
      const [key, next] = [newKey(), newKey()];
      const hold = gate();
      rig.service.next(
        `create-${kind}`,
        {
          acts: true,
          reply: (connection, answer) => {
            connection.send(answer);
            // When the next request is on its way, over whichever connection.
            void hold.opened.then(() => connection.send(answer));
          },
        },
        { acts: true, first: new Promise((go) => setTimeout(go, 10)) },
      );
      const first = await rig.create(kind, key);
      const second = rig.create(kind, next);
      await until(
        () => rig.service.asked(`create-${kind}`),
        (seen) => seen.some(({ json }) => json['description'] === next),
      );
      hold.open();
      expect(first.transactionId).toBe(rig.service.created(key)[0]?.transactionId);
      expect((await second).transactionId).toBe(rig.service.created(next)[0]?.transactionId);
    }
  });
});
