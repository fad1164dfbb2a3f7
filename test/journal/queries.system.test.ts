import { randomUUID } from 'node:crypto';
import {
  attemptsByStartStatement,
  type AttemptsByStartQuery,
} from '../../src/datasources/journal/attempts-by-start';
import { listAttemptsStatement } from '../../src/datasources/journal/attempt-list';
import type {
  AttemptQuery,
  CreatorAndKind,
  NewAttempt,
  TransactionRef,
} from '../../src/datasources/journal/journal';
import {
  BEFORE_FIRST_RESERVATION,
  PURGE_EXPIRED_ATTEMPTS,
  PURGE_RESERVATIONS,
} from '../../src/datasources/journal/postgres/purge';
import { FROM_EXPIRED_ATTEMPTS_CLAUSE } from '../../src/datasources/journal/sqlite/purge';
import { until } from '../support/latch';
import {
  describeJournals,
  describePostgresJournal,
  describeSqliteJournal,
  type JournalFixture,
} from './support/fixture';
import { generateAttempts, rowsRead } from './support/generated';
import { begunAs, newAttempt, newPayout } from './support/samples';

const ids = (attempts: readonly { id: string }[]): string[] => attempts.map(({ id }) => id);

const OUTCOMES = ['in_progress', 'succeeded', 'rejected', 'not_sent', 'unknown'] as const;

describeJournals('The journal', (fixture) => {
  test('returns keys, ids and details unchanged, whatever their length and characters', async () => {
    const { service } = newAttempt();
    const texts = Array.from({ length: 40 }, (_, place) => 'key-ÄöÜ€'.repeat(8).slice(0, place + 1));
    const quoted = 'a "key" of \\ ünusual 文字 🔑 %_';
    for (const text of [...texts, quoted, randomUUID(), randomUUID().toUpperCase()]) {
      const publicDetails = JSON.stringify({ name: `O'${text}` });
      const attempt = newAttempt({ service, key: text, externalId: text, publicDetails });
      await begunAs(fixture.journal, 'succeeded', attempt, { transactionId: text });
      const expected = { id: attempt.id, key: text, externalId: text, transactionId: text, publicDetails };
      const found = [
        fixture.journal.find(attempt),
        fixture.journal.findByTransaction(service, 'payment', text),
      ];
      expect(await Promise.all(found)).toMatchObject([expected, expected]);
    }
  });

  test('finds an attempt by its id, and by its key if only one client has used the key', async () => {
    const [own, shared] = [newAttempt(), newAttempt()];
    const other = newAttempt({ service: shared.service, key: shared.key, client: 'another client' });
    for (const attempt of [own, shared, other]) await begunAs(fixture.journal, 'unknown', attempt);
    const by = async (service: string, name: string) => (await fixture.journal.findAny(service, name))?.id;
    await expect(by(own.service, own.id)).resolves.toBe(own.id);
    await expect(by(own.service, own.key)).resolves.toBe(own.id);
    await expect(by(shared.service, other.id)).resolves.toBe(other.id);
    await expect(by(shared.service, shared.key)).resolves.toBeUndefined();
    await expect(by('another service', own.id)).resolves.toBeUndefined();
  });

  test('lists attempts newest first, page by page, with any combination of filters', async () => {
    const { service, client, channel } = newAttempt();
    const attempts: NewAttempt[] = [];
    for (let place = 0; place < 20; place += 1) {
      const startedAt = 1_000 + Math.floor(place / 4);
      const given = { service, startedAt, externalId: `order-${place % 3}` };
      const attempt =
        place % 2 === 0 ? newAttempt(given) : newPayout({ ...given, reservesExternalId: false });
      const end = { transactionId: `tx-${place}` };
      attempts.push(await begunAs(fixture.journal, OUTCOMES[place % 5]!, attempt, end));
    }
    const all = await fixture.journal.list({ service, client, channel, limit: 100 });
    expect(ids(all)).toEqual(ids(attempts.toReversed()));
    for (const kinds of [undefined, ['payment'], ['payout'], ['payment', 'payout']] as const)
      for (const outcome of [null, 'rejected', 'succeeded'] as const)
        for (const externalId of [null, 'order-1'])
          for (const startedFrom of [null, 1_002])
            for (const before of [null, { startedAt: 1_004, seq: 0 }, all[9]!]) {
              const filters = { kinds, outcome, externalId, startedFrom, beforePosition: before };
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
              const listed = await fixture.journal.list({ service, client, channel, limit: 4, ...filters });
              expect({ filters, ids: ids(listed) }).toEqual({ filters, ids: ids(expected.slice(0, 4)) });
            }
  });

  test('refuses lists beyond the queue limit, but accepts creates meanwhile', async () => {
    const { service, client, channel } = await begunAs(fixture.journal, 'succeeded', newAttempt());
    const page = { service, client, channel, limit: 10 };
    const lists = Array.from({ length: 50 }, () => fixture.journal.list(page));
    const started = fixture.journal.insertAttempt(newAttempt());
    const refused = (await Promise.allSettled(lists)).filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const one of refused) expect(one).toMatchObject({ reason: { name: 'JournalBusy' } });
    await expect(started).resolves.toEqual({ kind: 'started' });
    await expect(fixture.journal.list(page)).resolves.toHaveLength(1);
  });
});

