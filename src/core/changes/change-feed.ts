import type { ChangeCreators, RecordedChange } from '../../datasources/journal/changes';

/** The changes that a reader may see on one channel. */
export interface ChangeReader {
  channel: string;
  /** The readable kinds, each with the only client whose transactions are readable; null: those of all clients. */
  creators: ChangeCreators;
}

/** A change with its opaque cursor. */
export interface CursoredChange extends RecordedChange {
  cursor: string;
}

export interface ChangePage {
  changes: CursoredChange[];
  /** Where to continue: the cursor of the last change; the given cursor, or that of the start, if the page is empty. */
  endCursor: string;
  hasMore: boolean;
}

/** A cursor that this gateway never returned. */
export class InvalidCursor extends Error {
  constructor() {
    super('The cursor is not one of this gateway.');
    this.name = 'InvalidCursor';
  }
}

/** A cursor older than the oldest change kept. */
export class CursorExpired extends Error {
  /** @param oldestCursor cursor from which every change is kept */
  constructor(readonly oldestCursor: string) {
    super('The changes after this cursor were deleted. Continue from oldestCursor.');
    this.name = 'CursorExpired';
  }
}

/** Reads the record of changes. Throws UNAVAILABLE if the journal cannot be read. */
export interface ChangeFeed {
  /** Returns up to `limit` changes after a cursor, oldest first; null: from the oldest change kept. Throws InvalidCursor and CursorExpired. */
  read(reader: ChangeReader, after: string | null, limit: number): Promise<ChangePage>;
  /**
   * Yields every change after a cursor, then new ones as they are recorded; null: from now on. Reads the journal in
   * pages as the consumer reads, so that a slow consumer needs no memory. Throws InvalidCursor and CursorExpired.
   */
  watch(reader: ChangeReader, after: string | null): AsyncIterableIterator<CursoredChange, undefined>;
}
