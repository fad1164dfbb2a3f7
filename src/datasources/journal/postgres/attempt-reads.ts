import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { listStatement } from '../attempt-list';
import { JournalBusy, type Attempt, type AttemptPage, type UnknownCount } from '../journal';
import type { PostgresPool } from './pool';
import { readAttempt, readUnknownCounts } from '../rows';

/** One connection fewer than the pool has: what operators ask is not kept waiting by lists. */
const MAX_CONCURRENT_LISTS = 2;
const MAX_QUEUED_LISTS = 16;

/** Reads that no create waits for, on connections of their own. */
export class PostgresAttemptReads {
  readonly #listBulkhead = bulkhead(MAX_CONCURRENT_LISTS, MAX_QUEUED_LISTS);

  constructor(private readonly pool: PostgresPool) {}

  async list(page: AttemptPage): Promise<Attempt[]> {
    const { text, values } = listStatement(page, () => 'attempts');
    let count = 0;
    const numbered = text.replaceAll('?', () => `$${(count += 1)}`);
    const until = this.pool.until();
    try {
      return await this.#listBulkhead.execute(() => this.#attempts(numbered, values, until));
    } catch (error) {
      throw error instanceof BulkheadRejectedError ? new JournalBusy(error) : error;
    }
  }

  /** Without the client a key is looked for in the whole index of keys, but in no row of the table. */
  async findAny(service: string, name: string): Promise<Attempt | null> {
    const [byId] = await this.#attempts('SELECT * FROM attempts WHERE id = $1 AND service = $2', [
      name,
      service,
    ]);
    if (byId) return byId;
    const text = 'SELECT * FROM attempts WHERE service = $1 AND key = $2 ORDER BY client LIMIT 2';
    const byKey = await this.#attempts(text, [service, name]);
    return byKey.length === 1 ? (byKey[0] ?? null) : null;
  }

  unknown(service: string, limit: number): Promise<Attempt[]> {
    // Materialized: the order by seq would else be had by walking all attempts from the first on.
    const text = `WITH open AS MATERIALIZED (SELECT * FROM attempts WHERE outcome = 'unknown' AND service = $1)
      SELECT * FROM open ORDER BY seq LIMIT $2`;
    return this.#attempts(text, [service, limit]);
  }

  async countUnknown(service: string): Promise<UnknownCount[]> {
    const text = `SELECT kind, count(*) AS count, min(started_at) AS oldest FROM attempts
      WHERE outcome = 'unknown' AND service = $1 GROUP BY kind`;
    return readUnknownCounts(await this.pool.query(text, [service]));
  }

  async #attempts(text: string, values: unknown[], until?: number): Promise<Attempt[]> {
    const rows = await this.pool.query(text, values, until);
    return rows.map(readAttempt);
  }
}
