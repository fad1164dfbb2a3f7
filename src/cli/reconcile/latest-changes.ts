import { DatabaseSync } from 'node:sqlite';
import type { AttemptsByStartQuery } from '../../datasources/journal/attempts-by-start';
import {
  PositionExpired,
  type ChangeJournal,
  type ChangePosition,
  type ChangeBatch,
} from '../../datasources/journal/changes';
import type { TransactionKind } from '../../datasources/journal/journal';
import { readChangePages } from '../change-pages';
import type { LatestChange } from './compare';

const CHANGES_PER_PAGE = 1000;
/** Maximum time in ms by which a change can seem older than its attempt because of clock skew. */
const MAX_CHANGE_CLOCK_SKEW_MS = 60 * 60 * 1000;

/**
 * Finds the latest recorded change of a transaction. Copies the latest change of each transaction from the journal to a
 * temporary file, because the journal has no index of changes by transaction. Needs little memory, however many changes
 * there are.
 */
export class LatestChanges implements Disposable {
  // SQLite keeps a database without a name in a temporary file, and deletes this file when the database is closed.
  readonly #copyDatabase = new DatabaseSync('');
  readonly #writeStatement;
  readonly #findStatement;
  #copiedUpTo: ChangePosition | null = null;
  #updatePromise: Promise<void> = Promise.resolve();
  /** The update that follows the current one. All calls of update() during the current update share it. */
  #nextUpdate: Promise<void> | undefined;

  /** @param selection attempts whose changes are needed */
  constructor(
    private readonly journal: Pick<ChangeJournal, 'readChanges'>,
    private readonly selection: Pick<AttemptsByStartQuery, 'service' | 'channel' | 'from'>,
  ) {
    this.#copyDatabase.exec(`PRAGMA journal_mode = OFF;
      CREATE TABLE latest (kind TEXT, transaction_id TEXT, status TEXT, received TEXT,
        PRIMARY KEY (kind, transaction_id)) WITHOUT ROWID`);
    this.#writeStatement = this.#copyDatabase.prepare('INSERT OR REPLACE INTO latest VALUES (?, ?, ?, ?)');
    this.#findStatement = this.#copyDatabase.prepare(
      'SELECT status, received FROM latest WHERE kind = ? AND transaction_id = ?',
    );
  }

  /**
   * Copies the changes that were recorded since the previous call. The first call begins with the oldest stored change.
   * Changes that were recorded more than MAX_CHANGE_CLOCK_SKEW_MS before `selection.from` are skipped.
   */
  update(): Promise<void> {
    this.#nextUpdate ??= this.#updatePromise.then(() => {
      this.#nextUpdate = undefined;
      return this.#copyNewChanges();
    });
    this.#updatePromise = this.#nextUpdate;
    return this.#updatePromise;
  }

  /** Returns the latest change of a transaction as of the last update(); null if the copy has none. */
  find(kind: TransactionKind, transactionId: string): LatestChange | null {
    return (this.#findStatement.get(kind, transactionId) as LatestChange | undefined) ?? null;
  }

  async #copyNewChanges(): Promise<void> {
    const { service, channel } = this.selection;
    const range = {
      service,
      channel,
      clientByKind: { payment: null, payout: null },
      after: this.#copiedUpTo,
    };
    try {
      for await (const page of readChangePages(this.journal, range, () => CHANGES_PER_PAGE))
        this.#storePage(page);
    } catch (error) {
      if (!(error instanceof PositionExpired)) throw error;
      // The journal has deleted the next changes (CHANGES_RETENTION_DAYS): continue with the oldest stored change.
      this.#copiedUpTo = error.oldestPosition;
      await this.#copyNewChanges();
    }
  }

  #storePage({ changes, endPosition }: ChangeBatch): void {
    const earliestRecordedAt = this.selection.from - MAX_CHANGE_CLOCK_SKEW_MS;
    this.#copyDatabase.exec('BEGIN');
    for (const { kind, transactionId, status, received, recordedAt } of changes)
      if (recordedAt >= earliestRecordedAt) this.#writeStatement.run(kind, transactionId, status, received);
    this.#copyDatabase.exec('COMMIT');
    this.#copiedUpTo = endPosition;
  }

  [Symbol.dispose](): void {
    this.#copyDatabase.close();
  }
}
