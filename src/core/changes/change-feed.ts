import {
  BEFORE_FIRST_CHANGE,
  PositionExpired,
  type ChangeJournal,
  type ChangePosition,
  type ChangeRange,
  type ChangeBatch,
  type RecordedChange,
} from '../../datasources/journal/changes';
import { backoffMs } from '../../shared/backoff';
import { runOutsideRequests } from '../../shared/outside-requests';
import { withTimeout } from '../../shared/timeout';
import type { BackgroundObserver } from '../background';
import { journalUnreadableError, type JournalSession } from '../journal-session';
import type { ChangeSignals, ChannelWatcher } from './change-signals';

const READ_TIMEOUT_MS = 2000;
/** Maximum number of changes that a watcher gets from one read, and so keeps in memory. */
const WATCHER_PAGE_SIZE = 100;
/**
 * While an open database transaction hides newer changes, a watcher waits at most this long (in ms) for a wake-up
 * before it reads again. The wait doubles with each such read, up to MAX_REREAD_WAIT_MS.
 */
const FIRST_REREAD_WAIT_MS = 20;
const MAX_REREAD_WAIT_MS = 250;
const READ_RETRY_BACKOFF = { firstMs: 250, maxMs: 10_000 };

/**
 * Maximum age in ms of the latest stalled read (see #stallTimes). If it is older, `stalledMs` is 0, because its value
 * would be out of date.
 */
const STALL_EXPIRY_MS = 60_000;

/** Selects the changes that one reader may see. */
export type ChangeFilter = Pick<ChangeRange, 'clientByKind'> & { channel: string };

/** The parts of JournalSession that a ChangeFeed uses. */
type FeedSession = Pick<JournalSession, 'clock' | 'runtime' | 'serviceName'> & {
  journal: Pick<ChangeJournal, 'readChanges' | 'newestChange'>;
};

/** Reads the changes that the journal has recorded, and watches for new ones (docs/changes.md). */
export class ChangeFeed {
  /** Watchers' reads in flight, by their parameters. Equal filters at the same position share one read. */
  readonly #readsInFlight = new Map<string, Promise<ChangeBatch>>();
  /**
   * Monotonic times of the first and the latest of consecutive stalled reads. A read is stalled if an open database
   * transaction keeps newer changes unreadable, and the read did not return the newest readable changes. Undefined if
   * the latest read was not stalled.
   */
  #stallTimes: { firstAt: number; lastAt: number } | undefined;

  constructor(
    private readonly journalSession: FeedSession,
    private readonly signals: ChangeSignals,
    private readonly observer: Pick<BackgroundObserver, 'onChangeDelivered'>,
  ) {}

  /**
   * Duration in ms of the current series of stalled reads. 0 if there is none, or if the latest stalled read is older
   * than STALL_EXPIRY_MS.
   */
  get stalledMs(): number {
    const { firstAt, lastAt } = this.#stallTimes ?? { firstAt: 0, lastAt: 0 };
    return this.journalSession.clock.monotonic() - lastAt < STALL_EXPIRY_MS ? lastAt - firstAt : 0;
  }

  /**
   * Returns up to `limit` changes that the reader may see, oldest first. If all changes that were read within
   * READ_TIMEOUT_MS are invisible to the reader, returns none although `hasMore` is true. If it returns changes,
   * `endPosition` is the position of the last one.
   * @param after position of the last change that the reader has; null: start with the oldest stored change
   * @throws PositionExpired if changes after `after` were deleted; ServiceError (UNAVAILABLE) if the first read fails
   */
  async read(
    filter: ChangeFilter,
    after: ChangePosition | null,
    limit: number,
  ): Promise<Omit<ChangeBatch, 'hasUnreadableChanges'>> {
    const { runtime } = this.journalSession;
    let position = after;
    const deadline = runtime.monotonic() + READ_TIMEOUT_MS;
    for (;;) {
      const reading = this.#readPage(filter, position, limit);
      const leftMs = deadline - runtime.monotonic();
      const page = await withTimeout(leftMs, reading, runtime).catch((error: unknown) => {
        if (error instanceof PositionExpired || position === null || position === after)
          throw error instanceof PositionExpired ? error : journalUnreadableError();
        // Earlier reads of this call skipped changes that the reader may not see. The next call continues after them.
        return { changes: [], hasMore: true, endPosition: position };
      });
      const { changes, hasMore, endPosition } = page;
      if (changes.length > 0 || !hasMore || endPosition === position)
        return { changes, hasMore, endPosition: changes.at(-1)?.position ?? endPosition };
      // This page had only changes that the reader may not see.
      position = endPosition;
    }
  }

