import type { ConfirmClaim } from '../../src/datasources/journal/journal';
import { ENDED, confirmedBy, newConfirm } from './support/samples';
import { inBothStores } from './support/stores';

const CERTAIN = { suspect: false, suspectHashes: [] };
const SUSPECT = { suspect: true, suspectHashes: expect.any(Array) };

/** Another confirm of the same payment. */
const next = (before: ConfirmClaim, given: Partial<ConfirmClaim> = {}): ConfirmClaim =>
  newConfirm({
    ...before,
    id: newConfirm().id,
    inputHash: newConfirm().inputHash,
    owner: 'instance-2',
    ...given,
  });

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
    await room.journal.endConfirm(first.id, ENDED.known);
    await expect(room.journal.beginConfirm(next(first))).resolves.toEqual(CERTAIN);
  });

  test('after a confirm whose result is not known the next is suspect, and so on until one is known', async () => {
    const first = newConfirm();
    await room.journal.beginConfirm(first);
    await room.journal.endConfirm(first.id, ENDED.unknown);
    const second = next(first);
    await expect(room.journal.beginConfirm(second)).resolves.toEqual(SUSPECT);
    await room.journal.endConfirm(second.id, ENDED.unknown);
    const third = next(first);
    await expect(room.journal.beginConfirm(third)).resolves.toEqual(SUSPECT);
    await room.journal.endConfirm(third.id, ENDED.known);
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
    await room.journal.endConfirm(first.id, ENDED.unknown);
    await room.journal.renew(first.owner, 8_000);
    await expect(room.journal.beginConfirm(next(first))).resolves.toEqual(SUSPECT);
  });

  test('who was taken for dead cannot end the confirm of who came after', async () => {
    const first = newConfirm();
    const second = next(first, { now: 5_001, leaseUntil: 9_000 });
    await room.journal.beginConfirm(first);
    await room.journal.beginConfirm(second);
    await room.journal.endConfirm(first.id, ENDED.known);
    await room.journal.endConfirm(first.id, ENDED.unknown);
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

  test('the inputs that may have been carried out are told to the next confirm, each once', async () => {
    const first = newConfirm();
    const second = next(first);
    for (const claim of [first, second, next(first, { inputHash: first.inputHash })]) {
      await room.journal.beginConfirm(claim);
      await room.journal.endConfirm(claim.id, ENDED.unknown);
    }
    const begun = await room.journal.beginConfirm(next(first));
    expect(begun?.suspectHashes).toEqual([first.inputHash, second.inputHash]);
  });

  test('an input that was not carried out is not among those that may have been', async () => {
    const first = newConfirm();
    const second = next(first);
    await room.journal.beginConfirm(first);
    await room.journal.endConfirm(first.id, ENDED.unknown);
    await room.journal.beginConfirm(second);
    await room.journal.endConfirm(second.id, ENDED.notCarriedOut);
    const begun = await room.journal.beginConfirm(next(first));
    expect(begun).toEqual({ suspect: true, suspectHashes: [first.inputHash] });
  });

  test('the inputs that may have been carried out are bounded, and what was dropped is said to be unknown', async () => {
    const first = newConfirm();
    let begun = await room.journal.beginConfirm(first);
    for (let times = 0, last = first; times < 200; times += 1) {
      await room.journal.endConfirm(last.id, ENDED.unknown);
      last = next(first, { inputHash: `key.${'f'.repeat(64)}${times}` });
      begun = await room.journal.beginConfirm(last);
      expect(begun?.suspectHashes.join('').length).toBeLessThan(5_000);
    }
    expect(begun?.suspectHashes).toContain('unknown');
  });

  test('a confirm that an older version began has an input that is not known', async () => {
    const first = newConfirm();
    await room.place.rows(`INSERT INTO confirms (service, channel, transaction_id, id, owner, lease_until)
      VALUES ('${first.service}', '${first.channel}', '${first.transactionId}', '${first.id}', 'old', 0)`);
    const begun = await room.journal.beginConfirm(next(first));
    expect(begun).toEqual({ suspect: true, suspectHashes: ['unknown'] });
  });

  test('the inputs that were carried out are found by their payment, and recorded once', async () => {
    const first = newConfirm();
    const second = next(first);
    const inputs = [confirmedBy(first), confirmedBy(second, { confirmedAt: 2_001 })];
    await room.journal.beginConfirm(first);
    for (let times = 0; times < 2; times += 1)
      await room.journal.endConfirm(first.id, { outcome: 'known', confirmed: inputs });
    const found = await room.journal.confirmedInputs(first);
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining(inputs));
    for (const scope of ['service', 'channel', 'transactionId'])
      await expect(room.journal.confirmedInputs({ ...first, [scope]: 'another' })).resolves.toEqual([]);
  });

  test('an instance that finds the right to confirm free finds the inputs of the confirm before as well', async () => {
    const other = await room.another();
    const payments = Array.from({ length: 40 }, () => newConfirm());
    await Promise.all(payments.map((claim) => room.journal.beginConfirm(claim)));
    const rival = async (claim: ConfirmClaim): Promise<unknown> => {
      while (!(await other.beginConfirm(next(claim))));
      return other.confirmedInputs(claim);
    };
    const found = payments.map(rival);
    for (const claim of payments)
      await room.journal.endConfirm(claim.id, { outcome: 'known', confirmed: [confirmedBy(claim)] });
    await expect(Promise.all(found)).resolves.toEqual(payments.map((claim) => [confirmedBy(claim)]));
  });

  test('old inputs are deleted step by step, the oldest first', async () => {
    const purge = (settledBefore: number, limit: number) =>
      room.journal.purgeStep({ target: 'confirmed', settledBefore, limit, after: null });
    await purge(1e13, 10_000);
    const first = newConfirm();
    const inputs = Array.from({ length: 21 }, (_, place) =>
      confirmedBy(newConfirm({ transactionId: first.transactionId }), { confirmedAt: 10_000 + place }),
    );
    await room.journal.endConfirm(first.id, { outcome: 'known', confirmed: inputs });
    await expect(purge(10_000, 20)).resolves.toEqual({ deleted: 0, after: null });
    await expect(purge(20_000, 20)).resolves.toEqual({ deleted: 20, after: '10019' });
    await expect(room.journal.confirmedInputs(first)).resolves.toEqual(inputs.slice(20));
    await expect(purge(20_000, 20)).resolves.toEqual({ deleted: 1, after: null });
  });
});
