import {
  NO_ABSENCE,
  type Attempt,
  type BeginResult,
  type Journal,
  type NewAttempt,
} from '../../src/datasources/journal/journal';
import { describeJournals, type JournalChild } from './support/fixture';
import { asBegun, begunAs, newAttempt, newClaim, newPayout, OUTCOMES, tally } from './support/samples';

// journal-model.system.test.ts tests the result of every single call; these are tests of concurrent and batched calls.

/** Returns attempts of one service, with these fields in common. */
const several = (count: number, given: Partial<NewAttempt> = {}): NewAttempt[] => {
  const { service } = newAttempt();
  return Array.from({ length: count }, () => newAttempt({ service, ...given }));
};

const SAME_KEY = { key: 'key-1' };
const SAME_ORDER = { kind: 'payout', reserve: true, externalId: 'order-1' } as const;

/** Expects every `exists` result to name the attempt that was started. */
function expectOneWinner(attempts: NewAttempt[], responses: BeginResult[]): void {
  const winner = attempts[responses.findIndex(({ kind }) => kind === 'started')];
  for (const response of responses)
    if (response.kind === 'exists') expect(response.attempt.id).toBe(winner?.id);
}

describeJournals('Inserting an attempt', (fixture) => {
  let two: Journal[];
  let children: JournalChild[];

  beforeAll(async () => {
    two = [fixture.journal, await fixture.open()];
    children = await Promise.all([fixture.startChild(), fixture.startChild()]);
  });

  const insertAll = (attempts: NewAttempt[]): Promise<BeginResult>[] =>
    attempts.map((attempt) => fixture.journal.insertAttempt(attempt));
  const insertInTwo = (attempts: NewAttempt[]): Promise<BeginResult>[] =>
    attempts.map((attempt, place) => two[place % 2]!.insertAttempt(attempt));
  const insertInChild = async (place: number, attempt: NewAttempt): Promise<BeginResult> =>
    (await children[place]!.call('begin', [attempt]))[0]!;

  describe('with an idempotency key', () => {
    test('starts an attempt under a new key, and stores all its fields', async () => {
      const attempt = newAttempt({
        key: 'a "key" of \\ ünusual 文字 🔑 %_',
        publicDetails: '{"name":"O\'Neil"}',
      });
      await expect(fixture.journal.find(attempt)).resolves.toBeNull();
      await expect(fixture.journal.insertAttempt(attempt)).resolves.toEqual({ kind: 'started' });
      const seq: unknown = expect.any(Number);
      await expect(fixture.journal.find(attempt)).resolves.toEqual({ ...asBegun(attempt), seq });
    });

    test('does not confuse client and key, whatever characters they contain', async () => {
      const service = newAttempt().service;
      await begunAs(fixture.journal, 'in_progress', newAttempt({ service, client: 'a', key: 'b","c' }));
      await begunAs(fixture.journal, 'in_progress', newAttempt({ service, client: 'a","b', key: 'c' }));
    });

    test.each<[where: string, begin: (attempts: NewAttempt[]) => Promise<BeginResult>[]]>([
      ['one journal', insertAll],
      ['two journals', insertInTwo],
      ['two processes', (attempts) => attempts.map((each, place) => insertInChild(place % 2, each))],
    ])('starts only one of 200 concurrent payments or payouts under one key in %s', async (_where, begin) => {
      for (const attempts of [several(200, SAME_KEY), several(200, { ...SAME_KEY, ...SAME_ORDER })]) {
        const responses = await Promise.all(begin(attempts));
        expect(tally(responses)).toEqual({ started: 1, exists: 199 });
        expectOneWinner(attempts, responses);
      }
    });

    test.each([2, 100])('starts one of %i concurrent attempts if it is free again', async (count) => {
      for (let round = 0; round < 120 / count; round += 1) {
        const [freed, ...attempts] = several(1 + count, SAME_KEY);
        await begunAs(fixture.journal, 'not_sent', freed!);
        const responses = await Promise.all(insertInTwo(attempts));
        expect(tally(responses)).toEqual({ started: 1, exists: count - 1 });
        expectOneWinner(attempts, responses);
      }
    });

    test('leaves the key free if the attempt is refused because its external id is reserved', async () => {
      const { service, externalId } = await begunAs(fixture.journal, 'in_progress', newPayout());
      const refused = newPayout({ service, externalId });
      const other = newAttempt({ service, key: refused.key });
      const responses = await Promise.all(insertAll([refused, other]));
      expect(responses).toEqual([{ kind: 'reserved' }, { kind: 'started' }]);
    });

    test('does not deadlock when two journals insert the same keys in opposite order', async () => {
      for (let round = 0; round < 3; round += 1) {
        const first = Array.from({ length: 60 }, () => newAttempt({ service: 'crosswise' }));
        const second = first.map(({ key, service }) => newAttempt({ key, service })).reverse();
        const begins = [first, second].flatMap((attempts, place) =>
          attempts.map((one) => two[place]!.insertAttempt(one)),
        );
        expect(tally(await Promise.all(begins))).toEqual({ started: 60, exists: 60 });
      }
    });
  });

  describe('with an external id', () => {
    test('refuses, in a batch, only the payouts whose external id is taken', async () => {
      const [first, taken] = several(2, SAME_ORDER);
      await begunAs(fixture.journal, 'in_progress', first!);
      const responses = await Promise.all(insertAll([newPayout(), taken!, newPayout(), newPayout()]));
      expect(responses.map(({ kind }) => kind)).toEqual(['started', 'reserved', 'started', 'started']);
    });

    test.each(['new', 'reusable'])('that is %s starts one of two concurrent payouts', async (was) => {
      for (let round = 0; round < 40; round += 1) {
        const [before, ...both] = several(3, SAME_ORDER);
        if (was === 'reusable') await begunAs(fixture.journal, 'rejected', before!);
        expect(tally(await Promise.all(insertInTwo(both)))).toEqual({ started: 1, reserved: 1 });
      }
    });
  });
});

