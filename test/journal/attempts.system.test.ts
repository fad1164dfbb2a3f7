import type { InsertResult, Journal, NewAttempt } from '../../src/datasources/journal/journal';
import { describeJournals } from './support/fixture';
import { begunAs, newAttempt, newClaim, newPayout, OUTCOMES, tally } from './support/samples';

// Tests of concurrent and batched calls; test/simulation/journal-model.system.test.ts tests the result of each single
// call.

/** Returns attempts of one service, with these fields in common. */
const several = (count: number, given: Partial<NewAttempt> = {}): NewAttempt[] => {
  const { service } = newAttempt();
  return Array.from({ length: count }, () => newAttempt({ service, ...given }));
};

const SAME_KEY = { key: 'key-1' };
const SAME_ORDER = { kind: 'payout', reservesExternalId: true, externalId: 'order-1' } as const;

/** Expects every `exists` result to name the attempt that was started. */
function expectOneWinner(attempts: NewAttempt[], responses: InsertResult[]): void {
  const winner = attempts[responses.findIndex(({ kind }) => kind === 'started')];
  for (const response of responses)
    if (response.kind === 'exists') expect(response.attempt.id).toBe(winner?.id);
}

describeJournals('Inserting an attempt', (fixture) => {
  let two: Journal[];

  beforeAll(async () => {
    two = [fixture.journal, await fixture.open()];
  });

  const insertAll = (attempts: NewAttempt[]): Promise<InsertResult>[] =>
    attempts.map((attempt) => fixture.journal.insertAttempt(attempt));
  const insertInTwo = (attempts: NewAttempt[]): Promise<InsertResult>[] =>
    attempts.map((attempt, place) => two[place % 2]!.insertAttempt(attempt));
  describe('with an idempotency key', () => {
    test('does not mix up keys of different clients, whatever characters client and key contain', async () => {
      const service = newAttempt().service;
      await begunAs(fixture.journal, 'in_progress', newAttempt({ service, client: 'a', key: 'b","c' }));
      await begunAs(fixture.journal, 'in_progress', newAttempt({ service, client: 'a","b', key: 'c' }));
    });

    test('starts only one of 200 concurrent payments or payouts with the same key', async () => {
      for (const attempts of [several(200, SAME_KEY), several(200, { ...SAME_KEY, ...SAME_ORDER })]) {
        const responses = await Promise.all(insertInTwo(attempts));
        expect(tally(responses)).toEqual({ started: 1, exists: 199 });
        expectOneWinner(attempts, responses);
      }
    });

    test.each([2, 100])(
      'starts only one of %i concurrent attempts with the key of an attempt that was not sent',
      async (count) => {
        for (let round = 0; round < 120 / count; round += 1) {
          const [freed, ...attempts] = several(1 + count, SAME_KEY);
          await begunAs(fixture.journal, 'not_sent', freed!);
          const responses = await Promise.all(insertInTwo(attempts));
          expect(tally(responses)).toEqual({ started: 1, exists: count - 1 });
          expectOneWinner(attempts, responses);
        }
      },
    );

    test('does not use up the key when another attempt has reserved the external id', async () => {
      const { service, externalId } = await begunAs(fixture.journal, 'in_progress', newPayout());
      const refused = newPayout({ service, externalId });
      const other = newAttempt({ service, key: refused.key });
      const [ofRefused, ofOther] = await Promise.all(insertAll([refused, other]));
      // The refused payout gets `exists` if the other attempt was inserted first.
      expect(ofRefused!.kind).toMatch(/^(reserved|exists)$/);
      expect(ofOther).toEqual({ kind: 'started' });
    });
  });

  describe('with an external id', () => {
    test('refuses only those payouts of a batch whose external id is reserved', async () => {
      const [first, taken] = several(2, SAME_ORDER);
      await begunAs(fixture.journal, 'in_progress', first!);
      const responses = await Promise.all(insertAll([newPayout(), taken!, newPayout(), newPayout()]));
      expect(responses.map(({ kind }) => kind)).toEqual(['started', 'reserved', 'started', 'started']);
    });

    test.each(['new', 'reusable'])('that is %s starts only one of two concurrent payouts', async (was) => {
      for (let round = 0; round < 40; round += 1) {
        const [before, ...both] = several(3, SAME_ORDER);
        if (was === 'reusable') await begunAs(fixture.journal, 'rejected', before!);
        expect(tally(await Promise.all(insertInTwo(both)))).toEqual({ started: 1, reserved: 1 });
      }
    });
  });
});

const SUCCEEDED = { outcome: 'succeeded', transactionId: 'tx-1', wireStatus: 'CHECKOUT', settledAt: 3_000 };

