import type { ConfirmClaim } from '../../src/datasources/journal/journal';
import { newConfirm } from './support/samples';
import { inBothStores } from './support/stores';

const CERTAIN = { suspect: false };
const SUSPECT = { suspect: true };

/** Another confirm of the same payment. */
const next = (before: ConfirmClaim, given: Partial<ConfirmClaim> = {}): ConfirmClaim =>
  newConfirm({ ...before, id: newConfirm().id, owner: 'instance-2', ...given });

inBothStores((room) => {
  test('one confirm of a payment at a time', async () => {
    const first = newConfirm();
    await expect(room.journal.beginConfirm(first)).resolves.toEqual(CERTAIN);
    await expect(room.journal.beginConfirm(next(first))).resolves.toBeNull();
    await expect(room.journal.beginConfirm(next(first, { now: 5_000 }))).resolves.toBeNull();
  });

  test('after a confirm whose result is known the next is as good as the first', async () => {
    const first = newConfirm();
    await room.journal.beginConfirm(first);
    await room.journal.endConfirm(first.id, true);
    await expect(room.journal.beginConfirm(next(first))).resolves.toEqual(CERTAIN);
  });

  test('after a confirm whose result is not known the next is suspect, and so on until one is known', async () => {
    const first = newConfirm();
    await room.journal.beginConfirm(first);
    await room.journal.endConfirm(first.id, false);
    const second = next(first);
    await expect(room.journal.beginConfirm(second)).resolves.toEqual(SUSPECT);
    await room.journal.endConfirm(second.id, false);
    const third = next(first);
    await expect(room.journal.beginConfirm(third)).resolves.toEqual(SUSPECT);
    await room.journal.endConfirm(third.id, true);
    await expect(room.journal.beginConfirm(next(first))).resolves.toEqual(CERTAIN);
  });

  test('after a confirm whose owner died the next is suspect', async () => {
    const first = newConfirm();
    await room.journal.beginConfirm(first);
    await expect(room.journal.beginConfirm(next(first, { now: 5_001 }))).resolves.toEqual(SUSPECT);
  });

  test('a confirm whose owner says in time that it is alive goes on', async () => {
    const first = newConfirm({ owner: newConfirm().id });
    await room.journal.beginConfirm(first);
    await room.journal.renew(first.owner, 8_000);
    await expect(room.journal.beginConfirm(next(first, { now: 5_001 }))).resolves.toBeNull();
    await expect(room.journal.beginConfirm(next(first, { now: 8_001 }))).resolves.toEqual(SUSPECT);
  });

  test('a confirm that ended without a known result is not renewed with the others of its owner', async () => {
    const first = newConfirm({ owner: newConfirm().id });
    await room.journal.beginConfirm(first);
    await room.journal.endConfirm(first.id, false);
    await room.journal.renew(first.owner, 8_000);
    await expect(room.journal.beginConfirm(next(first))).resolves.toEqual(SUSPECT);
  });

  test('who was taken for dead cannot end the confirm of who came after', async () => {
    const first = newConfirm();
    const second = next(first, { now: 5_001, leaseUntil: 9_000 });
    await room.journal.beginConfirm(first);
    await room.journal.beginConfirm(second);
    await room.journal.endConfirm(first.id, true);
    await room.journal.endConfirm(first.id, false);
    await expect(room.journal.beginConfirm(next(first, { now: 6_000 }))).resolves.toBeNull();
  });

  test.each(['service', 'channel', 'transactionId'] as const)(
    'confirms of another %s do not wait for each other',
    async (scope) => {
      const first = newConfirm();
      await room.journal.beginConfirm(first);
      await expect(room.journal.beginConfirm(next(first, { [scope]: 'another' }))).resolves.toEqual(CERTAIN);
    },
  );

  test('of many confirms at once in several processes one is let through, also after one died', async () => {
    const others = await Promise.all([room.process(), room.process()]);
    const first = newConfirm();
    for (const now of [1_000, 6_000]) {
      const claims = Array.from({ length: 30 }, () => next(first, { now, leaseUntil: now + 2_000 }));
      const answers = await Promise.all([
        ...claims.slice(0, 10).map((claim) => room.journal.beginConfirm(claim)),
        others[0].beginConfirms(claims.slice(10, 20)),
        others[1].beginConfirms(claims.slice(20)),
      ]);
      expect(answers.flat().filter((answer) => answer !== null)).toEqual([now === 1_000 ? CERTAIN : SUSPECT]);
    }
  });
});
