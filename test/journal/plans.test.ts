import { listStatement } from '../../src/datasources/journal/attempt-list';
import type { AttemptPage } from '../../src/datasources/journal/journal';
import { INDEX_ORDER_OPTIONS } from '../../src/datasources/journal/postgres-pool';
import {
  FIRST_RESERVATION,
  PURGE_ATTEMPTS,
  PURGE_RESERVATIONS,
} from '../../src/datasources/journal/postgres-purge';
import { EXPIRED } from '../../src/datasources/journal/sqlite-purge';
import { generateAttempts, rowsRead } from './support/generated';
import { connected, inPostgres, inSqlite } from './support/stores';

const COUNT = 50_000;
const LIMIT = 21;
const PAGE: AttemptPage = { service: 'service-1', client: 'shop', channel: 'channel-1', limit: LIMIT };

/** All attempts are succeeded payments of this client: most of these pages are empty, and rare outcomes are nowhere. */
const FILTERS: Partial<AttemptPage>[] = [undefined, ['payment'], ['payout']].flatMap((kinds) =>
  [null, 'succeeded', 'rejected', 'unknown'].flatMap((outcome) =>
    [null, 'service-1 order 100', 'no order'].flatMap((externalId) =>
      [
        {},
        { startedFrom: 49_000 },
        { before: { startedAt: 1_000, seq: 0 } },
        { startedFrom: 20_000, before: { startedAt: 30_000, seq: 0 } },
      ].map((range) => ({ kinds, outcome, externalId, ...range }) as Partial<AttemptPage>),
    ),
  ),
);

inPostgres((room) => {
  const explained = async (text: string, values: unknown[]) =>
    connected(`${room.place.url}?options=${encodeURIComponent(INDEX_ORDER_OPTIONS)}`, async (client) => {
      await client.query('BEGIN');
      const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      );
      await client.query('ROLLBACK');
      return rowsRead(rows[0]?.['QUERY PLAN']);
    });
  const explainedList = (filters: Partial<AttemptPage>) => {
    const { text, values } = listStatement({ ...PAGE, ...filters }, () => 'attempts');
    let count = 0;
    return explained(
      text.replaceAll('?', () => `$${(count += 1)}`),
      values,
    );
  };

  /** Statistics of a table that was small when they were made, then of the table as it is. */
  describe.each(['stale', 'fresh'])('with %s statistics', (statistics) => {
    beforeAll(async () => {
      if (statistics === 'fresh') return void (await room.place.rows('ANALYZE'));
      await room.place.rows('ALTER TABLE attempts SET (autovacuum_enabled = false)');
      await generateAttempts(room.place, {
        count: COUNT,
        service: PAGE.service,
        settledFrom: 0,
        reserve: true,
      });
    });

    test('a list reads no more rows than a few pages hold, whatever it is filtered by', async () => {
      for (const filters of FILTERS) {
        const { rows, sequentialScans } = await explainedList(filters);
        expect({ filters, sequentialScans, isBounded: rows <= 2 * LIMIT }).toEqual({
          filters,
          sequentialScans: 0,
          isBounded: true,
        });
      }
    });

    test('a step of the purge reads no more rows than a few steps delete', async () => {
      for (const from of [0, 25_000]) {
        const attempts = await explained(PURGE_ATTEMPTS, [from, COUNT, 100]);
        expect(attempts).toMatchObject({ sequentialScans: 0 });
        expect(attempts.rows).toBeLessThanOrEqual(500);
      }
      const reservations = await explained(PURGE_RESERVATIONS, [FIRST_RESERVATION, 100]);
      expect(reservations).toMatchObject({ sequentialScans: 0 });
      expect(reservations.rows).toBeLessThanOrEqual(500);
    });
  });
});

inSqlite((room) => {
  const planOf = async (text: string): Promise<string[]> =>
    (await room.place.rows(`EXPLAIN QUERY PLAN ${text}`)).map(({ detail }) => String(detail));

  test('a list reads ranges of an index, in its order', async () => {
    for (const filters of FILTERS) {
      const { text } = listStatement({ ...PAGE, ...filters }, (index) => `attempts INDEXED BY ${index}`);
      const owner = filters.externalId
        ? 'attempts_by_external_id (external_id=? AND client=? AND channel=? AND service=?'
        : 'attempts_by_start (channel=? AND service=? AND client=?';
      const range = `SEARCH attempts USING INDEX ${owner} AND kind=? AND outcome=? AND started_at>? AND started_at<?)`;
      const reads = (await planOf(text)).filter((line) => /\battempts\b/.test(line));
      expect(new Set(reads)).toEqual(new Set([range]));
    }
  });

  test('a step of the purge reads the oldest settled attempts from an index', async () => {
    await expect(planOf(`SELECT seq ${EXPIRED}`)).resolves.toEqual([
      'SEARCH attempts USING COVERING INDEX attempts_settled (settled_at>? AND settled_at<?)',
    ]);
  });
});
