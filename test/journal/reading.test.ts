import type { Attempt, AttemptPage, NewAttempt } from '../../src/datasources/journal/journal';
import { begunAs, newAttempt, newPayout, SETTLED } from './support/samples';
import { inBothStores } from './support/stores';

const ids = (attempts: readonly { id: string }[]): string[] => attempts.map(({ id }) => id);

const OUTCOMES = ['in_progress', 'succeeded', 'rejected', 'not_sent', 'unknown'] as const;

inBothStores((room) => {
  /** Begins attempts one after the other, one of each outcome and so on. */
  async function history(count: number): Promise<{ page: AttemptPage; attempts: NewAttempt[] }> {
    const { service, client, channel } = newAttempt();
    const attempts: NewAttempt[] = [];
    for (let place = 0; place < count; place += 1) {
      const end = { transactionId: `tx-${place}` };
      attempts.push(await begunAs(room.journal, OUTCOMES[place % 5]!, newAttempt({ service }), end));
    }
    return { page: { service, client, channel, limit: 100 }, attempts: attempts.reverse() };
  }

  test('attempts are listed newest first, a page at a time', async () => {
    const { page, attempts } = await history(12);
    const seen: Attempt[] = [];
    for (const expected of [5, 5, 2, 0]) {
      const next = await room.journal.list({ ...page, before: seen.at(-1)?.seq, limit: 5 });
      expect(next).toHaveLength(expected);
      seen.push(...next);
    }
    expect(ids(seen)).toEqual(ids(attempts));
  });

  test('the list can be of one outcome, on every page', async () => {
    const { page, attempts } = await history(15);
    for (const [place, outcome] of OUTCOMES.entries()) {
      const expected = ids(attempts.filter((_, number) => (14 - number) % 5 === place));
      await expect(room.journal.list({ ...page, outcome }).then(ids)).resolves.toEqual(expected);
      const [first] = await room.journal.list({ ...page, outcome, limit: 1 });
      const rest = await room.journal.list({ ...page, outcome, before: first?.seq });
      expect(ids(rest)).toEqual(expected.slice(1));
    }
  });

  test.each(['service', 'client', 'channel'] as const)('the list is of one %s alone', async (scope) => {
    const { page, attempts } = await history(1);
    await begunAs(room.journal, 'in_progress', newAttempt({ ...page, [scope]: `another ${scope}` }));
    await expect(room.journal.list(page).then(ids)).resolves.toEqual(ids(attempts));
  });

  test('the attempt that created a transaction is found by it', async () => {
    const attempt = newAttempt();
    const payout = newPayout({ service: attempt.service });
    for (const one of [attempt, payout]) await begunAs(room.journal, 'succeeded', one);
    const by = (service: string, kind: 'payment' | 'payout', transaction: string) =>
      room.journal.findByTransaction(service, kind, transaction);
    await expect(by(attempt.service, 'payment', 'tx-1')).resolves.toMatchObject({ id: attempt.id });
    await expect(by(attempt.service, 'payout', 'tx-1')).resolves.toMatchObject({ id: payout.id });
    await expect(by(attempt.service, 'payment', 'tx-2')).resolves.toBeNull();
    await expect(by('another service', 'payment', 'tx-1')).resolves.toBeNull();
  });

  test('the operator finds an attempt by its id, and by its key where only one client used it', async () => {
    const [own, shared] = [newAttempt(), newAttempt()];
    const other = newAttempt({ ...shared, id: newAttempt().id, client: 'another client' });
    for (const attempt of [own, shared, other]) await begunAs(room.journal, 'unknown', attempt);
    const by = async (service: string, name: string) => (await room.journal.findAny(service, name))?.id;
    await expect(by(own.service, own.id)).resolves.toBe(own.id);
    await expect(by(own.service, own.key)).resolves.toBe(own.id);
    await expect(by(shared.service, other.id)).resolves.toBe(other.id);
    await expect(by(shared.service, shared.key)).resolves.toBeUndefined();
    await expect(by('another service', own.id)).resolves.toBeUndefined();
  });

  test('the operator sees unknown outcomes of every client of a service, oldest first', async () => {
    const { page, attempts } = await history(10);
    const elsewhere = newAttempt({
      service: page.service,
      client: 'another client',
      channel: 'another channel',
    });
    await begunAs(room.journal, 'unknown', elsewhere);
    await begunAs(room.journal, 'unknown', newAttempt());
    const expected = [attempts[5]!.id, attempts[0]!.id, elsewhere.id];
    await expect(room.journal.unknown(page.service, 10).then(ids)).resolves.toEqual(expected);
    await expect(room.journal.unknown(page.service, 2).then(ids)).resolves.toEqual(expected.slice(0, 2));
  });

  test('what was settled long ago is forgotten; what is unknown or under way never', async () => {
    const { page, attempts } = await history(5);
    const lasting = await begunAs(room.journal, 'in_progress', newAttempt({ service: page.service }));
    await room.journal.settle(lasting.id, { ...SETTLED.succeeded, settledAt: 3_001 });
    await room.journal.purge(3_000);
    await expect(room.journal.list(page)).resolves.toHaveLength(6);
    await expect(room.journal.purge(3_001)).resolves.toBeGreaterThanOrEqual(3);
    const kept = await room.journal.list(page);
    expect(ids(kept)).toEqual([lasting.id, attempts[0]!.id, attempts[4]!.id]);
    await expect(room.journal.purge(3_001)).resolves.toBe(0);
  });

  test('the external id of a forgotten payout is free, that of the others is not', async () => {
    const { service } = newPayout();
    const outcomes = ['succeeded', 'unknown', 'in_progress'] as const;
    const payouts = await Promise.all(
      outcomes.map((outcome) => begunAs(room.journal, outcome, newPayout({ service }))),
    );
    await room.journal.purge(1e13);
    const again = await Promise.all(
      payouts.map(({ externalId }) => room.journal.begin(newPayout({ service, externalId }))),
    );
    expect(again.map(({ kind }) => kind)).toEqual(['started', 'reserved', 'reserved']);
  });

  test('forgetting leaves no reservation behind that nobody holds', async () => {
    const taken = await begunAs(room.journal, 'succeeded', newPayout());
    await room.journal.begin(newPayout({ service: taken.service, key: taken.key }));
    await room.journal.purge(1e13);
    const left = 'SELECT * FROM reservations WHERE attempt_id NOT IN (SELECT id FROM attempts)';
    await expect(room.place.rows(left)).resolves.toEqual([]);
  });

  test('thousands are forgotten while others go on beginning', async () => {
    const { service } = newAttempt();
    const many = Array.from({ length: 2_500 }, () => newAttempt({ service }));
    for (let from = 0; from < many.length; from += 250) {
      const some = many.slice(from, from + 250);
      await Promise.all(some.map((attempt) => begunAs(room.journal, 'rejected', attempt)));
    }
    let over = false;
    const purge = room.journal.purge(1e13).finally(() => (over = true));
    let begun = 0;
    while (!over) {
      const payout = newPayout({ service });
      await begunAs(room.journal, 'in_progress', payout);
      const rival = newPayout({ service, externalId: payout.externalId });
      await expect(room.journal.begin(rival)).resolves.toEqual({ kind: 'reserved' });
      begun += 1;
    }
    await expect(purge).resolves.toBeGreaterThanOrEqual(2_500);
    expect(begun).toBeGreaterThan(0);
    const left = await room.journal.list({ service, client: 'shop', channel: 'channel-1', limit: 5_000 });
    expect(left).toHaveLength(begun);
  });
});