const SUCCEEDED = { outcome: 'succeeded', transactionId: 'tx-1', status: 'CHECKOUT', settledAt: 3_000 };

describeJournals('Recording an outcome', (fixture) => {
  test('makes only one of six concurrent attempts on two instances the creator of a transaction', async () => {
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

  test('applies concurrent outcomes of one attempt one after the other', async () => {
    const attempt = await begunAs(fixture.journal, 'in_progress', newAttempt());
    await Promise.all([
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.unknown),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.unknown),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.succeeded),
      fixture.journal.recordOutcome(attempt.id, OUTCOMES.rejected),
    ]);
    await expect(fixture.journal.find(attempt)).resolves.toMatchObject({ ...SUCCEEDED, recheckCount: 2 });
  });

  test('succeeds for an attempt in the same batch as one whose status cannot be stored unchanged', async () => {
    const odd = await begunAs(fixture.journal, 'in_progress', newAttempt());
    const beside = await begunAs(fixture.journal, 'in_progress', newAttempt());
    await Promise.allSettled([
      fixture.journal.recordOutcome(odd.id, { ...OUTCOMES.succeeded, status: 'A\u0000B\ud800' }),
      fixture.journal.recordOutcome(beside.id, OUTCOMES.succeeded),
    ]);
    await expect(fixture.journal.find(beside)).resolves.toMatchObject(SUCCEEDED);
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

const OPEN = ['unknown', 'in_progress'] as const;

describeJournals('A claim', (fixture) => {
  test('gets attempts of dead owners first, then those due for longest, up to the limit', async () => {
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

  test.each(OPEN)('is granted to one of 20 claimants at once, if the attempt is %s', async (outcome) => {
    const two = [fixture.journal, await fixture.open()];
    const attempt = await begunAs(fixture.journal, outcome, newAttempt());
    const claims = Array.from({ length: 20 }, (_, place) =>
      two[place % 2]!.claim(attempt.id, newClaim(attempt.service, { owner: `instance-${place}` })),
    );
    const got = (await Promise.all(claims)).filter((claimed) => claimed !== null);
    expect(got).toHaveLength(1);
    await expect(fixture.journal.find(attempt)).resolves.toEqual(got[0]);
  });

  test('gives each due attempt to one of several processes', async () => {
    const children = await Promise.all([fixture.startChild(), fixture.startChild()]);
    const attempts = several(60);
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
    for (const [absence, expected] of [
      [undefined, NO_ABSENCE],
      [OBSERVED, OBSERVED],
      [undefined, OBSERVED],
      [NO_ABSENCE, NO_ABSENCE],
    ]) {
      await fixture.journal.recordOutcome(attempt.id, { ...OUTCOMES.unknown, ...(absence && { absence }) });
      await expect(fixture.journal.find(attempt)).resolves.toMatchObject({ absence: expected });
    }
  });

  test('lets the instance that last looked the attempt up claim it before others', async () => {
    const attempt = await begunAs(fixture.journal, 'unknown', newAttempt());
    const observed = { outcome: 'unknown', nextRecheckAt: 10_000, absence: OBSERVED } as const;
    await fixture.journal.recordOutcome(attempt.id, observed);
    const claimedBy = (owner: string, now: number): Promise<Attempt[]> =>
      fixture.journal.claimDue(newClaim(attempt.service, { owner, now, leaseUntil: now - 1 }), 10);
    await expect(claimedBy('instance-3', 14_999)).resolves.toEqual([]);
    await expect(claimedBy('instance-2', 10_000)).resolves.toHaveLength(1);
    await expect(claimedBy('instance-3', 15_000)).resolves.toHaveLength(1);
  });

  test.each([
    [false, 'is unknown', {}, 'unknown'],
    [false, 'is in progress', {}, 'in_progress'],
    [true, 'has succeeded', {}, 'succeeded'],
    [true, 'was not sent', {}, 'not_sent'],
    [true, 'has another amount', { value: '10.01' }, 'unknown'],
    [true, 'has another currency', { currency: 'INR' }, 'unknown'],
    [false, 'is a payout with another amount', { kind: 'payout', value: '10.01' }, 'unknown'],
    [true, 'has another method', { method: 'upi' }, 'unknown'],
    [true, 'is on another channel', { channel: 'channel-2' }, 'unknown'],
    [true, 'is at another service', { service: 'another' }, 'unknown'],
    [true, 'has another external id', { externalId: 'another' }, 'unknown'],
  ] as const)('is proof (%s) if a similar attempt %s', async (isProof, _name, other, outcome) => {
    const kind = 'kind' in other ? other.kind : 'payment';
    const attempt = await begunAs(fixture.journal, 'unknown', newAttempt({ kind }));
    const { service, externalId } = attempt;
    await begunAs(fixture.journal, outcome, newAttempt({ service, externalId, ...other }));
    await expect(fixture.journal.hasRival(asRead(attempt))).resolves.toBe(!isProof);
  });

  test('is controlled by a lookup of the newest transaction on the channel, preferably of the same client', async () => {
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
