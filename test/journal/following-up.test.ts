import type { NewAttempt } from '../../src/datasources/journal/journal';
import { begunAs, FINAL, newAttempt, newClaim, SETTLED } from './support/samples';
import { inBothStores } from './support/stores';

const some = (count: number, given: Partial<NewAttempt> = {}): NewAttempt[] => {
  const { service } = newAttempt();
  return Array.from({ length: count }, () => newAttempt({ service, ...given }));
};

inBothStores((room) => {
  test('an attempt whose owner says in time that it is alive is nobody else’s', async () => {
    const attempt = await begunAs(room.journal, 'in_progress', newAttempt());
    await room.journal.renew(attempt.owner, 10_000);
    await expect(room.journal.claim(attempt.id, newClaim(attempt.service))).resolves.toBeNull();
    await expect(room.journal.claimDue(newClaim(attempt.service), 10)).resolves.toEqual([]);
    await expect(room.journal.find(attempt)).resolves.toMatchObject({
      outcome: 'in_progress',
      leaseUntil: 10_000,
    });
  });

  test('an attempt whose owner is silent becomes unknown and belongs to who claims it', async () => {
    const attempt = await begunAs(room.journal, 'in_progress', newAttempt());
    const claim = newClaim(attempt.service);
    const expected = { id: attempt.id, outcome: 'unknown', owner: claim.owner, leaseUntil: claim.leaseUntil };
    await expect(room.journal.claim(attempt.id, claim)).resolves.toMatchObject(expected);
    await expect(room.journal.find(attempt)).resolves.toMatchObject(expected);
  });

  test('a renewal is of the owner’s attempts under way alone', async () => {
    const owner = newAttempt().id;
    const other = await begunAs(room.journal, 'in_progress', newAttempt());
    const settled = await begunAs(room.journal, 'unknown', newAttempt({ owner }));
    const own = await begunAs(room.journal, 'in_progress', newAttempt({ owner }));
    await room.journal.renew(owner, 77_000);
    const leases = await Promise.all([other, settled, own].map((attempt) => room.journal.find(attempt)));
    expect(leases.map((attempt) => attempt?.leaseUntil)).toEqual([other.leaseUntil, 0, 77_000]);
  });

  test.each(FINAL)('an attempt that is settled as %s is never followed up', async (outcome) => {
    const attempt = await begunAs(room.journal, outcome, newAttempt());
    const claim = newClaim(attempt.service, { now: 1e12, leaseUntil: 2e12 });
    await expect(room.journal.claim(attempt.id, claim)).resolves.toBeNull();
    await expect(room.journal.claimDue(claim, 10)).resolves.toEqual([]);
  });

  test('an unknown outcome can be claimed before it is due when it is asked for', async () => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    const early = newClaim(attempt.service, { now: SETTLED.unknown.nextCheckAt - 1 });
    await expect(room.journal.claimDue(early, 10)).resolves.toEqual([]);
    await expect(room.journal.claim(attempt.id, early)).resolves.toMatchObject({ id: attempt.id });
  });

  test('an unknown outcome is due from the moment that was set', async () => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    const onTime = newClaim(attempt.service, { now: SETTLED.unknown.nextCheckAt });
    await expect(room.journal.claimDue(onTime, 10)).resolves.toMatchObject([{ id: attempt.id }]);
  });

  test('a claim that was given back without an answer can be taken again, one that ran out too', async () => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    const first = newClaim(attempt.service);
    await room.journal.claim(attempt.id, first);
    const second = newClaim(attempt.service, { owner: 'instance-3', now: 11_000 });
    await expect(room.journal.claim(attempt.id, second)).resolves.toBeNull();
    await room.journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: 20_000 });
    await expect(room.journal.claim(attempt.id, second)).resolves.toMatchObject({
      owner: 'instance-3',
      checks: 2,
    });
    const third = newClaim(attempt.service, { owner: 'instance-4', now: 12_001 });
    await expect(room.journal.claim(attempt.id, third)).resolves.toMatchObject({ owner: 'instance-4' });
  });

  test('what is due is claimed up to the limit, the rest afterwards', async () => {
    const attempts = some(7);
    await Promise.all(attempts.map((attempt) => begunAs(room.journal, 'unknown', attempt)));
    const claimed: string[] = [];
    for (const expected of [3, 3, 1, 0]) {
      const page = await room.journal.claimDue(newClaim(attempts[0]!.service), 3);
      expect(page).toHaveLength(expected);
      claimed.push(...page.map(({ id }) => id));
    }
    expect(claimed.sort()).toEqual(attempts.map(({ id }) => id).sort());
  });

  test('what has been due for longest comes first, and what a dead owner left before that', async () => {
    const [left, late, early] = some(3) as [NewAttempt, NewAttempt, NewAttempt];
    await begunAs(room.journal, 'in_progress', late);
    await room.journal.settle(late.id, { outcome: 'unknown', nextCheckAt: 9_000 });
    await begunAs(room.journal, 'unknown', early);
    await begunAs(room.journal, 'in_progress', left);
    const order: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      order.push((await room.journal.claimDue(newClaim(left.service), 1))[0]?.id);
    }
    expect(order).toEqual([left.id, early.id, late.id]);
  });

  test('attempts at another service are left to who knows that service', async () => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    await expect(room.journal.claimDue(newClaim('another service'), 10)).resolves.toEqual([]);
    await expect(room.journal.claimDue(newClaim(attempt.service), 10)).resolves.toHaveLength(1);
  });

  test.each(['unknown', 'in_progress'] as const)(
    'of many claims at once of what is %s, one gets it',
    async (outcome) => {
      const two = [room.journal, await room.another()];
      const attempt = await begunAs(room.journal, outcome, newAttempt());
      const claims = Array.from({ length: 20 }, (_, place) =>
        two[place % 2]!.claim(attempt.id, newClaim(attempt.service, { owner: `instance-${place}` })),
      );
      const got = (await Promise.all(claims)).filter((claimed) => claimed !== null);
      expect(got).toHaveLength(1);
      await expect(room.journal.find(attempt)).resolves.toEqual(got[0]);
    },
  );

  test('of all that is due, each goes to one of several instances', async () => {
    const others = await Promise.all([room.process(), room.process()]);
    const attempts = some(60);
    await Promise.all(attempts.map((attempt) => begunAs(room.journal, 'unknown', attempt)));
    const claim = newClaim(attempts[0]!.service);
    const claims = Array.from({ length: 12 }, (_, place) => {
      const mine = { ...claim, owner: `instance-${place}` };
      return place % 3 === 0 ? room.journal.claimDue(mine, 10) : others[(place % 3) - 1]!.claimDue(mine, 10);
    });
    const claimed = (await Promise.all(claims)).flat();
    // Who looks at the same moment may get less than the limit; what is left over is for the next look.
    claimed.push(...(await room.journal.claimDue(claim, 60)));
    expect(claimed.map(({ id }) => id).sort()).toEqual(attempts.map(({ id }) => id).sort());
  });
});