describePostgresJournal('Database connections for lists', (fixture) => {
  test('are limited to two, so that other calls continue while lists are blocked', async () => {
    const { service, client, channel } = await begunAs(fixture.journal, 'succeeded', newAttempt());
    const release = await fixture.store.hold();
    const page = { service, client, channel, limit: 10 };
    const lists = Array.from({ length: 10 }, () => fixture.journal.list(page));
    const blocked = () =>
      fixture.store.rows(
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      );
    await until(blocked, ({ length }) => length === 2);
    await fixture.journal.time();
    await expect(blocked()).resolves.toHaveLength(2);
    await release();
    for (const found of await Promise.all(lists)) expect(found).toHaveLength(1);
  });
});

describeSqliteJournal('Database connections for lists', (fixture) => {
  test('serve a list while a create waits for the file lock', async () => {
    const { service, client, channel } = await begunAs(fixture.journal, 'succeeded', newAttempt());
    const release = await fixture.store.hold();
    let isBegun = false;
    const started = fixture.journal.insertAttempt(newAttempt()).finally(() => (isBegun = true));
    // After two turns of the event loop the create is first in the queue.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const page = { service, client, channel, limit: 10 };
    await expect(fixture.journal.list(page)).resolves.toHaveLength(1);
    expect(isBegun).toBe(false);
    await release();
    await expect(started).resolves.toEqual({ kind: 'started' });
  });
});

