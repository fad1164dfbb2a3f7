import { requireChannel, creatorRestriction, type Caller } from '../auth/caller';
import type { ChangeFeed, ChangePage, ChangeReader } from '../core/changes/change-feed';
import { InvalidCursor, decodeCursor } from '../core/changes/cursor';
import type { ChangePosition, RecordedChange } from '../datasources/journal/changes';
import { badArgumentError } from './bad-request';
import { kindsWithRight } from './visible-transactions';

/** Returns the position of a cursor; null if there is none. Throws BAD_USER_INPUT for a text that is not a cursor. */
function parseCursor(cursor: string | null): ChangePosition | null {
  try {
    return cursor === null ? null : decodeCursor(cursor);
  } catch (error) {
    if (!(error instanceof InvalidCursor)) throw error;
    throw badArgumentError('after', 'cursor', 'after is not a cursor of this gateway.');
  }
}

/**
 * The changes that one caller may read. Resolvers have no other access to the record of changes. Every read checks the
 * channel and returns only kinds (payments, payouts) that the caller may read; with only the `:own` scope of a kind,
 * only changes of transactions that the caller created.
 */
export class VisibleChanges {
  constructor(
    private readonly caller: Caller,
    private readonly feed: ChangeFeed,
  ) {}

  /** Returns a page of changes. Throws AccessError, BAD_USER_INPUT (invalid cursor), CursorExpired or UNAVAILABLE. */
  async read(channel: string, after: string | null, limit: number): Promise<ChangePage> {
    return this.feed.read(this.#readerOf(channel), parseCursor(after), limit);
  }

  /**
   * Yields every change after a cursor, then new changes; only new changes if `after` is null. Throws AccessError or
   * BAD_USER_INPUT; the iterator may throw CursorExpired at any time.
   */
  watch(channel: string, after: string | null): AsyncIterableIterator<RecordedChange, undefined> {
    return this.feed.watch(this.#readerOf(channel), parseCursor(after));
  }

  /** Returns what the caller may read on the channel. Throws an AccessError if the caller may not use the channel. */
  #readerOf(channel: string): ChangeReader {
    const { caller } = this;
    requireChannel(caller, channel);
    const creators = kindsWithRight(caller, 'read', 'read:own').map(
      (kind) => [kind, creatorRestriction(caller, `${kind}s:read`)] as const,
    );
    return { channel, creators: Object.fromEntries(creators) };
  }
}
