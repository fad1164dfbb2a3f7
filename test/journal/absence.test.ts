import { NO_ABSENCE, type Attempt } from '../../src/datasources/journal/journal';
import { asBegun, begunAs, newAttempt, newClaim } from './support/samples';
import { inBothStores } from './support/stores';

const OBSERVED = { lookups: 2, spanMs: 1234, observer: 'instance-2' };

const asRead = (attempt: ReturnType<typeof newAttempt>): Attempt => ({ ...asBegun(attempt), seq: 0 });

inBothStores((room) => {
  test('what lookups have proven is kept until it is written anew', async () => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    await expect(room.journal.find(attempt)).resolves.toMatchObject({ absence: NO_ABSENCE });
    await room.journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: 7_000, absence: OBSERVED });
    await room.journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: 8_000 });
    await expect(room.journal.find(attempt)).resolves.toMatchObject({ checks: 3, absence: OBSERVED });
    await room.journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: 9_000, absence: NO_ABSENCE });
    await expect(room.journal.find(attempt)).resolves.toMatchObject({ absence: NO_ABSENCE });
  });

  test('a new attempt under a freed key has proven nothing', async () => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    await room.journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: 7_000, absence: OBSERVED });
    await room.journal.settle(attempt.id, { outcome: 'not_sent', settledAt: 8_000 });
    const next = newAttempt({ service: attempt.service, key: attempt.key, serviceStartedAt: 77 });
    await begunAs(room.journal, 'in_progress', next);
    await expect(room.journal.find(next)).resolves.toMatchObject({
      id: next.id,
      absence: NO_ABSENCE,
      serviceStartedAt: 77,
    });
  });

  test('the instance that looked last goes first, and others take over when it does not', async () => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    await room.journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: 10_000, absence: OBSERVED });
    const claimedBy = (owner: string, now: number): Promise<Attempt[]> =>
      room.journal.claimDue(newClaim(attempt.service, { owner, now, leaseUntil: now - 1 }), 10);
    await expect(claimedBy('instance-3', 14_999)).resolves.toEqual([]);
    await expect(claimedBy('instance-2', 10_000)).resolves.toHaveLength(1);
    await expect(claimedBy('instance-3', 15_000)).resolves.toHaveLength(1);
  });

  test.each(['in_progress', 'unknown'] as const)(
    'an attempt that is %s is a rival of one with the same external id, amount and method',
    async (outcome) => {
      const attempt = newAttempt();
      const { id: _id, key: _key, ...same } = attempt;
      await begunAs(room.journal, outcome, newAttempt(same));
      await begunAs(room.journal, 'unknown', attempt);
      await expect(room.journal.hasRival(asRead(attempt))).resolves.toBe(true);
    },
  );

  test.each([
    ['whose outcome is known', {}, 'succeeded'],
    ['that was not sent', {}, 'not_sent'],
    ['of another amount', { value: '10.01' }, 'unknown'],
    ['of another currency', { currency: 'INR' }, 'unknown'],
    ['of another method', { method: 'upi' }, 'unknown'],
    ['on another channel', { channel: 'channel-2' }, 'unknown'],
    ['at another service', { service: 'another' }, 'unknown'],
    ['with another external id', { externalId: 'another' }, 'unknown'],
  ] as const)('an attempt %s is no rival', async (_name, other, outcome) => {
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    const { service, externalId } = attempt;
    await begunAs(room.journal, outcome, newAttempt({ service, externalId, ...other }));
    await expect(room.journal.hasRival(asRead(attempt))).resolves.toBe(false);
  });

  test('a transaction created on the channel is told: the client’s own last one, else another client’s', async () => {
    const { service } = newAttempt();
    const create = async (given: { client?: string; channel?: string; startedAt?: number }, id: string) => {
      const attempt = newAttempt({ service, ...given });
      await begunAs(room.journal, 'succeeded', attempt, { transactionId: `${service}-${id}` });
    };
    const beside = (given: object = {}) =>
      room.journal.createdBeside(asRead(newAttempt({ service, ...given })));
    await expect(beside()).resolves.toBeNull();
    await create({ client: 'another' }, 'other');
    await expect(beside()).resolves.toBe(`${service}-other`);
    await create({ startedAt: 1 }, 'old');
    await create({ startedAt: 2 }, 'new');
    await create({ startedAt: 3, channel: 'channel-2' }, 'elsewhere');
    await expect(beside()).resolves.toBe(`${service}-new`);
    await expect(beside({ kind: 'payout' })).resolves.toBeNull();
  });

  test('a lease that ends later than any lease can is over', async () => {
    const attempt = await begunAs(room.journal, 'in_progress', newAttempt({ leaseUntil: 300_000_000 }));
    const claimedAt = (now: number) =>
      room.journal.claim(attempt.id, newClaim(attempt.service, { now, leaseUntil: now + 1000 }));
    await expect(claimedAt(299_999_000)).resolves.toBeNull();
    await expect(claimedAt(10_000)).resolves.toMatchObject({ outcome: 'unknown' });
  });

  test('its clock is that of its machine', async () => {
    const before = Date.now();
    const time = await room.journal.time();
    // PostgreSQL may run on another machine than the tests.
    expect(Math.abs(time - before)).toBeLessThan(60_000);
  });
});
