import { AttemptMissing } from '../../src/datasources/journal/fence';
import {
  NO_ABSENCE,
  type Attempt,
  type NewAttempt,
  type Outcome,
} from '../../src/datasources/journal/journal';
import { describeJournals } from './support/fixture';
import { asBegun, begunAs, FINAL, FREEING, newAttempt, newClaim, OUTCOMES } from './support/samples';

/** Fields of every settled attempt: it has no owner, and is not sent any more. */
const SETTLED = { settledAt: 3_000, leaseUntil: 0, owner: '', sendUntil: 0 };

/** The fields of an attempt after each outcome. */
const AFTER: Record<keyof typeof OUTCOMES, Partial<Attempt>> = {
  succeeded: {
    outcome: 'succeeded',
    transactionId: 'tx-1',
    status: 'CHECKOUT',
    ...SETTLED,
  },
  rejected: { outcome: 'rejected', ...SETTLED },
  not_sent: { outcome: 'not_sent', ...SETTLED },
  unknown: { outcome: 'unknown', nextRecheckAt: 6_000, leaseUntil: 0 },
};

const ENDS = Object.keys(AFTER) as (keyof typeof OUTCOMES)[];

describeJournals('Recording an outcome', (fixture) => {
  const records = (['in_progress', 'unknown'] as const).flatMap((from) =>
    ENDS.map((to) => [from, to] as const),
  );
  test.each(records)('changes the outcome %s to %s', async (from, to) => {
    const attempt = await begunAs(fixture.journal, from, newAttempt());
    await fixture.journal.recordOutcome(attempt.id, OUTCOMES[to]);
    const recheckCount = Number(from === 'unknown') + Number(to === 'unknown');
    const found = await fixture.journal.find(attempt);
    expect(found).toMatchObject({ ...asBegun(attempt), ...AFTER[to], recheckCount });
  });

  const changes = FINAL.flatMap((from) => ENDS.map((to) => [from, to] as const));
  test.each(changes)('does not change the outcome %s to %s', async (from, to) => {
    const attempt = await begunAs(fixture.journal, from, newAttempt());
    const before = await fixture.journal.find(attempt);
    const later: Outcome = { ...OUTCOMES[to], ...('settledAt' in OUTCOMES[to] ? { settledAt: 9_999 } : {}) };
    await fixture.journal.recordOutcome(attempt.id, later);
    await expect(fixture.journal.find(attempt)).resolves.toEqual(before);
  });

  test.each(FREEING)(
    'for an attempt that was %s does not change a newer attempt with the same key',
    async (outcome) => {
      const stale = await begunAs(fixture.journal, outcome, newAttempt());
      const current = newAttempt({ service: stale.service, key: stale.key });
      await begunAs(fixture.journal, 'in_progress', current);
      const recording = fixture.journal.recordOutcome(stale.id, OUTCOMES.succeeded);
      await expect(recording).rejects.toThrow(AttemptMissing);
      await expect(fixture.journal.find(stale)).resolves.toMatchObject(asBegun(current));
    },
  );

  test.each(['in_progress', 'unknown'] as const)(
    'refuses a transaction that another attempt created, for an attempt that is %s',
    async (outcome) => {
      const first = await begunAs(fixture.journal, 'succeeded', newAttempt());
      const second = await begunAs(fixture.journal, outcome, newAttempt({ service: first.service }));
      const before = await fixture.journal.find(second);
      await expect(fixture.journal.recordOutcome(second.id, OUTCOMES.succeeded)).resolves.toBe(false);
      await expect(fixture.journal.find(second)).resolves.toEqual(before);
      await expect(fixture.journal.recordOutcome(second.id, OUTCOMES.not_sent)).resolves.toBe(true);
    },
  );

  test('makes only one of six concurrent attempts on two instances the creator of a transaction', async () => {
    const other = await fixture.open();
    for (let round = 0; round < 5; round += 1) {
      const { service } = newAttempt();
      const attempts = Array.from({ length: 6 }, () => newAttempt({ service }));
      for (const attempt of attempts) await begunAs(fixture.journal, 'in_progress', attempt);
      const settled = await Promise.all(
        attempts.map(({ id }, place) =>
          (place % 2 === 0 ? fixture.journal : other).recordOutcome(id, OUTCOMES.succeeded),
        ),
      );
      const found = await Promise.all(attempts.map((attempt) => fixture.journal.find(attempt)));
      expect(settled.filter((isCreator) => isCreator)).toHaveLength(1);
      expect(found.map((attempt) => attempt?.outcome === 'succeeded')).toEqual(settled);
    }
    await other.close();
  });

  test('treats the same transaction id of another kind or service as a different one', async () => {
    const first = await begunAs(fixture.journal, 'succeeded', newAttempt());
    for (const other of [newAttempt({ service: first.service, kind: 'payout' }), newAttempt()]) {
      await begunAs(fixture.journal, 'in_progress', other);
      await expect(fixture.journal.recordOutcome(other.id, OUTCOMES.succeeded)).resolves.toBe(true);
      await expect(fixture.journal.find(other)).resolves.toMatchObject(AFTER.succeeded);
    }
  });

  test('accepts the same outcome again, and ignores an outcome of an attempt that does not exist', async () => {
    const attempt = await begunAs(fixture.journal, 'succeeded', newAttempt());
    await expect(fixture.journal.recordOutcome(attempt.id, OUTCOMES.succeeded)).resolves.toBe(true);
    const never = newAttempt();
    await fixture.journal.recordOutcome(never.id, OUTCOMES.not_sent);
    await expect(fixture.journal.find(never)).resolves.toBeNull();
  });

  test('applies concurrent outcomes of one attempt one after the other', async () => {
    const attempt = await begunAs(fixture.journal, 'in_progress', newAttempt());
    await Promise.all([
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.unknown),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.unknown),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.succeeded),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.rejected),
    ]);
    await expect(fixture.journal.find(attempt)).resolves.toMatchObject({
      ...AFTER.succeeded,
      recheckCount: 2,
    });
  });

  test('succeeds for an attempt in the same batch as one whose status cannot be stored unchanged', async () => {
    const odd = await begunAs(fixture.journal, 'in_progress', newAttempt());
    const beside = await begunAs(fixture.journal, 'in_progress', newAttempt());
    await Promise.allSettled([
      fixture.journal.recordOutcome(odd.id, { ...OUTCOMES.succeeded, status: 'A\u0000B\ud800' }),
      fixture.journal.recordOutcome(beside.id, OUTCOMES.succeeded),
    ]);
    await expect(fixture.journal.find(beside)).resolves.toMatchObject(AFTER.succeeded);
    await expect(fixture.journal.find(odd)).resolves.toMatchObject({ outcome: 'succeeded' });
  });

  test('does not deadlock with concurrent renewals and inserts', async () => {
    const other = await fixture.open();
    for (let round = 0; round < 3; round += 1) {
      const { id: owner } = newAttempt();
      const attempts = Array.from({ length: 100 }, () => newAttempt({ owner }));
      await Promise.all(attempts.map((attempt) => begunAs(fixture.journal, 'in_progress', attempt)));
      const settled = attempts
        .toReversed()
        .map(({ id }) => fixture.journal.recordOutcome(id, OUTCOMES.not_sent));
      const renewed = Array.from({ length: 10 }, (_, count) => other.renew(owner, 6_000 + count));
      const started = attempts.map((attempt) => other.insertAttempt({ ...attempt, id: newAttempt().id }));
      await Promise.all([...settled, ...renewed, ...started]);
    }
  });
});

