import type { NewAttempt } from '../../src/datasources/journal/journal';
import { asBegun, begunAs, FREEING, HOLDING, newAttempt, newPayout, tally } from './support/samples';
import { inBothStores } from './support/stores';

/** As many attempts under one key. */
const sameKey = (count: number, given: Partial<NewAttempt> = {}): NewAttempt[] => {
  const { service, key } = newAttempt();
  return Array.from({ length: count }, () => newAttempt({ service, key, ...given }));
};

const ONE_OF_200 = { started: 1, exists: 199 };

inBothStores((room) => {
  test('an attempt under a new key is started, and is kept as it was given', async () => {
    const attempt = newAttempt({ key: 'a "key" of \\ ünusual 文字 🔑 %_', shown: '{"name":"O\'Neil"}' });
    await expect(room.journal.begin(attempt)).resolves.toEqual({ kind: 'started' });
    const seq: unknown = expect.any(Number);
    await expect(room.journal.find(attempt)).resolves.toEqual({ ...asBegun(attempt), seq });
  });

  test('a key of which nothing is known finds nothing', async () => {
    await expect(room.journal.find(newAttempt())).resolves.toBeNull();
  });

  test.each(HOLDING)('a key whose attempt is %s is taken, whatever comes under it', async (outcome) => {
    const first = await begunAs(room.journal, outcome, newAttempt());
    const second = newPayout({ service: first.service, key: first.key, fingerprint: 'f2' });
    const attempt = await room.journal.find(first);
    expect(attempt).toMatchObject({ id: first.id, kind: 'payment', fingerprint: 'f1', outcome });
    await expect(room.journal.begin(second)).resolves.toEqual({ kind: 'exists', attempt });
    await expect(room.journal.find(first)).resolves.toEqual(attempt);
  });

  test.each(FREEING)('a key whose attempt was %s is free, also for another operation', async (outcome) => {
    const first = await begunAs(room.journal, outcome, newAttempt());
    const { service, key } = first;
    const second = newPayout({ service, key, fingerprint: 'f2', value: '7.5', startedAt: 9_000 });
    await begunAs(room.journal, 'in_progress', second);
    await expect(room.journal.find(first)).resolves.toMatchObject(asBegun(second));
  });

  test('an attempt under a freed key is the newest', async () => {
    const freed = await begunAs(room.journal, 'rejected', newAttempt());
    const { service } = freed;
    const between = await begunAs(room.journal, 'in_progress', newAttempt({ service }));
    const again = await begunAs(room.journal, 'in_progress', newAttempt({ service, key: freed.key }));
    const later = await begunAs(room.journal, 'in_progress', newAttempt({ service }));
    const page = await room.journal.list({ service, client: 'shop', channel: 'channel-1', limit: 9 });
    expect(page.map(({ id }) => id)).toEqual([later.id, again.id, between.id]);
  });

  test.each(['client', 'service'] as const)('the same key of another %s is another key', async (scope) => {
    const first = await begunAs(room.journal, 'in_progress', newAttempt());
    const second = newAttempt({ ...first, id: newAttempt().id, [scope]: `another ${scope}` });
    await begunAs(room.journal, 'in_progress', second);
    await expect(room.journal.find(first)).resolves.toMatchObject({ id: first.id });
    await expect(room.journal.find(second)).resolves.toMatchObject({ id: second.id });
  });

  test('parts of a key are not confused with each other', async () => {
    const service = newAttempt().service;
    await begunAs(room.journal, 'in_progress', newAttempt({ service, client: 'a', key: 'b","c' }));
    await begunAs(room.journal, 'in_progress', newAttempt({ service, client: 'a","b', key: 'c' }));
  });

  test('of 200 attempts under one key at once, one is started', async () => {
    const attempts = sameKey(200);
    const answers = await Promise.all(attempts.map((attempt) => room.journal.begin(attempt)));
    expect(tally(answers)).toEqual(ONE_OF_200);
    const found = await room.journal.find(attempts[0]!);
    expect(found?.id).toBe(attempts[answers.findIndex(({ kind }) => kind === 'started')]?.id);
    for (const answer of answers) if (answer.kind === 'exists') expect(answer.attempt).toEqual(found);
  });

  test('of 200 payouts under one key and one external id at once, one is started', async () => {
    const attempts = sameKey(200, { kind: 'payout', reserve: true, externalId: 'order-1' });
    const answers = await Promise.all(attempts.map((attempt) => room.journal.begin(attempt)));
    expect(tally(answers)).toEqual(ONE_OF_200);
  });

  test('of 200 attempts at once under one key in two journals, one is started', async () => {
    const two = [room.journal, await room.another()];
    const answers = sameKey(200).map((attempt, place) => two[place % 2]!.begin(attempt));
    expect(tally(await Promise.all(answers))).toEqual(ONE_OF_200);
  });

  test.each([2, 200])(
    'of %i attempts at once under one freed key in two journals, one is started',
    async (count) => {
      const two = [room.journal, await room.another()];
      for (let round = 0; round < 1_000 / count; round += 1) {
        const freed = await begunAs(room.journal, 'not_sent', newAttempt());
        const { service, key } = freed;
        const attempts = Array.from({ length: count }, () => newAttempt({ service, key }));
        const answers = await Promise.all(attempts.map((attempt, place) => two[place % 2]!.begin(attempt)));
        expect(tally(answers)).toEqual({ started: 1, exists: count - 1 });
        const winner = attempts[answers.findIndex(({ kind }) => kind === 'started')];
        for (const answer of answers)
          if (answer.kind === 'exists') expect(answer.attempt.id).toBe(winner?.id);
      }
    },
  );

  test('an attempt that is refused for its external id does not refuse another under the same key', async () => {
    const { service, externalId } = await begunAs(room.journal, 'in_progress', newPayout());
    const refused = newPayout({ service, externalId });
    const other = newAttempt({ service, key: refused.key });
    const answers = await Promise.all([refused, other].map((attempt) => room.journal.begin(attempt)));
    expect(answers).toEqual([{ kind: 'reserved' }, { kind: 'started' }]);
  });

  test('an attempt with an id that was used before is refused, and those after it are not', async () => {
    const first = await begunAs(room.journal, 'in_progress', newAttempt());
    const second = room.journal.begin(newAttempt({ id: first.id }));
    await expect(second).rejects.toMatchObject({ name: 'JournalUnavailable' });
    await begunAs(room.journal, 'succeeded', newAttempt());
  });

  test('of 200 attempts at once under one key in two processes, one is started', async () => {
    const two = await Promise.all([room.process(), room.process()]);
    const attempts = sameKey(200);
    const halves = [attempts.slice(0, 100), attempts.slice(100)];
    const answers = await Promise.all(two.map((other, place) => other.begin(halves[place]!)));
    expect(tally(answers.flat())).toEqual(ONE_OF_200);
  });

  test('two journals that begin the same keys in opposite order do not stop each other', async () => {
    const two = [room.journal, await room.another()];
    for (let round = 0; round < 10; round += 1) {
      const first = Array.from({ length: 60 }, () => newAttempt({ service: 'crosswise' }));
      const second = first.map(({ key, service }) => newAttempt({ key, service })).reverse();
      const begins = [first, second].flatMap((attempts, place) =>
        attempts.map((one) => two[place]!.begin(one)),
      );
      expect(tally(await Promise.all(begins))).toEqual({ started: 60, exists: 60 });
    }
  });
});
