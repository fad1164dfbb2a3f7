import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Change } from '@paygraph/client';

const SCHEMA = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS entries (
  number INTEGER PRIMARY KEY,
  recorded_at TEXT NOT NULL,
  kind TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  external_id TEXT,
  previous_status TEXT,
  status TEXT NOT NULL,
  currency TEXT,
  value TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS totals (
  kind TEXT NOT NULL,
  currency TEXT NOT NULL,
  hundredths INTEGER NOT NULL,
  PRIMARY KEY (kind, currency)
) STRICT;
CREATE TABLE IF NOT EXISTS cursors (channel TEXT PRIMARY KEY, cursor TEXT NOT NULL) STRICT;`;

/** Converts a decimal string with at most two decimals to hundredths of the currency. */
function toHundredths(value: string): bigint {
  const [whole = '', decimals = ''] = value.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
}

/** The books of a merchant channel in an SQLite file: an entry for each change, and the completed totals. */
export class Ledger {
  readonly #db: DatabaseSync;
  readonly #channel: string;
  #cursor: string | null;

  /** Opens or creates the file. */
  constructor(file: string, channel: string) {
    mkdirSync(path.dirname(file), { recursive: true });
    this.#db = new DatabaseSync(file, { timeout: 5000 });
    this.#db.exec(SCHEMA);
    this.#channel = channel;
    this.#cursor = this.#readCursor();
  }

  /** Cursor of the last booked change; null if there is none. */
  get cursor(): string | null {
    return this.#cursor;
  }

  /**
   * Books a change, and stores its cursor in the same transaction: after a crash both are there or neither is. Throws if
   * another process has booked changes of this channel meanwhile.
   */
  book(change: Change): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      if (this.#readCursor() !== this.#cursor) throw new Error('Another process books the same changes.');
      this.#insertEntry(change);
      if (change.status === 'COMPLETED') this.#addToTotal(change);
      this.#writeCursor(change.cursor);
      this.#db.exec('COMMIT');
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
    this.#cursor = change.cursor;
  }

  /** Replaces the stored cursor, for example after CURSOR_EXPIRED. */
  continueAfter(cursor: string): void {
    this.#writeCursor(cursor);
    this.#cursor = cursor;
  }

  close(): void {
    this.#db.close();
  }

  #insertEntry(change: Change): void {
    const { __typename, recordedAt, transactionId, externalId, previousStatus, status, amount } = change;
    this.#db
      .prepare('INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        recordedAt,
        __typename === 'PaymentChange' ? 'payment' : 'payout',
        transactionId,
        externalId,
        previousStatus,
        status,
        amount?.currency ?? null,
        amount?.value ?? null,
      );
  }

  #addToTotal({ __typename, amount }: Change): void {
    if (!amount) return;
    this.#db
      .prepare(
        `INSERT INTO totals VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET hundredths = hundredths + excluded.hundredths`,
      )
      .run(
        __typename === 'PaymentChange' ? 'payment' : 'payout',
        amount.currency,
        toHundredths(amount.value),
      );
  }

  #readCursor(): string | null {
    const row = this.#db.prepare('SELECT cursor FROM cursors WHERE channel = ?').get(this.#channel);
    return row ? String(row['cursor']) : null;
  }

  #writeCursor(cursor: string): void {
    this.#db
      .prepare('INSERT INTO cursors VALUES (?, ?) ON CONFLICT DO UPDATE SET cursor = excluded.cursor')
      .run(this.#channel, cursor);
  }
}
