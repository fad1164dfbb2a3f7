import { altered, silence } from './service/faults';
import type { Kind } from './support/caller';
import { gate, until } from './support/gate';
import { describeStores, newKey, type Rig } from './support/rig';

const KINDS: Kind[] = ['payment', 'payout'];
const SECOND = 1000;

/** Lets time pass for all gateways, second by second, with a moment for what falls due. */
async function pass(rig: Rig, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    rig.clock.advance(SECOND);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describeStores('A create under way', (rigs) => {
  let rig: Rig;
  let other: Rig;

  beforeAll(async () => {
    const env = { SERVICE_TIMEOUT_MS: '20000' };
    rig = await rigs.start({ env });
    other = await rigs.start({ env, service: rig.service, clock: rig.clock });
  });

  test.each(KINDS)('(a %s) is not taken for dead by another gateway, however long it takes', async (kind) => {
    const key = newKey();
    const hold = gate();
    rig.service.next(`create-${kind}`, { acts: true, first: hold.opened });
    const first = rig.create(kind, key);
    await until(
      () => rig.service.asked(`create-${kind}`),
      (seen) => seen.some(({ json }) => json['description'] === key),
    );
    await pass(rig, 15);
    expect(await other.attempt(key)).toMatchObject({ outcome: 'IN_PROGRESS' });
    expect(await other.create(kind, key)).toMatchObject({ result: 'RequestInProgressError' });
    hold.open();
    expect(await first).toMatchObject({ replayed: false });
    expect(await other.create(kind, key)).toMatchObject({ replayed: true });
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('(a payout) is not taken for dead after a long preflight', async () => {
    const key = newKey();
    const [preflight, sending] = [gate(), gate()];
    rig.service.next('look-up-payout', { acts: true, first: preflight.opened });
    rig.service.next('create-payout', { acts: true, first: sending.opened });
    const before = rig.service.asked('look-up-payout').length;
    const first = rig.create('payout', key);
    await until(
      () => rig.service.asked('look-up-payout').length,
      (count) => count > before,
    );
    await pass(rig, 8);
    preflight.open();
    await until(
      () => rig.service.asked('create-payout'),
      (seen) => seen.some(({ json }) => json['description'] === key),
    );
    expect(await other.create('payout', key)).toMatchObject({ result: 'RequestInProgressError' });
    expect(await other.attempt(key)).toMatchObject({ outcome: 'IN_PROGRESS' });
    sending.open();
    expect(await first).toMatchObject({ replayed: false });
  });
});

describeStores('An answer with the id of another transaction', (rigs) => {
  test.each(KINDS)('is not believed: the %s is found under its own', async (kind) => {
    const rig = await rigs.start();
    const [key, other] = [newKey(), newKey()];
    const { transactionId } = await rig.create(kind, other);
    rig.service.next(`create-${kind}`, { acts: true, reply: altered({ transaction_id: transactionId }) });
    await rig.create(kind, key);
    const end = await until(
      () => rig.create(kind, key),
      ({ result }) => result !== 'RequestInProgressError',
    );
    expect(end).toMatchObject({ replayed: true, transactionId: rig.service.created(key)[0]?.transactionId });
  });
});

describeStores('A confirm under way', (rigs) => {
  test('is not taken for dead by another gateway, however long it takes', async () => {
    const env = { SERVICE_TIMEOUT_MS: '20000' };
    const rig = await rigs.start({ env });
    const other = await rigs.start({ env, service: rig.service, clock: rig.clock });
    const { transactionId } = await rig.create('payment', newKey());
    const id = transactionId ?? '';
    const hold = gate();
    rig.service.next('confirm', { acts: true, first: hold.opened }, { acts: true, reply: silence });
    const first = rig.confirm(id);
    await until(
      () => rig.service.asked('confirm').length,
      (count) => count === 1,
    );
    await pass(rig, 15);
    expect(await other.confirm(id)).toMatchObject({ result: 'RequestInProgressError' });
    hold.open();
    expect(await first).toMatchObject({ replayed: false });
    expect(rig.service.asked('confirm')).toHaveLength(1);
  });
});
