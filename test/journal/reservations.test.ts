import type { NewAttempt } from '../../src/datasources/journal/journal';
import { begunAs, FREEING, HOLDING, newAttempt, newPayout, tally } from './support/samples';
import { inBothStores } from './support/stores';

const RESERVED = { kind: 'reserved' };

/** Payouts under keys of their own, all with one external id. */
const rivals = (count: number): NewAttempt[] => {
  const { service, externalId } = newPayout();
  return Array.from({ length: count }, () => newPayout({ service, externalId }));
};

inBothStores((room) => {
  test.each(HOLDING)('the external id of a payout that is %s is not given to another', async (outcome) => {
    const [first, second] = rivals(2) as [NewAttempt, NewAttempt];
    await begunAs(room.journal, outcome, first);
    await expect(room.journal.begin(second)).resolves.toEqual(RESERVED);
    await expect(room.journal.find(second)).resolves.toBeNull();
    await expect(room.journal.find(first)).resolves.toMatchObject({ id: first.id, outcome });
  });

  test.each(FREEING)('the external id of a payout that was %s is free', async (outcome) => {
    const [first, second, third] = rivals(3) as [NewAttempt, NewAttempt, NewAttempt];
    await begunAs(room.journal, outcome, first);
    await begunAs(room.journal, 'in_progress', second);
    await expect(room.journal.begin(third)).resolves.toEqual(RESERVED);
  });

  test('a payout that was refused for its external id leaves its key free', async () => {
    const [first, second] = rivals(2) as [NewAttempt, NewAttempt];
    await begunAs(room.journal, 'in_progress', first);
    await room.journal.begin(second);
    await begunAs(room.journal, 'in_progress', newPayout({ service: second.service, key: second.key }));
  });

  test('a freed key does not open an external id that another payout has taken since', async () => {
    const [first, second] = rivals(2) as [NewAttempt, NewAttempt];
    await begunAs(room.journal, 'rejected', first);
    await begunAs(room.journal, 'succeeded', second);
    const again = newPayout({ ...first, id: newPayout().id });
    await expect(room.journal.begin(again)).resolves.toEqual(RESERVED);
    await expect(room.journal.find(first)).resolves.toMatchObject({ id: first.id, outcome: 'rejected' });
  });

  test('a payout under a taken key does not take its external id along', async () => {
    const first = await begunAs(room.journal, 'in_progress', newPayout());
    const conflicting = newPayout({ service: first.service, key: first.key });
    await expect(room.journal.begin(conflicting)).resolves.toMatchObject({ kind: 'exists' });
    const { service, externalId } = conflicting;
    await begunAs(room.journal, 'in_progress', newPayout({ service, externalId }));
  });

  test('a key that goes from one external id to another frees the first', async () => {
    const first = await begunAs(room.journal, 'rejected', newPayout());
    const { service, key, externalId } = first;
    await begunAs(room.journal, 'in_progress', newPayout({ service, key }));
    await begunAs(room.journal, 'in_progress', newPayout({ service, externalId }));
  });

  test.each(['service', 'channel'] as const)('another %s has external ids of its own', async (scope) => {
    const first = await begunAs(room.journal, 'succeeded', newPayout());
    const elsewhere = newPayout({
      ...first,
      ...{ id: newPayout().id, key: 'k2' },
      [scope]: `other ${scope}`,
    });
    await begunAs(room.journal, 'in_progress', elsewhere);
  });

  test('payments may share an external id: order numbers are reused', async () => {
    const first = await begunAs(room.journal, 'succeeded', newAttempt());
    const { service, externalId } = first;
    await begunAs(room.journal, 'in_progress', newAttempt({ service, externalId }));
    await begunAs(room.journal, 'in_progress', newPayout({ service, externalId }));
  });

  test('of many payouts at once under different keys, one gets the external id', async () => {
    const answers = await Promise.all(rivals(30).map((attempt) => room.journal.begin(attempt)));
    expect(tally(answers)).toEqual({ started: 1, reserved: 29 });
  });

  test.each(['new', 'freed'])(
    'of two payouts at once in two journals, one gets a %s external id',
    async (was) => {
      const two = [room.journal, await room.another()];
      for (let round = 0; round < 100; round += 1) {
        const [before, ...both] = rivals(3);
        if (was === 'freed') await begunAs(room.journal, 'rejected', before!);
        const answers = await Promise.all(both.map((attempt, place) => two[place]!.begin(attempt)));
        expect(tally(answers)).toEqual({ started: 1, reserved: 1 });
      }
    },
  );

  test('of payouts at once in two processes, one gets the external id', async () => {
    const two = await Promise.all([room.process(), room.process()]);
    for (let round = 0; round < 20; round += 1) {
      const attempts = rivals(10);
      const halves = [attempts.slice(0, 5), attempts.slice(5)];
      const answers = await Promise.all(two.map((other, place) => other.begin(halves[place]!)));
      expect(tally(answers.flat())).toEqual({ started: 1, reserved: 9 });
    }
  });
});
