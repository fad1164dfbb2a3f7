import type { Attempt, Settlement } from '../../src/datasources/journal/journal';
import { asBegun, begunAs, FINAL, FREEING, newAttempt, SETTLED, tally } from './support/samples';
import { inBothStores } from './support/stores';

/** What each end leaves in the journal. */
const AFTER: Record<keyof typeof SETTLED, Partial<Attempt>> = {
  succeeded: {
    outcome: 'succeeded',
    transactionId: 'tx-1',
    status: 'CHECKOUT',
    settledAt: 3_000,
    leaseUntil: 0,
  },
  rejected: { outcome: 'rejected', settledAt: 3_000, leaseUntil: 0 },
  not_sent: { outcome: 'not_sent', settledAt: 3_000, leaseUntil: 0 },
  unknown: { outcome: 'unknown', nextCheckAt: 6_000, checks: 1, leaseUntil: 0 },
};

const ENDS = Object.keys(AFTER) as (keyof typeof SETTLED)[];

inBothStores((room) => {
  test.each(ENDS)('an attempt that is settled as %s says so', async (outcome) => {
    const attempt = await begunAs(room.journal, outcome, newAttempt());
    await expect(room.journal.find(attempt)).resolves.toMatchObject({
      ...asBegun(attempt),
      ...AFTER[outcome],
    });
  });

  test.each(ENDS)('an unknown outcome can become %s', async (outcome) => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    await room.journal.settle(attempt.id, SETTLED[outcome]);
    const checks = outcome === 'unknown' ? 2 : 1;
    await expect(room.journal.find(attempt)).resolves.toMatchObject({ ...AFTER[outcome], checks });
  });

  const changes = FINAL.flatMap((from) => ENDS.map((to) => [from, to] as const));
  test.each(changes)('an attempt that is settled as %s does not become %s', async (from, to) => {
    const attempt = await begunAs(room.journal, from, newAttempt());
    const before = await room.journal.find(attempt);
    const later: Settlement = { ...SETTLED[to], ...('settledAt' in SETTLED[to] ? { settledAt: 9_999 } : {}) };
    await room.journal.settle(attempt.id, later);
    await expect(room.journal.find(attempt)).resolves.toEqual(before);
  });

  test.each(FREEING)('who was %s does not settle the attempt that has the key since', async (outcome) => {
    const stale = await begunAs(room.journal, outcome, newAttempt());
    const current = newAttempt({ service: stale.service, key: stale.key });
    await begunAs(room.journal, 'in_progress', current);
    await room.journal.settle(stale.id, SETTLED.succeeded);
    await expect(room.journal.find(stale)).resolves.toMatchObject(asBegun(current));
  });

  test.each(['in_progress', 'unknown'] as const)(
    'an attempt that is %s does not become the creator of what another has created',
    async (outcome) => {
      const first = await begunAs(room.journal, 'succeeded', newAttempt());
      const second = await begunAs(room.journal, outcome, newAttempt({ service: first.service }));
      const before = await room.journal.find(second);
      await expect(room.journal.settle(second.id, SETTLED.succeeded)).resolves.toBe(false);
      await expect(room.journal.find(second)).resolves.toEqual(before);
      await expect(room.journal.settle(second.id, SETTLED.not_sent)).resolves.toBe(true);
    },
  );

  test('of attempts that are settled at once with one transaction, on two instances, one becomes its creator', async () => {
    const other = await room.another();
    for (let round = 0; round < 10; round += 1) {
      const { service } = newAttempt();
      const attempts = Array.from({ length: 6 }, () => newAttempt({ service }));
      for (const attempt of attempts) await begunAs(room.journal, 'in_progress', attempt);
      const settled = await Promise.all(
        attempts.map(({ id }, place) =>
          (place % 2 === 0 ? room.journal : other).settle(id, SETTLED.succeeded),
        ),
      );
      const found = await Promise.all(attempts.map((attempt) => room.journal.find(attempt)));
      expect(settled.filter((isCreator) => isCreator)).toHaveLength(1);
      expect(found.map((attempt) => attempt?.outcome === 'succeeded')).toEqual(settled);
    }
    await other.close();
  });

  test('what another kind or another service calls the same is another transaction', async () => {
    const first = await begunAs(room.journal, 'succeeded', newAttempt());
    for (const other of [newAttempt({ service: first.service, kind: 'payout' }), newAttempt()]) {
      await begunAs(room.journal, 'in_progress', other);
      await expect(room.journal.settle(other.id, SETTLED.succeeded)).resolves.toBe(true);
      await expect(room.journal.find(other)).resolves.toMatchObject(AFTER.succeeded);
    }
  });

  test('who created a transaction may say so again', async () => {
    const attempt = await begunAs(room.journal, 'succeeded', newAttempt());
    await expect(room.journal.settle(attempt.id, SETTLED.succeeded)).resolves.toBe(true);
  });

  test('an attempt that was never begun can be settled, which changes nothing', async () => {
    const attempt = newAttempt();
    await room.journal.settle(attempt.id, SETTLED.not_sent);
    await expect(room.journal.find(attempt)).resolves.toBeNull();
  });

  test('settlements of one attempt at once are taken one after the other', async () => {
    const attempt = await begunAs(room.journal, 'in_progress', newAttempt());
    await Promise.all([
      room.journal.settle(attempt.id, SETTLED.unknown),
      room.journal.settle(attempt.id, SETTLED.unknown),
      room.journal.settle(attempt.id, SETTLED.succeeded),
      room.journal.settle(attempt.id, SETTLED.rejected),
    ]);
    await expect(room.journal.find(attempt)).resolves.toMatchObject({ ...AFTER.succeeded, checks: 2 });
  });

  test('a begin and its settlement may follow each other without waiting', async () => {
    const attempts = Array.from({ length: 50 }, () => newAttempt());
    await Promise.all(attempts.map((attempt) => begunAs(room.journal, 'succeeded', attempt)));
    const found = await Promise.all(attempts.map((attempt) => room.journal.find(attempt)));
    expect(new Set(found.map((attempt) => attempt?.outcome))).toEqual(new Set(['succeeded']));
  });

  test('a status of any characters spoils no settlement beside it', async () => {
    const odd = await begunAs(room.journal, 'in_progress', newAttempt());
    const beside = await begunAs(room.journal, 'in_progress', newAttempt());
    await Promise.allSettled([
      room.journal.settle(odd.id, { ...SETTLED.succeeded, status: 'A\u0000B\ud800' }),
      room.journal.settle(beside.id, SETTLED.succeeded),
    ]);
    await expect(room.journal.find(beside)).resolves.toMatchObject(AFTER.succeeded);
    await expect(room.journal.find(odd)).resolves.toMatchObject({ outcome: 'succeeded' });
  });

  test('settling, renewing and beginning at once do not stop each other', async () => {
    const { service } = newAttempt();
    const attempts = Array.from({ length: 100 }, () => newAttempt({ service, owner: service }));
    const other = await room.another();
    for (let round = 0; round < 5; round += 1) {
      const fresh = attempts.map((attempt) => ({ ...attempt, id: newAttempt().id }));
      await Promise.all(fresh.map((attempt) => begunAs(room.journal, 'in_progress', attempt)));
      const settled = fresh.toReversed().map(({ id }) => room.journal.settle(id, SETTLED.not_sent));
      const renewed = Array.from({ length: 10 }, (_, count) => other.renew(service, 6_000 + count));
      const doubled = fresh.map((attempt) =>
        other.begin({ ...attempt, id: newAttempt().id, reserve: false }),
      );
      const begun = await Promise.all([Promise.all(doubled), Promise.all(settled), Promise.all(renewed)]);
      for (const [place, answer] of begun[0].entries()) {
        if (answer.kind !== 'started') continue;
        const now = await room.journal.find(attempts[place]!);
        await room.journal.settle(now!.id, SETTLED.not_sent);
      }
    }
  });

  test('settling what is asked for again at the same moment does not stop either', async () => {
    const other = await room.another();
    const attempts = Array.from({ length: 200 }, () => newAttempt());
    await Promise.all(attempts.map((attempt) => begunAs(room.journal, 'in_progress', attempt)));
    for (let round = 0; round < 15; round += 1) {
      const settled = attempts.map(({ id }) => room.journal.settle(id, SETTLED.unknown));
      const again = attempts.map((attempt) => other.begin({ ...attempt, id: newAttempt().id }));
      await Promise.all(settled);
      expect(tally(await Promise.all(again))).toEqual({ exists: 200 });
    }
  });
});
