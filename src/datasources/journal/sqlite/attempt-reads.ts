import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { listStatement } from '../attempt-list';
import { JournalBusy, type Attempt, type AttemptPage, type UnknownCount } from '../journal';
import { OPEN, readAttempt, readUnknownCounts } from '../rows';
import { sql, SqliteThread, type Statement } from './thread';

const MAX_QUEUED_LISTS = 16;

/** Reads that no create waits for, on a connection and in a thread of their own. */
export class SqliteAttemptReads {
  /** One list at a time: what operators ask waits for one at most. */
  readonly #listBulkhead = bulkhead(1, MAX_QUEUED_LISTS);

  private constructor(private readonly thread: SqliteThread) {}

  /** Opens a file that has the journal's tables. */
  static async open(file: string, deadlineMs: number): Promise<SqliteAttemptReads> {
    return new SqliteAttemptReads(await SqliteThread.open(file, deadlineMs, true));
  }

  async list(page: AttemptPage): Promise<Attempt[]> {
    const { text, values } = listStatement(page, (index) => `attempts INDEXED BY ${index}`);
    try {
      return await this.#listBulkhead.execute(() => this.#attempts(sql(text, ...values)));
    } catch (error) {
      throw error instanceof BulkheadRejectedError ? new JournalBusy(error) : error;
    }
  }

  /** Without the client a key is looked for in the whole index of keys, but in no row of the table. */
  async findAny(service: string, name: string): Promise<Attempt | null> {
    const [byId] = await this.#attempts(
      sql('SELECT * FROM attempts WHERE id = ? AND service = ?', name, service),
    );
    if (byId) return byId;
    const text = `SELECT * FROM attempts WHERE seq IN (
      SELECT seq FROM attempts WHERE service = ? AND key = ? ORDER BY client LIMIT 2)`;
    const byKey = await this.#attempts(sql(text, service, name));
    return byKey.length === 1 ? (byKey[0] ?? null) : null;
  }

  unknown(service: string, limit: number): Promise<Attempt[]> {
    // The plus sign keeps SQLite from reading all attempts in the order of seq.
    const text = `SELECT * FROM attempts WHERE ${OPEN} AND outcome = 'unknown' AND service = ? ORDER BY +seq LIMIT ?`;
    return this.#attempts(sql(text, service, limit));
  }

  async countUnknown(service: string): Promise<UnknownCount[]> {
    const text = `SELECT kind, count(*) AS count, min(started_at) AS oldest FROM attempts
      WHERE ${OPEN} AND outcome = 'unknown' AND service = ? GROUP BY kind`;
    return readUnknownCounts(await this.thread.run({ write: false, statements: [sql(text, service)] }));
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  async #attempts(statement: Statement): Promise<Attempt[]> {
    const rows = await this.thread.run({ write: false, statements: [statement] });
    return rows.map(readAttempt);
  }
}
