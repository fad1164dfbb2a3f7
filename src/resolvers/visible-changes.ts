import { requireChannel, requiredCreator, type Caller } from '../auth/caller';
import type { ChangeFeed, ChangePage, ChangeReader } from '../core/changes/change-feed';
import { InvalidCursor, decodeCursor } from '../core/changes/cursor';
import type { ChangePosition, RecordedChange } from '../datasources/journal/changes';
import { badArgumentError } from './bad-request';
import { kindsWithRight } from './visible-transactions';

/** Returns the position of a cursor. Throws BAD_USER_INPUT if this gateway never returned the cursor. */
function parseCursor(cursor: string | null): ChangePosition | null {
  try {
    return cursor === null ? null : decodeCursor(cursor);
  } catch (error) {
    if (!(error instanceof InvalidCursor)) throw error;
    throw badArgumentError('after', 'cursor', 'after is not a cursor of this gateway.');
  }
}

/**
 * The changes that one caller may read. Resolvers have no other access to the record of changes. Every read checks
 * whether the caller may read payments and payouts of the channel and, with a scope that ends in `:own`, who created them.
 */
export class VisibleChanges {
  constructor(
    private readonly caller: Caller,
    private readonly feed: ChangeFeed,
  ) {}

  /** Returns a page of changes. Throws AccessErrors, BAD_USER_INPUT for an invalid cursor, and CursorExpired. */
  async read(channel: string, after: string | null, limit: number): Promise<ChangePage> {
    return this.feed.read(this.#readerOf(channel), parseCursor(after), limit);
  }

  /** Yields every change after a cursor, then new changes. Throws like read(); may throw CursorExpired at any time. */
  watch(channel: string, after: string | null): AsyncIterableIterator<RecordedChange, undefined> {
    return this.feed.watch(this.#readerOf(channel), parseCursor(after));
  }

  /** Returns what the caller may read on the channel. Throws an AccessError if the caller may not use the channel. */
  #readerOf(channel: string): ChangeReader {
    const { caller } = this;
    requireChannel(caller, channel);
    const creators = kindsWithRight(caller, 'read', 'read:own').map(
      (kind) => [kind, requiredCreator(caller, `${kind}s:read`)] as const,
    );
    return { channel, creators: Object.fromEntries(creators) };
  }
}