  /**
   * Yields every visible change after the position `after`, then new changes as they are recorded. Reads a page only
   * after the consumer has received the previous one (backpressure). Retries failed reads. The iterator throws
   * PositionExpired if changes after its position were deleted.
   * @param after null: yield only changes recorded from now on
   */
  watch(
    filter: ChangeFilter,
    after: ChangePosition | null,
  ): AsyncIterableIterator<RecordedChange, undefined> {
    const watcher = this.signals.watch(filter.channel);
    const startPromise = after ? Promise.resolve(after) : this.#readNewestPosition(filter, watcher);
    const changes = this.#yieldChanges(filter, startPromise, watcher);
    const iterator: AsyncIterableIterator<RecordedChange, undefined> = {
      next: () => runOutsideRequests(() => changes.next()),
      return: () => {
        watcher.stop();
        void changes.return(undefined);
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  async *#yieldChanges(
    filter: ChangeFilter,
    startPromise: Promise<ChangePosition>,
    watcher: ChannelWatcher,
  ): AsyncGenerator<RecordedChange, undefined> {
    try {
      let position = await startPromise;
      let rereadWaitMs = FIRST_REREAD_WAIT_MS;
      let hasCaughtUp = false;
      while (!watcher.isStopped) {
        const seenWakeCount = watcher.wakeCount;
        const page = await this.#readForWatcher(filter, position, watcher);
        if (!page) return undefined;
        for (const change of page.changes) {
          if (hasCaughtUp)
            this.observer.onChangeDelivered(this.journalSession.clock.now() - change.recordedAt);
          yield change;
        }
        position = page.endPosition;
        if (page.changes.length > 0 || page.hasMore) rereadWaitMs = FIRST_REREAD_WAIT_MS;
        if (page.hasMore) continue;
        hasCaughtUp = true;
        const isBehind = page.hasUnreadableChanges;
        await watcher.waitForWake(seenWakeCount, isBehind ? rereadWaitMs : Infinity);
        rereadWaitMs = isBehind ? Math.min(MAX_REREAD_WAIT_MS, rereadWaitMs * 2) : FIRST_REREAD_WAIT_MS;
      }
      return undefined;
    } finally {
      watcher.stop();
    }
  }

  /** Reads a page of changes, and retries failures as #retryRead() does. Undefined if the watcher was stopped. */
  #readForWatcher(filter: ChangeFilter, after: ChangePosition, watcher: ChannelWatcher) {
    // Watchers share only reads that began after the last wake-up: an earlier read may lack the newest change.
    const key = JSON.stringify([watcher.wakeCount, after, filter]);
    return this.#retryRead(watcher, () => {
      let reading = this.#readsInFlight.get(key);
      if (!reading) {
        reading = this.#readPage(filter, after, WATCHER_PAGE_SIZE).finally(() =>
          this.#readsInFlight.delete(key),
        );
        this.#readsInFlight.set(key, reading);
      }
      return reading;
    });
  }

  /** Reads the position of the channel's newest change, with retries. BEFORE_FIRST_CHANGE if the watcher is stopped. */
  async #readNewestPosition({ channel }: ChangeFilter, watcher: ChannelWatcher): Promise<ChangePosition> {
    const { journal, serviceName } = this.journalSession;
    const read = () => runOutsideRequests(() => journal.newestChange(serviceName, channel));
    return (await this.#retryRead(watcher, read)) ?? BEFORE_FIRST_CHANGE;
  }

  async #readPage(filter: ChangeFilter, after: ChangePosition | null, limit: number): Promise<ChangeBatch> {
    const { journal, serviceName, clock } = this.journalSession;
    const { channel, clientByKind } = filter;
    const page = await journal.readChanges({ service: serviceName, channel, clientByKind, after, limit });
    const now = clock.monotonic();
    // A busy journal always has an open database transaction, so `hasUnreadableChanges` alone does not mean that the
    // read is stalled. A read that returns the newest readable changes is not stalled.
    const isStalled = page.hasUnreadableChanges && (page.changes.length === 0 || page.hasMore);
    this.#stallTimes = isStalled ? { firstAt: this.#stallTimes?.firstAt ?? now, lastAt: now } : undefined;
    return page;
  }

  /**
   * Retries a read until it succeeds. Returns undefined if the watcher was stopped. Throws PositionExpired without a
   * retry.
   */
  async #retryRead<T>(watcher: ChannelWatcher, read: () => Promise<T>): Promise<T | undefined> {
    for (let failureCount = 0; !watcher.isStopped; failureCount += 1) {
      try {
        return await read();
      } catch (error) {
        if (error instanceof PositionExpired) throw error;
      }
      await watcher.pause(backoffMs(READ_RETRY_BACKOFF, failureCount, this.journalSession.runtime.random()));
    }
    return undefined;
  }
}
