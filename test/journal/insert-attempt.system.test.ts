import type { BeginResult, Journal, NewAttempt } from '../../src/datasources/journal/journal';
import { describeJournals, type JournalChild } from './support/fixture';
import { asBegun, begunAs, FREEING, HOLDING, newAttempt, newPayout, tally } from './support/samples';

const sameKey = (count: number, given: Partial<NewAttempt> = {}): NewAttempt[] => {
  const { service, key } = newAttempt();
  return Array.from({ length: count }, () => newAttempt({ service, key, ...given }));
};

const ONE_OF_200 = { started: 1, exists: 199 };
/** Expects every `exists` result to name the attempt that was started. */
function expectOneWinner(attempts: NewAttempt[], responses: BeginResult[]): void {
  const winner = attempts[responses.findIndex(({ kind }) => kind === 'started')];
  for (const response of responses)
    if (response.kind === 'exists') expect(response.attempt.id).toBe(winner?.id);
}

const RESERVED = { kind: 'reserved' };

const rivals = (count: number): NewAttempt[] => {
  const { service, externalId } = newPayout();
  return Array.from({ length: count }, () => newPayout({ service, externalId }));
};

describeJournals('Inserting an attempt', (fixture) => {
  let two: Journal[];
  let children: JournalChild[];

  beforeAll(async () => {
    two = [fixture.journal, await fixture.open()];
    children = await Promise.all([fixture.startChild(), fixture.startChild()]);
  });

  const beginInChild = async (place: number, attempt: NewAttempt): Promise<BeginResult> =>
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

    test.each(HOLDING)('refuses further attempts under a key whose attempt is %s', async (outcome) => {
      const first = await begunAs(fixture.journal, outcome, newAttempt());
      const second = newPayout({ service: first.service, key: first.key, fingerprint: 'f2' });
      const attempt = await fixture.journal.find(first);
      expect(attempt).toMatchObject({ id: first.id, kind: 'payment', fingerprint: 'f1', outcome });
      await expect(fixture.journal.insertAttempt(second)).resolves.toEqual({ kind: 'exists', attempt });
      await expect(fixture.journal.find(first)).resolves.toEqual(attempt);
    });

    test.each(FREEING)('accepts the key again, for any operation, if its attempt was %s', async (outcome) => {
      const first = await begunAs(fixture.journal, outcome, newAttempt());
      const { service, key } = first;
      const second = newPayout({ service, key, fingerprint: 'f2', value: '7.5', startedAt: 9_000 });
      await begunAs(fixture.journal, 'in_progress', second);
      await expect(fixture.journal.find(first)).resolves.toMatchObject(asBegun(second));
    });

    test('makes an attempt under a reused key the newest in lists', async () => {
      const freed = await begunAs(fixture.journal, 'rejected', newAttempt());
      const { service } = freed;
      const between = await begunAs(fixture.journal, 'in_progress', newAttempt({ service }));
      const again = await begunAs(fixture.journal, 'in_progress', newAttempt({ service, key: freed.key }));
      const later = await begunAs(fixture.journal, 'in_progress', newAttempt({ service }));
      const page = await fixture.journal.list({ service, client: 'shop', channel: 'channel-1', limit: 9 });
      expect(page.map(({ id }) => id)).toEqual([later.id, again.id, between.id]);
    });

    test.each(['client', 'service'] as const)('keeps the same key of another %s separate', async (scope) => {
      const first = await begunAs(fixture.journal, 'in_progress', newAttempt());
      const { id: _, ...other } = { ...first, [scope]: `another ${scope}` };
      const second = newAttempt(other);
      await begunAs(fixture.journal, 'in_progress', second);
      await expect(fixture.journal.find(first)).resolves.toMatchObject({ id: first.id });
      await expect(fixture.journal.find(second)).resolves.toMatchObject({ id: second.id });
    });

    test('does not confuse client and key, whatever characters they contain', async () => {
      const service = newAttempt().service;
      await begunAs(fixture.journal, 'in_progress', newAttempt({ service, client: 'a', key: 'b","c' }));
      await begunAs(fixture.journal, 'in_progress', newAttempt({ service, client: 'a","b', key: 'c' }));
    });

    test.each<[where: string, begin: (attempts: NewAttempt[]) => Promise<BeginResult>[]]>([
      ['one journal', (attempts) => attempts.map((each) => fixture.journal.insertAttempt(each))],
      ['two journals', (attempts) => attempts.map((each, place) => two[place % 2]!.insertAttempt(each))],
      ['two processes', (attempts) => attempts.map((each, place) => beginInChild(place % 2, each))],
    ])('starts only one of 200 concurrent payments or payouts under one key in %s', async (_where, begin) => {
      const payouts = sameKey(200, { kind: 'payout', reserve: true, externalId: 'order-1' });
      for (const attempts of [sameKey(200), payouts]) {
        const responses = await Promise.all(begin(attempts));
        expect(tally(responses)).toEqual(ONE_OF_200);
        expectOneWinner(attempts, responses);
      }
    });

    test.each([2, 100])(
      'starts only one of %i concurrent attempts of two instances under one reusable key',
      async (count) => {
        for (let round = 0; round < 120 / count; round += 1) {
          const freed = await begunAs(fixture.journal, 'not_sent', newAttempt());
          const { service, key } = freed;
          const attempts = Array.from({ length: count }, () => newAttempt({ service, key }));
          const responses = await Promise.all(
            attempts.map((attempt, place) => two[place % 2]!.insertAttempt(attempt)),
          );
          expect(tally(responses)).toEqual({ started: 1, exists: count - 1 });
          expectOneWinner(attempts, responses);
        }
      },
    );

    test('leaves the key free if the attempt is refused because its external id is reserved', async () => {
      const { service, externalId } = await begunAs(fixture.journal, 'in_progress', newPayout());
      const refused = newPayout({ service, externalId });
      const other = newAttempt({ service, key: refused.key });
      const responses = await Promise.all(
        [refused, other].map((attempt) => fixture.journal.insertAttempt(attempt)),
      );
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
    test.each(HOLDING)('refuses another payout with the external id of one that is %s', async (outcome) => {
      const [first, second] = rivals(2) as [NewAttempt, NewAttempt];
      await begunAs(fixture.journal, outcome, first);
      await expect(fixture.journal.insertAttempt(second)).resolves.toEqual(RESERVED);
      await expect(fixture.journal.find(second)).resolves.toBeNull();
      await expect(fixture.journal.find(first)).resolves.toMatchObject({ id: first.id, outcome });
    });

    test.each(FREEING)('starts a payout with the external id of one that was %s', async (outcome) => {
      const [first, second, third] = rivals(3) as [NewAttempt, NewAttempt, NewAttempt];
      await begunAs(fixture.journal, outcome, first);
      await begunAs(fixture.journal, 'in_progress', second);
      await expect(fixture.journal.insertAttempt(third)).resolves.toEqual(RESERVED);
    });

    test('decides on each payout of a batch by its own external id', async () => {
      const taken = rivals(2) as [NewAttempt, NewAttempt];
      await begunAs(fixture.journal, 'in_progress', taken[0]);
      const batch = [newPayout(), taken[1], newPayout(), newPayout()];
      const responses = await Promise.all(batch.map((attempt) => fixture.journal.insertAttempt(attempt)));
      expect(responses.map(({ kind }) => kind)).toEqual(['started', 'reserved', 'started', 'started']);
    });

    test('refuses to reuse a key if another payout now has its external id', async () => {
      const [first, second] = rivals(2) as [NewAttempt, NewAttempt];
      await begunAs(fixture.journal, 'rejected', first);
      await begunAs(fixture.journal, 'succeeded', second);
      const again = newPayout({ ...first, id: newPayout().id });
      await expect(fixture.journal.insertAttempt(again)).resolves.toEqual(RESERVED);
      await expect(fixture.journal.find(first)).resolves.toMatchObject({ id: first.id, outcome: 'rejected' });
    });

    test('does not reserve the external id of a payout that is refused because of its key', async () => {
      const first = await begunAs(fixture.journal, 'in_progress', newPayout());
      const conflicting = newPayout({ service: first.service, key: first.key });
      await expect(fixture.journal.insertAttempt(conflicting)).resolves.toMatchObject({ kind: 'exists' });
      const { service, externalId } = conflicting;
      await begunAs(fixture.journal, 'in_progress', newPayout({ service, externalId }));
    });

    test('no longer reserves the old external id of a key that is reused with a new one', async () => {
      const first = await begunAs(fixture.journal, 'rejected', newPayout());
      const { service, key, externalId } = first;
      await begunAs(fixture.journal, 'in_progress', newPayout({ service, key }));
      await begunAs(fixture.journal, 'in_progress', newPayout({ service, externalId }));
    });

    test.each(['service', 'channel'] as const)(
      'treats the same external id of another %s as a different one',
      async (scope) => {
        const first = await begunAs(fixture.journal, 'succeeded', newPayout());
        const other = { id: newPayout().id, key: 'k2', [scope]: `other ${scope}` };
        const elsewhere = newPayout({ ...first, ...other });
        await begunAs(fixture.journal, 'in_progress', elsewhere);
      },
    );

    test('does not reserve the external ids of payments, because order numbers are reused', async () => {
      const first = await begunAs(fixture.journal, 'succeeded', newAttempt());
      const { service, externalId } = first;
      await begunAs(fixture.journal, 'in_progress', newAttempt({ service, externalId }));
      await begunAs(fixture.journal, 'in_progress', newPayout({ service, externalId }));
    });

    test.each(['new', 'reusable'])(
      'starts only one of two concurrent payouts in two journals with a %s external id',
      async (was) => {
        for (let round = 0; round < 40; round += 1) {
          const [before, ...both] = rivals(3);
          if (was === 'reusable') await begunAs(fixture.journal, 'rejected', before!);
          const responses = await Promise.all(
            both.map((attempt, place) => two[place]!.insertAttempt(attempt)),
          );
          expect(tally(responses)).toEqual({ started: 1, reserved: 1 });
        }
      },
    );
  });
});
