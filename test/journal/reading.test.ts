import type { Attempt, AttemptPage, NewAttempt } from '../../src/datasources/journal/journal';
import { begunAs, newAttempt, newPayout } from './support/samples';
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
      const next = await room.journal.list({ ...page, before: seen.at(-1), limit: 5 });
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
      const rest = await room.journal.list({ ...page, outcome, before: first });
      expect(ids(rest)).toEqual(expected.slice(1));
    }
  });

  test.each(['service', 'client', 'channel'] as const)('the list is of one %s alone', async (scope) => {
    const { page, attempts } = await history(1);
    const { service, client, channel } = page;
    const elsewhere = { service, client, channel, [scope]: `another ${scope}` };
    await begunAs(room.journal, 'in_progress', newAttempt(elsewhere));
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

  test('a list takes any combination of filters', async () => {
    const { service, client, channel } = newAttempt();
    const attempts: NewAttempt[] = [];
    for (let place = 0; place < 20; place += 1) {
      const startedAt = 1_000 + Math.floor(place / 4);
      const given = { service, startedAt, externalId: `order-${place % 3}` };
      const attempt = place % 2 === 0 ? newAttempt(given) : newPayout({ ...given, reserve: false });
      const end = { transactionId: `tx-${place}` };
      attempts.push(await begunAs(room.journal, OUTCOMES[place % 5]!, attempt, end));
    }
    const all = await room.journal.list({ service, client, channel, limit: 100 });
    expect(ids(all)).toEqual(ids(attempts.toReversed()));
    for (const kinds of [undefined, ['payment'], ['payout'], ['payment', 'payout']] as const)
      for (const outcome of [null, 'rejected', 'succeeded'] as const)
        for (const externalId of [null, 'order-1'])
          for (const startedFrom of [null, 1_002])
            for (const before of [null, { startedAt: 1_004, seq: 0 }, all[9]!]) {
              const filters = { kinds, outcome, externalId, startedFrom, before };
              const expected = all.filter(
                (attempt) =>
                  (kinds ?? [attempt.kind]).some((kind) => kind === attempt.kind) &&
                  [null, attempt.outcome].includes(outcome) &&
                  [null, attempt.externalId].includes(externalId) &&
                  attempt.startedAt >= (startedFrom ?? 0) &&
                  (before === null ||
                    attempt.startedAt < before.startedAt ||
                    (attempt.startedAt === before.startedAt && attempt.seq < before.seq)),
              );
              const listed = await room.journal.list({ service, client, channel, limit: 4, ...filters });
              expect({ filters, ids: ids(listed) }).toEqual({ filters, ids: ids(expected.slice(0, 4)) });
            }
  });
});
