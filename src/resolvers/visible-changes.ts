import { requireChannel, creatorRestriction, type Caller } from '../auth/caller';
import type { ChangeFeed, ChangeFilter } from '../core/changes/change-feed';
import { decodeCursor } from '../core/changes/cursor';
import type { ChangePosition, RecordedChange } from '../datasources/journal/changes';
import { badArgumentError } from './bad-request';
import { kindsWithRight } from './visible-transactions';

/** Returns the position of a cursor; null if the cursor is null. Throws BAD_USER_INPUT if it is malformed. */
function positionOfCursor(cursor: string | null): ChangePosition | null {
  const position = cursor === null ? null : decodeCursor(cursor);
  if (position === undefined)
    throw badArgumentError('after', 'cursor', 'The argument `after` is not a cursor of this gateway.');
  return position;
}

/**
 * The changes that one caller may read. Resolvers have no other access to recorded changes. A caller gets changes of
 * payments, of payouts or of both, according to its scopes. If it has only the `:own` scope for a kind, it gets only
 * changes of transactions that it created.
 */
export class VisibleChanges {
  constructor(
    private readonly caller: Caller,
    private readonly changeFeed: ChangeFeed,
  ) {}

  /**
   * Returns at most `limit` changes after a cursor, oldest first. If `afterCursor` is null, begins with the oldest
   * stored change.
   * @throws AccessError if the caller may not use the channel; BAD_USER_INPUT if the cursor is malformed;
   * PositionExpired if changes after the cursor were deleted; ServiceError (UNAVAILABLE) if the journal cannot be read
   */
  async read(channel: string, afterCursor: string | null, limit: number): ReturnType<ChangeFeed['read']> {
    return this.changeFeed.read(this.#filterFor(channel), positionOfCursor(afterCursor), limit);
  }

  /**
   * Yields every change after a cursor, then new changes as they are recorded. If `afterCursor` is null, yields only
   * new changes. The iterator throws PositionExpired if changes after its position were deleted.
   * @throws AccessError if the caller may not use the channel; BAD_USER_INPUT if the cursor is malformed
   */
  watch(channel: string, afterCursor: string | null): AsyncIterableIterator<RecordedChange, undefined> {
    return this.changeFeed.watch(this.#filterFor(channel), positionOfCursor(afterCursor));
  }

  /** Returns the filter for changes that the caller may read. Throws an AccessError if the channel is forbidden. */
  #filterFor(channel: string): ChangeFilter {
    const { caller } = this;
    requireChannel(caller, channel);
    const clientByKindEntries = kindsWithRight(caller, 'read', 'read:own').map(
      (kind) => [kind, creatorRestriction(caller, `${kind}s:read`)] as const,
    );
    return { channel, clientByKind: Object.fromEntries(clientByKindEntries) };
  }
}