const some = (count: number, given: Partial<NewAttempt> = {}): NewAttempt[] => {
  const { service } = newAttempt();
  return Array.from({ length: count }, () => newAttempt({ service, ...given }));
};

describeJournals('A claim', (fixture) => {
  test('is refused after the owner has renewed its lease; a renewal changes only attempts that the owner has in progress', async () => {
    const owner = newAttempt().id;
    const other = await begunAs(fixture.journal, 'in_progress', newAttempt());
    const unknown = await begunAs(fixture.journal, 'unknown', newAttempt({ owner }));
    const own = await begunAs(fixture.journal, 'in_progress', newAttempt({ owner }));
    await fixture.journal.renew(owner, 10_000);
    await expect(fixture.journal.claim(own.id, newClaim(own.service))).resolves.toBeNull();
    await expect(fixture.journal.claimDue(newClaim(own.service), 10)).resolves.toEqual([]);
    const leases = await Promise.all([other, unknown, own].map((attempt) => fixture.journal.find(attempt)));
    expect(leases.map((attempt) => attempt?.leaseUntil)).toEqual([other.leaseUntil, 0, 10_000]);
  });

  test('makes an attempt with an expired lease unknown, and the claimant its owner', async () => {
    const attempt = await begunAs(fixture.journal, 'in_progress', newAttempt());
    const claim = newClaim(attempt.service);
    const expected = { id: attempt.id, outcome: 'unknown', owner: claim.owner, leaseUntil: claim.leaseUntil };
    await expect(fixture.journal.claim(attempt.id, claim)).resolves.toMatchObject(expected);
    await expect(fixture.journal.find(attempt)).resolves.toMatchObject(expected);
  });

  test.each(FINAL)('is refused for an attempt that is settled as %s', async (outcome) => {
    const attempt = await begunAs(fixture.journal, outcome, newAttempt());
    const claim = newClaim(attempt.service, { now: 1e12, leaseUntil: 2e12 });
    await expect(fixture.journal.claim(attempt.id, claim)).resolves.toBeNull();
    await expect(fixture.journal.claimDue(claim, 10)).resolves.toEqual([]);
  });

  test('gets an unknown attempt when it is due, and earlier if it names its id', async () => {
    const attempt = await begunAs(fixture.journal, 'unknown', newAttempt());
    const claimAt = (now: number) => newClaim(attempt.service, { now, leaseUntil: now });
    const early = claimAt(OUTCOMES.unknown.nextRecheckAt - 1);
    const onTime = claimAt(OUTCOMES.unknown.nextRecheckAt);
    await expect(fixture.journal.claimDue(early, 10)).resolves.toEqual([]);
    await expect(fixture.journal.claimDue(newClaim('another service'), 10)).resolves.toEqual([]);
    await expect(fixture.journal.claimDue(onTime, 10)).resolves.toMatchObject([{ id: attempt.id }]);
    const other = await begunAs(fixture.journal, 'unknown', newAttempt({ service: attempt.service }));
    await expect(fixture.journal.claim(other.id, early)).resolves.toMatchObject({ id: other.id });
  });

  test('can be repeated after an outcome was recorded or the claim has expired', async () => {
    const attempt = await begunAs(fixture.journal, 'unknown', newAttempt());
    const first = newClaim(attempt.service);
    await fixture.journal.claim(attempt.id, first);
    const second = newClaim(attempt.service, { owner: 'instance-3', now: 11_000 });
    await expect(fixture.journal.claim(attempt.id, second)).resolves.toBeNull();
    await fixture.journal.recordOutcome(attempt.id, { outcome: 'unknown', nextRecheckAt: 20_000 });
    await expect(fixture.journal.claim(attempt.id, second)).resolves.toMatchObject({
      owner: 'instance-3',
      recheckCount: 2,
    });
    const third = newClaim(attempt.service, { owner: 'instance-4', now: 12_001 });
    await expect(fixture.journal.claim(attempt.id, third)).resolves.toMatchObject({ owner: 'instance-4' });
  });

  test('gets attempts of dead owners first, then those due for longest, up to the limit', async () => {
    const [left, late, early] = some(3) as [NewAttempt, NewAttempt, NewAttempt];
    await begunAs(fixture.journal, 'in_progress', late);
    await fixture.journal.recordOutcome(late.id, { outcome: 'unknown', nextRecheckAt: 9_000 });
    await begunAs(fixture.journal, 'unknown', early);
    await begunAs(fixture.journal, 'in_progress', left);
    for (const expected of [left, early, late]) {
      const claimed = await fixture.journal.claimDue(newClaim(left.service), 1);
      expect(claimed.map(({ id }) => id)).toEqual([expected.id]);
    }
    await expect(fixture.journal.claimDue(newClaim(left.service), 1)).resolves.toEqual([]);
  });

  test.each(['unknown', 'in_progress'] as const)(
    'is granted to one of 20 concurrent claimants of an attempt that is %s',
    async (outcome) => {
      const two = [fixture.journal, await fixture.open()];
      const attempt = await begunAs(fixture.journal, outcome, newAttempt());
      const claims = Array.from({ length: 20 }, (_, place) =>
        two[place % 2]!.claim(attempt.id, newClaim(attempt.service, { owner: `instance-${place}` })),
      );
      const got = (await Promise.all(claims)).filter((claimed) => claimed !== null);
      expect(got).toHaveLength(1);
      await expect(fixture.journal.find(attempt)).resolves.toEqual(got[0]);
    },
  );

  test('gives each due attempt to one of several processes', async () => {
    const children = await Promise.all([fixture.startChild(), fixture.startChild()]);
    const attempts = some(60);
    await Promise.all(attempts.map((attempt) => begunAs(fixture.journal, 'unknown', attempt)));
    const claim = newClaim(attempts[0]!.service);
    const claims = Array.from({ length: 12 }, (_, place) => {
      const mine = { ...claim, owner: `instance-${place}` };
      return place % 3 === 0
        ? fixture.journal.claimDue(mine, 10)
        : children[(place % 3) - 1]!.call('claimDue', mine, 10);
    });
    const claimed = (await Promise.all(claims)).flat();
    // Concurrent claims may get fewer attempts than the limit.
    claimed.push(...(await fixture.journal.claimDue(claim, 60)));
    expect(claimed.map(({ id }) => id).sort()).toEqual(attempts.map(({ id }) => id).sort());
  });

  test('treats a lease with an impossibly late end as expired', async () => {
    const attempt = await begunAs(fixture.journal, 'in_progress', newAttempt({ leaseUntil: 300_000_000 }));
    const claimedAt = (now: number) =>
      fixture.journal.claim(attempt.id, newClaim(attempt.service, { now, leaseUntil: now + 1000 }));
    await expect(claimedAt(299_999_000)).resolves.toBeNull();
    await expect(claimedAt(10_000)).resolves.toMatchObject({ outcome: 'unknown' });
  });

  test('uses the clock of the database server, or of the machine for SQLite', async () => {
    const before = Date.now();
    const time = await fixture.journal.time();
    // PostgreSQL may run on another machine than the tests.
    expect(Math.abs(time - before)).toBeLessThan(60_000);
  });
});