describeJournals('The search for transactions that a client created', (fixture) => {
  const someone = (): CreatorAndKind & { channel: string } => ({
    service: randomUUID(),
    client: 'user-1',
    kind: 'payment',
    channel: 'channel-1',
  });

  async function created(by: Partial<NewAttempt>): Promise<NewAttempt & { transactionId: string }> {
    const transactionId = randomUUID();
    const attempt = await begunAs(fixture.journal, 'succeeded', newAttempt(by), { transactionId });
    return { ...attempt, transactionId };
  }

  const idsFound = async (creator: CreatorAndKind, refs: TransactionRef[]): Promise<(string | null)[]> =>
    (await fixture.journal.findCreated(creator, refs)).map((attempt) => attempt?.id ?? null);

  test('finds them by exact transaction id, external id or both, and keeps the requested order', async () => {
    const own = someone();
    const { channel } = own;
    const [a, b] = [await created({ ...own, externalId: 'caf\u00e9' }), await created(own)];
    const refs = [
      { channel, transactionId: b.transactionId },
      { channel, transactionId: randomUUID() },
      { channel, externalId: a.externalId },
      { channel, externalId: 'cafe\u0301' },
      { channel, externalId: 'Caf\u00e9' },
      { channel, transactionId: a.transactionId, externalId: a.externalId },
      { channel, transactionId: a.transactionId, externalId: b.externalId },
      { channel, transactionId: b.transactionId },
    ];
    await expect(idsFound(own, refs)).resolves.toEqual([b.id, null, a.id, null, null, a.id, null, b.id]);
    await expect(idsFound(own, [])).resolves.toEqual([]);
  });

  test.each(['service', 'client', 'kind', 'channel'] as const)('skips those of another %s', async (name) => {
    const own = someone();
    const { channel, transactionId, externalId } = await created(own);
    const other = { ...own, [name]: name === 'kind' ? 'payout' : 'another' } as typeof own;
    const where = name === 'channel' ? other.channel : channel;
    const refs = [{ transactionId }, { externalId }, { transactionId, externalId }];
    const request = refs.map((ref) => ({ ...ref, channel: where }));
    await expect(idsFound(other, request)).resolves.toEqual([null, null, null]);
  });

  test('finds the newest succeeded or unknown attempt if an external id was used several times', async () => {
    const own = { ...someone(), externalId: randomUUID() };
    await created(own);
    const newer = await created(own);
    await created({ ...own, client: 'user-2' });
    for (const outcome of ['rejected', 'not_sent', 'in_progress'] as const)
      await begunAs(fixture.journal, outcome, newAttempt(own));
    await expect(idsFound(own, [own])).resolves.toEqual([newer.id]);
    const { id } = await begunAs(fixture.journal, 'unknown', newAttempt(own));
    await expect(fixture.journal.findCreated(own, [own])).resolves.toMatchObject([
      { id, transactionId: null },
    ]);
  });
});

const COUNT = 50_000;
const LIMIT = 21;
const PAGE: AttemptQuery = { service: 'service-1', client: 'shop', channel: 'channel-1', limit: LIMIT };

/** Filters of pages. Most pages are empty, because all attempts are succeeded payments of one client. */
const FILTERS: Partial<AttemptQuery>[] = [undefined, ['payment'], ['payout']].flatMap((kinds) =>
  [null, 'succeeded', 'rejected', 'unknown'].flatMap((outcome) =>
    [null, 'order 100', 'no order'].flatMap((externalId) =>
      [
        {},
        { startedFrom: 49_000 },
        { beforePosition: { startedAt: 1_000, seq: 0 } },
        { startedFrom: 20_000, beforePosition: { startedAt: 30_000, seq: 0 } },
      ].map((range) => ({ kinds, outcome, externalId, ...range }) as Partial<AttemptQuery>),
    ),
  ),
);

describePostgresJournal('Query plans', (fixture) => {
  beforeAll(async () => {
    // Statistics from before the rows were inserted are the worst case.
    await fixture.store.rows('ALTER TABLE stored_attempts SET (autovacuum_enabled = false)');
    const generated = { count: COUNT, service: PAGE.service, settledFrom: 0 };
    await generateAttempts(fixture.store, generated);
    await begunAs(fixture.journal, 'succeeded', newAttempt({ ...PAGE, externalId: 'order 100' }));
  });

  test('for lists read at most seven rows for each attempt of a page, whatever the filters', async () => {
    for (const filters of FILTERS) {
      const { text, values } = listAttemptsStatement({ ...PAGE, ...filters }, () => 'stored_attempts');
      // For each attempt of a page, this reads an index entry, the row by its id, and four times its group.
      const { rows, sequentialScans } = await rowsRead(fixture.store, text, values);
      const isBounded = rows <= 7 * LIMIT;
      const expected = { filters, sequentialScans: 0, isBounded: true };
      expect({ filters, sequentialScans, isBounded }).toEqual(expected);
    }
  });

  test('for a purge step use no sequential scan, and read at most five rows for each deleted row', async () => {
    for (const from of [0, 25_000]) {
      const attempts = await rowsRead(fixture.store, PURGE_EXPIRED_ATTEMPTS, [from, COUNT, 100]);
      expect(attempts).toMatchObject({ sequentialScans: 0 });
      expect(attempts.rows).toBeLessThanOrEqual(500);
    }
    const reservations = await rowsRead(fixture.store, PURGE_RESERVATIONS, [BEFORE_FIRST_RESERVATION, 100]);
    expect(reservations).toMatchObject({ sequentialScans: 0 });
    expect(reservations.rows).toBeLessThanOrEqual(500);
  });

  test('for a page of attempts by start time use no sequential scan', async () => {
    const values = [PAGE.service, 1000, 2000, 1000, 0];
    const page = await rowsRead(fixture.store, attemptsByStartStatement('postgres', false), values);
    expect(page).toMatchObject({ sequentialScans: 0 });
    // For each of the 500 attempts of the page: its place in the order, its columns, and four columns of its group.
    expect(page.rows).toBeLessThan(3100);
  });
});