describeJournals('Recording an outcome', (fixture) => {
  test('assigns a transaction to only one of six concurrent attempts on two instances', async () => {
    const other = await fixture.open();
    for (let round = 0; round < 5; round += 1) {
      const attempts = several(6);
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

  test('applies four concurrent outcomes of one attempt in the order of the calls', async () => {
    const attempt = await begunAs(fixture.journal, 'in_progress', newAttempt());
    await Promise.all([
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.unknown),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.unknown),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.succeeded),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.rejected),
    ]);
    await expect(fixture.journal.find(attempt)).resolves.toMatchObject({ ...SUCCEEDED, recheckCount: 2 });
  });

  test('succeeds for both attempts of a batch when the status of one has characters that cannot be stored', async () => {
    const odd = await begunAs(fixture.journal, 'in_progress', newAttempt());
    const beside = await begunAs(fixture.journal, 'in_progress', newAttempt());
    await Promise.allSettled([
      fixture.journal.recordOutcome(odd.id, { ...OUTCOMES.succeeded, wireStatus: 'A\u0000B\ud800' }),
      fixture.journal.recordOutcome(beside.id, OUTCOMES.succeeded),
    ]);
    await expect(fixture.journal.find(beside)).resolves.toMatchObject(SUCCEEDED);
    await expect(fixture.journal.find(odd)).resolves.toMatchObject({ outcome: 'succeeded' });
  });

  test('does not deadlock with lease renewals and with inserts of the same keys in another order', async () => {
    const other = await fixture.open();
    for (let round = 0; round < 3; round += 1) {
      const { id: owner } = newAttempt();
      const attempts = Array.from({ length: 60 }, () => newAttempt({ owner }));
      const again = attempts.map(({ key, service }) => newAttempt({ key, service, owner })).reverse();
      const begins = [
        ...attempts.map((attempt) => fixture.journal.insertAttempt(attempt)),
        ...again.map((attempt) => other.insertAttempt(attempt)),
      ];
      expect(tally(await Promise.all(begins))).toEqual({ started: 60, exists: 60 });
      const ids = [...attempts, ...again].map(({ id }) => id);
      await Promise.all([
        ...ids.map((id) => fixture.journal.recordOutcome(id, OUTCOMES.not_sent)),
        ...Array.from({ length: 10 }, (_, count) => other.renew(owner, 6_000 + count, ids)),
        ...attempts.map(({ key, service }) => other.insertAttempt(newAttempt({ key, service }))),
      ]);
    }
  });
});

describeJournals('Claiming attempts for recovery', (fixture) => {
  test('returns attempts of dead instances first, then those that are due longest, up to the limit', async () => {
    const [left, late, early] = several(3) as [NewAttempt, NewAttempt, NewAttempt];
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
    'succeeds for only one of 20 concurrent claimants when the attempt is %s',
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

  test('gives each due attempt to exactly one of two instances', async () => {
    const two = [fixture.journal, await fixture.open()];
    const attempts = several(60);
    await Promise.all(attempts.map((attempt) => begunAs(fixture.journal, 'unknown', attempt)));
    const claim = newClaim(attempts[0]!.service);
    const claims = Array.from({ length: 12 }, (_, place) => two[place % 2]!.claimDue(claim, 10));
    const claimed = (await Promise.all(claims)).flat();
    // Concurrent claims may get fewer attempts than the limit.
    claimed.push(...(await fixture.journal.claimDue(claim, 60)));
    expect(claimed.map(({ id }) => id).sort()).toEqual(attempts.map(({ id }) => id).sort());
  });

  test('treats a lease that ends implausibly late (over MAX_LEASE_MS from now) as expired', async () => {
    const attempt = await begunAs(fixture.journal, 'in_progress', newAttempt({ leaseUntil: 300_000_000 }));
    const claimedAt = (now: number) =>
      fixture.journal.claim(attempt.id, newClaim(attempt.service, { now, leaseUntil: now + 1000 }));
    await expect(claimedAt(299_999_000)).resolves.toBeNull();
    await expect(claimedAt(10_000)).resolves.toMatchObject({ outcome: 'unknown' });
  });

  test('uses the current time of the database server, or of the machine for SQLite', async () => {
    const before = Date.now();
    const time = await fixture.journal.time();
    // PostgreSQL may run on another machine than the tests.
    expect(Math.abs(time - before)).toBeLessThan(60_000);
  });
});

describeJournals('The recovery queries of the journal', (fixture) => {
  test.each([{ currency: 'INR' }, { method: 'upi' }, { service: 'another' }])(
    'find another unknown attempt with the same external id, which may own a found transaction, unless it differs in %o',
    async (difference) => {
      const attempt = await begunAs(fixture.journal, 'unknown', newAttempt());
      const { service, externalId } = attempt;
      const hasRival = () => fixture.journal.hasRival(attempt);
      await begunAs(fixture.journal, 'unknown', newAttempt({ service, externalId, ...difference }));
      await expect(hasRival()).resolves.toBe(false);
      await begunAs(fixture.journal, 'unknown', newAttempt({ service, externalId }));
      await expect(hasRival()).resolves.toBe(true);
    },
  );

  test('find the newest succeeded transaction of the client on the channel, or else any of another client', async () => {
    const { service } = newAttempt();
    const create = async (given: { client?: string; channel?: string; startedAt?: number }, id: string) => {
      const attempt = newAttempt({ service, ...given });
      await begunAs(fixture.journal, 'succeeded', attempt, { transactionId: `${service}-${id}` });
    };
    const beside = (given: object = {}) =>
      fixture.journal.findSucceededOnChannel(newAttempt({ service, ...given }));
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

describeJournals('Renewing the leases of attempts', (fixture) => {
  test('extends only the leases of the given attempts', async () => {
    const service = newAttempt().service;
    const [renewed, other] = [newAttempt({ service }), newAttempt({ service })];
    for (const attempt of [renewed, other]) await fixture.journal.insertAttempt(attempt);
    await fixture.journal.renew(renewed.owner, 20_000, [renewed.id]);
    await expect(fixture.journal.claim(renewed.id, newClaim(service))).resolves.toBeNull();
    await expect(fixture.journal.claim(other.id, newClaim(service))).resolves.toMatchObject({ id: other.id });
  });
});
