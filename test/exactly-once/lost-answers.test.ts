import { LOST_ANSWERS } from './service/faults';
import type { Kind } from './support/caller';
import { TIMEOUT_MS, describeStores, newKey, type Rig } from './support/rig';

const SUCCESS = { payment: 'PaymentSuccess', payout: 'PayoutSuccess' } as const;
const FAULTS = Object.entries(LOST_ANSWERS);

/** For a machine that is busy: without its deadlines a call would wait much longer. */
const SLACK_MS = 3_000;

describeStores('When the answer to a create is lost', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  describe.each<Kind>(['payment', 'payout'])('the %s', (kind) => {
    test.each(FAULTS)('is found again if it was created before the service %s', async (_name, reply) => {
      const key = newKey();
      rig.service.next(`create-${kind}`, { acts: true, reply });
      const startedAt = performance.now();
      const first = await rig.create(kind, key);
      expect(performance.now() - startedAt).toBeLessThan(2 * TIMEOUT_MS + SLACK_MS);
      const [created] = rig.service.created(key);
      const { transactionId } = created ?? {};
      expect(first).toMatchObject({ result: SUCCESS[kind], replayed: true, transactionId });
      const again = await rig.create(kind, key);
      expect(again).toMatchObject({ result: SUCCESS[kind], replayed: true, transactionId });
      expect(rig.service.created(key)).toHaveLength(1);
      expect(await rig.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED', [kind]: { transactionId } });
    });

    test.each(FAULTS)('is unknown if it was not created before the service %s', async (_name, reply) => {
      const key = newKey();
      rig.service.next(`create-${kind}`, { acts: false, reply });
      const startedAt = performance.now();
      const unknown = {
        result: 'OutcomeUnknownError',
        idempotencyKey: key,
        externalId: `order ${key}`,
        transactionId: null,
      };
      expect(await rig.create(kind, key)).toMatchObject(unknown);
      expect(performance.now() - startedAt).toBeLessThan(2 * TIMEOUT_MS + SLACK_MS);
      expect(await rig.create(kind, key)).toMatchObject(unknown);
      expect(rig.service.created(key)).toHaveLength(0);
      expect(
        rig.service.asked(`create-${kind}`).filter(({ json }) => json['description'] === key),
      ).toHaveLength(1);
      expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', settledAt: null, [kind]: null });
    });

    test('is found again by the same key, once lookups show it', async () => {
      const key = newKey();
      rig.service.ledger.lag = { ms: 0, lookups: 100 };
      rig.service.next(`create-${kind}`, { acts: true, reply: (connection) => connection.reset() });
      expect(await rig.create(kind, key)).toMatchObject({ result: 'OutcomeUnknownError' });
      rig.service.ledger.lag = { ms: 0, lookups: 0 };
      const [created] = rig.service.created(key);
      created!.hiddenLookups = 0;
      const { transactionId } = created!;
      expect(await rig.create(kind, key)).toMatchObject({ replayed: true, transactionId });
      expect(rig.service.created(key)).toHaveLength(1);
    });

    test('is found again in the background, with nobody asking', async () => {
      const key = newKey();
      rig.service.ledger.lag = { ms: 0, lookups: 100 };
      rig.service.next(`create-${kind}`, { acts: true, reply: (connection) => connection.reset() });
      expect(await rig.create(kind, key)).toMatchObject({ result: 'OutcomeUnknownError' });
      rig.service.ledger.lag = { ms: 0, lookups: 0 };
      const [created] = rig.service.created(key);
      created!.hiddenLookups = 0;
      const outcome = await untilSettled(rig, key);
      expect(outcome).toMatchObject({
        outcome: 'SUCCEEDED',
        [kind]: { transactionId: created!.transactionId },
      });
    });
  });
});

/** Moves the clock until the attempt has an outcome that stays. */
async function untilSettled(rig: Rig, key: string) {
  for (let tries = 0; tries < 40; tries += 1) {
    const attempt = await rig.attempt(key);
    if (attempt?.outcome !== 'UNKNOWN' && attempt?.outcome !== 'IN_PROGRESS') return attempt;
    rig.clock.advance(1000);
    // One round of following up: what it asks for goes over real sockets.
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return rig.attempt(key);
}
