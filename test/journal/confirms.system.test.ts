import { MAX_LEASE_MS, type ConfirmClaim } from '../../src/datasources/journal/journal';
import { describeJournals } from './support/fixture';
import { ENDED, confirmedBy, newConfirm } from './support/samples';

const KNOWN = { isEarlierOutcomeUnknown: false, unresolvedInputHashes: [] };
const UNKNOWN = { isEarlierOutcomeUnknown: true, unresolvedInputHashes: expect.any(Array) };

const next = (before: ConfirmClaim, given: Partial<ConfirmClaim> = {}): ConfirmClaim =>
  newConfirm({
    ...before,
    confirmId: newConfirm().confirmId,
    inputHash: newConfirm().inputHash,
    owner: 'instance-2',
    ...given,
  });

describeJournals('A confirm in the journal', (fixture) => {
  test.each(['service', 'channel', 'transactionId'] as const)(
    'is independent of confirms with another %s',
    async (scope) => {
      const first = newConfirm();
      await fixture.journal.endConfirm(newConfirm().confirmId, {
        outcome: 'known',
        confirmedInputs: [confirmedBy(first)],
      });
      await fixture.journal.beginConfirm(first);
      const elsewhere = next(first, { [scope]: 'another' });
      await expect(fixture.journal.beginConfirm(elsewhere)).resolves.toEqual(KNOWN);
      await expect(fixture.journal.confirmedInputs(elsewhere)).resolves.toEqual([]);
    },
  );

  test('stays in progress while its lease is renewed; once the confirm has ended, renewal has no effect', async () => {
    const first = newConfirm({ owner: newConfirm().confirmId });
    await fixture.journal.beginConfirm(first);
    await fixture.journal.renew(first.owner, 8_000, [first.confirmId]);
    await expect(fixture.journal.beginConfirm(next(first, { now: 5_001 }))).resolves.toBeNull();
    await fixture.journal.endConfirm(first.confirmId, ENDED.unknown);
    await fixture.journal.renew(first.owner, 12_000, [first.confirmId]);
    await expect(fixture.journal.beginConfirm(next(first, { now: 8_002 }))).resolves.toEqual(UNKNOWN);
  });

  test('can be claimed again if the owner renews only the leases of other confirms', async () => {
    const first = newConfirm({ owner: newConfirm().confirmId });
    await fixture.journal.beginConfirm(first);
    await fixture.journal.renew(first.owner, 8_000, [newConfirm().confirmId]);
    await expect(fixture.journal.beginConfirm(next(first, { now: 5_001 }))).resolves.toEqual(
      expect.objectContaining({ isEarlierOutcomeUnknown: true }),
    );
  });

  test('can be claimed again if its lease ends implausibly late (over MAX_LEASE_MS from now), because the clock was set back', async () => {
    const first = newConfirm({ now: 10_000_000, leaseUntil: 10_004_000 });
    await fixture.journal.beginConfirm(first);
    const later = next(first, { now: first.leaseUntil - MAX_LEASE_MS });
    await expect(fixture.journal.beginConfirm(later)).resolves.toBeNull();
    await expect(fixture.journal.beginConfirm({ ...later, now: later.now - 1 })).resolves.toEqual(UNKNOWN);
  });

  test('can be started by only one of 30 concurrent calls on two instances, also after a lease has expired', async () => {
    const two = [fixture.journal, await fixture.open()];
    const first = newConfirm();
    for (const [now, granted] of [
      [1_000, KNOWN],
      [6_000, UNKNOWN],
    ] as const) {
      const claims = Array.from({ length: 30 }, (_, place) =>
        two[place % 2]!.beginConfirm(next(first, { now, leaseUntil: now + 2_000 })),
      );
      expect((await Promise.all(claims)).filter((started) => started !== null)).toEqual([granted]);
    }
  });

  test('gets a list of limited size with the input hashes of earlier confirms of unknown outcome; "unknown" replaces omitted hashes', async () => {
    const first = newConfirm();
    let started = await fixture.journal.beginConfirm(first);
    for (let times = 0, last = first; times < 100; times += 1) {
      await fixture.journal.endConfirm(last.confirmId, ENDED.unknown);
      last = next(first, { inputHash: `key.${'f'.repeat(64)}${times}` });
      started = await fixture.journal.beginConfirm(last);
      expect(started?.unresolvedInputHashes.join('').length).toBeLessThan(5_000);
    }
    expect(started?.unresolvedInputHashes).toContain('unknown');
  });

  test('finds the input with which a confirm on another instance has just confirmed the payment', async () => {
    const other = await fixture.open();
    const payments = Array.from({ length: 40 }, () => newConfirm());
    await Promise.all(payments.map((claim) => fixture.journal.beginConfirm(claim)));
    const rival = async (claim: ConfirmClaim): Promise<unknown> => {
      while (!(await other.beginConfirm(next(claim))));
      return other.confirmedInputs(claim);
    };
    const found = payments.map(rival);
    for (const claim of payments)
      await fixture.journal.endConfirm(claim.confirmId, {
        outcome: 'known',
        confirmedInputs: [confirmedBy(claim)],
      });
    await expect(Promise.all(found)).resolves.toEqual(payments.map((claim) => [confirmedBy(claim)]));
  });
});
