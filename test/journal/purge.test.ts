import { Batcher } from '../../src/datasources/journal/batcher';
import type { Journal, PurgeProgress, PurgeTarget } from '../../src/datasources/journal/journal';
import { generateAttempts } from './support/generated';
import { begunAs, newAttempt, newPayout, SETTLED } from './support/samples';
import { connected, inBothStores, inPostgres } from './support/stores';

const TARGETS: readonly PurgeTarget[] = ['attempts', 'reservations'];

/** Takes steps until nothing is left; returns how many rows each of them deleted. */
async function purge(journal: Journal, settledBefore: number, limit = 100): Promise<number[]> {
  const deleted: number[] = [];
  for (const target of TARGETS) {
    let progress: PurgeProgress | null = null;
    do {
      progress = await journal.purgeStep({ target, settledBefore, limit, after: progress?.after ?? null });
      deleted.push(progress?.deleted ?? 0);
    } while (progress && progress.after !== null);
  }
  return deleted;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const LEFT_OVER = 'SELECT * FROM reservations WHERE attempt_id NOT IN (SELECT id FROM attempts)';

inBothStores((room) => {
  const idsOf = async (service: string): Promise<unknown[]> =>
    (await room.place.rows(`SELECT id FROM attempts WHERE service = '${service}' ORDER BY seq`)).map(
      ({ id }) => id,
    );

  test('a purge deletes attempts settled before a time, and never one that is unknown or in progress', async () => {
    const { service } = newAttempt();
    const kept: string[] = [];
    for (const outcome of ['in_progress', 'succeeded', 'rejected', 'not_sent', 'unknown'] as const) {
      const { id } = await begunAs(room.journal, outcome, newAttempt({ service }));
      if (outcome === 'in_progress' || outcome === 'unknown') kept.push(id);
    }
    const late = await begunAs(room.journal, 'in_progress', newAttempt({ service }));
    await room.journal.settle(late.id, { ...SETTLED.succeeded, transactionId: 'tx-2', settledAt: 3_001 });
    await purge(room.journal, 3_000);
    await expect(idsOf(service)).resolves.toHaveLength(6);
    await purge(room.journal, 3_001);
    await expect(idsOf(service)).resolves.toEqual([...kept, late.id]);
    await purge(room.journal, 3_002);
    await expect(idsOf(service)).resolves.toEqual(kept);
  });

  test('a step deletes the oldest attempts up to its limit, and their reservations with them', async () => {
    await purge(room.journal, 1e13);
    const { service } = newPayout();
    await generateAttempts(room.place, { count: 25, service, settledFrom: 10_000, reserve: true });
    const step = { target: 'attempts', settledBefore: 20_000, limit: 10 } as const;
    const first = await room.journal.purgeStep({ ...step, after: null });
    expect(first).toMatchObject({ deleted: 10 });
    const expected = Array.from({ length: 15 }, (_, place) => `${service} id ${place + 11}`);
    await expect(idsOf(service)).resolves.toEqual(expected);
    const held = await room.place.rows(`SELECT 1 FROM reservations WHERE service = '${service}'`);
    expect(held).toHaveLength(15);
    const second = await room.journal.purgeStep({ ...step, after: first!.after });
    expect(second).toMatchObject({ deleted: 10 });
    const third = await room.journal.purgeStep({ ...step, after: second!.after });
    expect(third).toEqual({ deleted: 5, after: null });
    await expect(idsOf(service)).resolves.toEqual([]);
    await expect(room.place.rows(LEFT_OVER)).resolves.toEqual([]);
  });

  test('the external id of a purged payout is free, that of the others is not', async () => {
    const { service } = newPayout();
    const outcomes = ['succeeded', 'unknown', 'in_progress'] as const;
    const payouts = await Promise.all(
      outcomes.map((outcome) => begunAs(room.journal, outcome, newPayout({ service }))),
    );
    await purge(room.journal, 1e13);
    const again = await Promise.all(
      payouts.map(({ externalId }) => room.journal.begin(newPayout({ service, externalId }))),
    );
    expect(again.map(({ kind }) => kind)).toEqual(['started', 'reserved', 'reserved']);
  });

  test('a reservation that a newer attempt has taken over is kept when the older attempt is purged', async () => {
    const rejected = await begunAs(room.journal, 'rejected', newPayout());
    const { service, externalId } = rejected;
    await begunAs(room.journal, 'in_progress', newPayout({ service, externalId }));
    await purge(room.journal, 1e13);
    await expect(room.journal.begin(newPayout({ service, externalId }))).resolves.toEqual({
      kind: 'reserved',
    });
  });

  test('a purge deletes reservations whose attempt is gone, and no others', async () => {
    const held = await begunAs(room.journal, 'in_progress', newPayout());
    await room.journal.begin(newPayout({ service: held.service, key: held.key }));
    const { service } = newPayout();
    await generateAttempts(room.place, { count: 250, service, settledFrom: 10_000, reserve: true });
    await room.place.rows(`DELETE FROM attempts WHERE service = '${service}'`);
    await expect(room.place.rows(LEFT_OVER)).resolves.toHaveLength(251);
    const deleted = await purge(room.journal, 0, 100);
    expect(sum(deleted)).toBe(251);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(100);
    await expect(room.place.rows(LEFT_OVER)).resolves.toEqual([]);
    const rival = newPayout({ service: held.service, externalId: held.externalId });
    await expect(room.journal.begin(rival)).resolves.toEqual({ kind: 'reserved' });
  });

  test('two instances that purge at once delete each attempt once, while creates go on', async () => {
    await purge(room.journal, 1e13);
    const { service } = newPayout();
    await generateAttempts(room.place, { count: 2_000, service, settledFrom: 10_000, reserve: true });
    const other = await room.another();
    let isOver = false;
    const purges = Promise.all([purge(room.journal, 1e13), purge(other, 1e13)]).finally(
      () => (isOver = true),
    );
    let begun = 0;
    while (!isOver) {
      const payout = newPayout({ service });
      await begunAs(room.journal, 'in_progress', payout);
      const rival = newPayout({ service, externalId: payout.externalId });
      await expect(room.journal.begin(rival)).resolves.toEqual({ kind: 'reserved' });
      begun += 1;
    }
    const deleted = sum((await purges).flat()) + sum(await purge(room.journal, 1e13));
    expect(deleted).toBe(2_000);
    await expect(idsOf(service)).resolves.toHaveLength(begun);
    await expect(room.place.rows(LEFT_OVER)).resolves.toEqual([]);
  });
});

inPostgres((room) => {
  const step = { target: 'attempts', settledBefore: 1e13, limit: 10, after: null } as const;

  test('a step does nothing while another instance purges', async () => {
    const { id } = await begunAs(room.journal, 'succeeded', newAttempt());
    await connected(room.place.url, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT pg_advisory_xact_lock(7215045)');
      for (const target of TARGETS)
        await expect(room.journal.purgeStep({ ...step, target })).resolves.toBeNull();
    });
    await expect(room.place.rows(`SELECT 1 FROM attempts WHERE id = '${id}'`)).resolves.toHaveLength(1);
    await expect(room.journal.purgeStep(step)).resolves.toEqual({ deleted: 1, after: null });
  });

  test('a step leaves rows that somebody holds to a later one', async () => {
    const held = await begunAs(room.journal, 'succeeded', newPayout());
    await begunAs(room.journal, 'succeeded', newPayout());
    for (const table of ['attempts', 'reservations']) {
      const column = table === 'attempts' ? 'id' : 'attempt_id';
      await connected(room.place.url, async (client) => {
        await client.query('BEGIN');
        await client.query(`SELECT 1 FROM ${table} WHERE ${column} = $1 FOR UPDATE`, [held.id]);
        await expect(room.journal.purgeStep(step)).resolves.toEqual({ deleted: 1, after: null });
      });
    }
    await expect(room.place.rows(LEFT_OVER)).resolves.toHaveLength(1);
    expect(sum(await purge(room.journal, 1e13))).toBe(1);
    await expect(room.place.rows(LEFT_OVER)).resolves.toEqual([]);
  });
});

describe('a batcher', () => {
  test('writes what has low priority alone, and only when nothing else is waiting', async () => {
    const batches: string[][] = [];
    const batcher = new Batcher<string, null>({
      flush: async (ops) => {
        batches.push([...ops]);
        return ops.map(() => null);
      },
      maxBatch: 2,
      concurrency: 1,
      deadlineMs: 60_000,
    });
    const added = [batcher.add('purge 1', 'low'), batcher.add('purge 2', 'low')];
    added.push(...['create 1', 'create 2', 'create 3'].map((op) => batcher.add(op)));
    await Promise.all(added);
    expect(batches).toEqual([['create 1', 'create 2'], ['create 3'], ['purge 1'], ['purge 2']]);
  });
});