const OBSERVED = { lookups: 2, spanMs: 1234, observer: 'instance-2' };

const asRead = (attempt: ReturnType<typeof newAttempt>): Attempt => ({ ...asBegun(attempt), seq: 0 });

describeJournals('The recorded absence of a transaction', (fixture) => {
  test('is kept until it is recorded again', async () => {
    const attempt = await begunAs(fixture.journal, 'unknown', newAttempt());
    await expect(fixture.journal.find(attempt)).resolves.toMatchObject({ absence: NO_ABSENCE });
    await fixture.journal.recordOutcome(attempt.id, {
      outcome: 'unknown',
      nextRecheckAt: 7_000,
      absence: OBSERVED,
    });
    await fixture.journal.recordOutcome(attempt.id, { outcome: 'unknown', nextRecheckAt: 8_000 });
    await expect(fixture.journal.find(attempt)).resolves.toMatchObject({
      recheckCount: 3,
      absence: OBSERVED,
    });
    await fixture.journal.recordOutcome(attempt.id, {
      outcome: 'unknown',
      nextRecheckAt: 9_000,
      absence: NO_ABSENCE,
    });
    await expect(fixture.journal.find(attempt)).resolves.toMatchObject({ absence: NO_ABSENCE });
  });

  test('is empty for a new attempt under a reused key', async () => {
    const attempt = await begunAs(fixture.journal, 'unknown', newAttempt());
    await fixture.journal.recordOutcome(attempt.id, {
      outcome: 'unknown',
      nextRecheckAt: 7_000,
      absence: OBSERVED,
    });
    await fixture.journal.recordOutcome(attempt.id, { outcome: 'not_sent', settledAt: 8_000 });
    const next = newAttempt({ service: attempt.service, key: attempt.key, serviceStartedAt: 77 });
    await begunAs(fixture.journal, 'in_progress', next);
    await expect(fixture.journal.find(next)).resolves.toMatchObject({
      id: next.id,
      absence: NO_ABSENCE,
      recheckCount: 0,
      serviceStartedAt: 77,
    });
  });

  test('lets the instance that last looked the attempt up claim it before others', async () => {
    const attempt = await begunAs(fixture.journal, 'unknown', newAttempt());
    await fixture.journal.recordOutcome(attempt.id, {
      outcome: 'unknown',
      nextRecheckAt: 10_000,
      absence: OBSERVED,
    });
    const claimedBy = (owner: string, now: number): Promise<Attempt[]> =>
      fixture.journal.claimDue(newClaim(attempt.service, { owner, now, leaseUntil: now - 1 }), 10);
    await expect(claimedBy('instance-3', 14_999)).resolves.toEqual([]);
    await expect(claimedBy('instance-2', 10_000)).resolves.toHaveLength(1);
    await expect(claimedBy('instance-3', 15_000)).resolves.toHaveLength(1);
  });

  test.each(['in_progress', 'unknown'] as const)(
    'is no proof when another attempt with the same external id, amount and method is %s',
    async (outcome) => {
      const attempt = newAttempt();
      const { id: _id, key: _key, ...same } = attempt;
      await begunAs(fixture.journal, outcome, newAttempt(same));
      await begunAs(fixture.journal, 'unknown', attempt);
      await expect(fixture.journal.hasRival(asRead(attempt))).resolves.toBe(true);
    },
  );

  test.each([
    ['has succeeded', {}, 'succeeded'],
    ['was not sent', {}, 'not_sent'],
    ['has another amount', { value: '10.01' }, 'unknown'],
    ['has another currency', { currency: 'INR' }, 'unknown'],
    ['has another method', { method: 'upi' }, 'unknown'],
    ['is on another channel', { channel: 'channel-2' }, 'unknown'],
    ['is at another service', { service: 'another' }, 'unknown'],
    ['has another external id', { externalId: 'another' }, 'unknown'],
  ] as const)('is proof when the other attempt %s', async (_name, other, outcome) => {
    const attempt = await begunAs(fixture.journal, 'unknown', newAttempt());
    const { service, externalId } = attempt;
    await begunAs(fixture.journal, outcome, newAttempt({ service, externalId, ...other }));
    await expect(fixture.journal.hasRival(asRead(attempt))).resolves.toBe(false);
  });

  test('is checked against the last transaction on the channel, preferably one of the same client', async () => {
    const { service } = newAttempt();
    const create = async (given: { client?: string; channel?: string; startedAt?: number }, id: string) => {
      const attempt = newAttempt({ service, ...given });
      await begunAs(fixture.journal, 'succeeded', attempt, { transactionId: `${service}-${id}` });
    };
    const beside = (given: object = {}) =>
      fixture.journal.findSucceededOnChannel(asRead(newAttempt({ service, ...given })));
    await expect(beside()).resolves.toBeNull();
    await create({ client: 'another' }, 'other');
    await expect(beside()).resolves.toBe(`${service}-other`);
    await create({ startedAt: 1 }, 'old');
    await create({ startedAt: 2 }, 'new');
    await create({ startedAt: 3, channel: 'channel-2' }, 'elsewhere');
    await expect(beside()).resolves.toBe(`${service}-new`);
    await expect(beside({ kind: 'payout' })).resolves.toBeNull();
  });
});
