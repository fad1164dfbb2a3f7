import type { Journal } from '../../src/datasources/journal/journal';
import { describeJournals } from './support/fixture';
import { generateAttempts } from './support/generated';
import { begunAs, confirmedBy, newConfirm, newPayout, purgeAll } from './support/samples';

/** Purges attempts and their reservations. Returns the number of deleted rows of each step. */
const purge = async (journal: Journal, expiredBefore: number): Promise<number[]> => [
  ...(await purgeAll(journal, 'attempts', expiredBefore)),
  ...(await purgeAll(journal, 'reservations', expiredBefore)),
];

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const LEFT_OVER =
  'SELECT * FROM reserved_external_ids WHERE attempt_id NOT IN (SELECT id FROM stored_attempts)';

describeJournals('A purge of the journal', (fixture) => {
  const idsOf = async (service: string): Promise<unknown[]> =>
    (await fixture.store.rows(`SELECT id FROM attempts WHERE service = '${service}' ORDER BY seq`)).map(
      ({ id }) => id,
    );

  test('deletes the oldest attempts, with their reserved external ids, up to the limit of a step', async () => {
    await purge(fixture.journal, 1e13);
    const { service } = newPayout();
    await generateAttempts(fixture.store, { count: 25, service, settledFrom: 10_000 });
    const step = { target: 'attempts', expiredBefore: 20_000, maxExaminedCount: 10, after: null } as const;
    await expect(fixture.journal.purgeStep(step)).resolves.toMatchObject({ deletedCount: 10 });
    await expect(idsOf(service)).resolves.toHaveLength(15);
    const [oldest] = await fixture.store.rows('SELECT min(settled_at) AS settled_at FROM attempts');
    expect(Number(oldest?.['settled_at'])).toBe(10_011);
    const held = await fixture.store.rows(`SELECT 1 FROM reserved_external_ids WHERE service = '${service}'`);
    expect(held).toHaveLength(15);
    await expect(purgeAll(fixture.journal, 'attempts', 20_000, 10)).resolves.toEqual([10, 5]);
    await expect(idsOf(service)).resolves.toEqual([]);
    await expect(fixture.store.rows(LEFT_OVER)).resolves.toEqual([]);
  });

  test('deletes the oldest recorded confirms up to the limit of a step', async () => {
    await purgeAll(fixture.journal, 'confirmed', 1e13);
    const payment = newConfirm();
    const confirmed = Array.from({ length: 21 }, (_, place) =>
      confirmedBy({ ...payment, inputHash: `hash ${place}` }, { confirmedAt: 10_000 + place }),
    );
    await fixture.journal.endConfirm(payment.confirmId, { outcome: 'known', confirmedInputs: confirmed });
    await expect(purgeAll(fixture.journal, 'confirmed', 10_000)).resolves.toEqual([0]);
    await expect(purgeAll(fixture.journal, 'confirmed', 10_020, 8)).resolves.toEqual([8, 8, 4]);
    await expect(fixture.journal.confirmedInputs(payment)).resolves.toEqual(confirmed.slice(20));
  });

  test('deletes only those reserved external ids whose attempt is gone', async () => {
    const held = await begunAs(fixture.journal, 'in_progress', newPayout());
    await fixture.journal.insertAttempt(newPayout({ service: held.service, key: held.key }));
    const { service } = newPayout();
    await generateAttempts(fixture.store, { count: 250, service, settledFrom: 10_000 });
    await fixture.store.rows(`DELETE FROM stored_attempts
      WHERE group_id IN (SELECT id FROM attempt_groups WHERE service = '${service}')`);
    await expect(fixture.store.rows(LEFT_OVER)).resolves.toHaveLength(251);
    const deleted = await purge(fixture.journal, 0);
    expect(sum(deleted)).toBe(251);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(100);
    await expect(fixture.store.rows(LEFT_OVER)).resolves.toEqual([]);
    const rival = newPayout({ service: held.service, externalId: held.externalId });
    await expect(fixture.journal.insertAttempt(rival)).resolves.toEqual({ kind: 'reserved' });
  });

  test('deletes each expired attempt only once when two instances purge during creates', async () => {
    await purge(fixture.journal, 1e13);
    const { service } = newPayout();
    await generateAttempts(fixture.store, { count: 1_000, service, settledFrom: 10_000 });
    const other = await fixture.open();
    let isOver = false;
    const purges = Promise.all([purge(fixture.journal, 1e13), purge(other, 1e13)]).finally(
      () => (isOver = true),
    );
    let started = 0;
    while (!isOver) {
      const payout = newPayout({ service });
      await begunAs(fixture.journal, 'in_progress', payout);
      const rival = newPayout({ service, externalId: payout.externalId });
      await expect(fixture.journal.insertAttempt(rival)).resolves.toEqual({ kind: 'reserved' });
      started += 1;
    }
    const deleted = sum((await purges).flat()) + sum(await purge(fixture.journal, 1e13));
    expect(deleted).toBe(1_000);
    await expect(idsOf(service)).resolves.toHaveLength(started);
    await expect(fixture.store.rows(LEFT_OVER)).resolves.toEqual([]);
  });
});
