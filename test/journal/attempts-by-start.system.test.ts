import { randomUUID } from 'node:crypto';
import {
  openAttemptsByStart,
  pageStatement,
  type StartRange,
} from '../../src/datasources/journal/attempts-by-start';
import { INDEX_ORDER_OPTIONS } from '../../src/datasources/journal/postgres/pool';
import { Client } from 'pg';
import { DatabaseSync } from 'node:sqlite';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import {
  describeJournals,
  describePostgresJournal,
  describeSqliteJournal,
  type JournalFixture,
} from './support/fixture';
import { generateAttempts, rowsRead } from './support/generated';
import { begunAs, newAttempt } from './support/samples';

const OUTCOMES = ['in_progress', 'succeeded', 'rejected', 'not_sent', 'unknown'] as const;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Reads all pages. Returns the ids of the attempts and the lengths of the pages. */
async function readAll({ store }: JournalFixture, given: Partial<StartRange> & { service: string }) {
  const range = { channel: null, from: 0, to: Number.MAX_SAFE_INTEGER, after: null, ...given };
  await using attempts = await openAttemptsByStart(store.url, JOURNAL_TIMEOUT_MS);
  const [ids, lengths]: [string[], number[]] = [[], []];
  for await (const page of attempts.pages(range)) {
    ids.push(...page.map(({ id }) => id));
    lengths.push(page.length);
  }
  return { ids, lengths };
}

describeJournals('Reading attempts by start time', (fixture) => {
  test('returns those of all clients, channels, kinds and outcomes in a time window, oldest first', async () => {
    const service = randomUUID();
    const started: { id: string; startedAt: number }[] = [];
    for (const [index, outcome] of OUTCOMES.entries())
      for (const kind of ['payment', 'payout'] as const) {
        const startedAt = 10 * DAY_MS - index * DAY_MS;
        const given = { service, kind, startedAt, client: `c${index}`, channel: `channel ${index}` };
        const attempt = newAttempt(given);
        started.push(await begunAs(fixture.journal, outcome, attempt, { transactionId: randomUUID() }));
      }
    await begunAs(fixture.journal, 'in_progress', newAttempt({ startedAt: 9 * DAY_MS }));
    const inOrder = started.toSorted((one, other) => one.startedAt - other.startedAt).map(({ id }) => id);
    expect((await readAll(fixture, { service })).ids).toEqual(inOrder);
    // `from` is inclusive and `to` exclusive.
    const middle = { from: 7 * DAY_MS, to: 9 * DAY_MS };
    expect((await readAll(fixture, { service, ...middle })).ids).toEqual(inOrder.slice(2, 6));
    expect((await readAll(fixture, { service, channel: 'channel 4' })).ids).toEqual(inOrder.slice(0, 2));
  });

  test('returns each attempt once, however many started in one millisecond, and continues after a position', async () => {
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

const WINDOW = [1000, 2000, 1000, 0];

describePostgresJournal('Reading attempts by start time', (fixture) => {
  test('reads the rows of the window by an index, also with statistics of an empty table', async () => {
    const { service } = newAttempt();
    await fixture.store.rows('ANALYZE stored_attempts');
    await generateAttempts(fixture.store, { service, count: 20_000, settledFrom: 0 });
    const client = new Client({ connectionString: fixture.store.url, options: INDEX_ORDER_OPTIONS });
    await client.connect();
    let count = 0;
    const text = pageStatement('postgres', false).replaceAll('?', () => `$${(count += 1)}`);
    const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
    const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(explain, [service, ...WINDOW]);
    await client.end();
    const { rows: read, sequentialScans } = rowsRead(rows[0]!['QUERY PLAN']);
    expect(sequentialScans).toBe(0);
    // For each of the 500 attempts of the page: its place in the order, its columns, and four columns of its group.
    expect(read).toBeLessThan(3100);
  });
});

describeSqliteJournal('Reading attempts by start time', (fixture) => {
  test('reads an index range per group and state', () => {
    using database = new DatabaseSync(fixture.store.url.slice('file:'.length));
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${pageStatement('sqlite', true)}`)
      .all('service', 'channel', ...WINDOW)
      .map(({ detail }) => String(detail));
    expect(plan).toContainEqual(
      expect.stringMatching(/stored_attempts_by_start \(group_id=\? AND state=\? AND started_at>\?/),
    );
    expect(plan.filter((step) => step.startsWith('SCAN') && step.includes('stored'))).toEqual([]);
  });
});