describeSqliteJournal('Query plans', (fixture) => {
  const stepsOf = async (text: string): Promise<string[]> =>
    (await fixture.store.rows(`EXPLAIN QUERY PLAN ${text}`)).map(({ detail }) => String(detail));

  test('for lists read only an index range, in the order of the index, whatever the filters', async () => {
    for (const filters of FILTERS) {
      const page = { ...PAGE, ...filters };
      const { text } = listAttemptsStatement(page, (index) => `stored_attempts INDEXED BY stored_${index}`);
      const steps = await stepsOf(text);
      const reads = steps.filter((step) => /\bstored_attempts_by_(start|external_id)\b/.test(step));
      expect(reads.length).toBeGreaterThan(0);
      const search = filters.externalId
        ? /^SEARCH .*attempts_by_external_id .*external_id_hash=.*group_id=/
        : /^SEARCH .*attempts_by_start .*group_id=.*state=.*started_at/;
      for (const read of reads) expect(read).toMatch(search);
    }
  });

  test('for a purge step and for a page of attempts by start time read only an index range', async () => {
    const purge = await stepsOf(`SELECT seq ${FROM_EXPIRED_ATTEMPTS_CLAUSE}`);
    expect(purge).toEqual([expect.stringMatching(/^SEARCH .*stored_attempts_settled .*settled_at/)]);
    const page = await stepsOf(attemptsByStartStatement('sqlite', true));
    const search = /stored_attempts_by_start \(group_id=\? AND state=\? AND started_at>\?/;
    expect(page).toContainEqual(expect.stringMatching(search));
    expect(page.filter((step) => step.startsWith('SCAN') && step.includes('stored'))).toEqual([]);
  });
});

const DAY_MS = 24 * 60 * 60 * 1000;

/** Reads all pages. Returns the ids of the attempts and the lengths of the pages. */
async function readAll(
  { journal }: JournalFixture,
  given: Partial<AttemptsByStartQuery> & { service: string },
) {
  const range = { channel: null, from: 0, to: Number.MAX_SAFE_INTEGER, after: null, ...given };
  const [ids, lengths]: [string[], number[]] = [[], []];
  for await (const page of journal.attemptPagesByStart(range)) {
    ids.push(...page.map(({ id }) => id));
    lengths.push(page.length);
  }
  return { ids, lengths };
}

describeJournals('Reading attempts by start time', (fixture) => {
  test('returns each attempt once even if many started in the same millisecond, and can continue after a position', async () => {
    const service = randomUUID();
    await generateAttempts(fixture.store, { service, count: 3000, settledFrom: DAY_MS });
    const group = `group_id = (SELECT id FROM attempt_groups WHERE service = '${service}')`;
    await fixture.store.rows(
      `UPDATE stored_attempts SET started_at = ${2 * DAY_MS} WHERE ${group} AND started_at > ${DAY_MS + 1200}`,
    );
    const { ids, lengths } = await readAll(fixture, { service });
    expect(ids).toHaveLength(3000);
    expect(new Set(ids).size).toBe(3000);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(500);
    const [row] = await fixture.store.rows(`SELECT seq FROM attempts WHERE id = '${ids[1700]}'`);
    const after = { startedAt: 2 * DAY_MS, seq: Number(row!['seq']) };
    expect((await readAll(fixture, { service, after })).ids).toEqual(ids.slice(1701));
    await fixture.store.rows(`DELETE FROM stored_attempts WHERE ${group} RETURNING 1`);
  });
});
