import { AsyncLocalStorage } from 'node:async_hooks';
import {
  FIRST_POSITION,
  PositionExpired,
  type ChangeJournal,
  type ChangePosition,
  type ReadChanges,
  type RecordedChange,
} from '../../datasources/journal/changes';
import { notTriedError } from '../../datasources/payment-service/service-error';
import { withTimeout } from '../../shared/timeout';
import type { JournalClock } from '../clocks';
import {
  CursorExpired,
  type ChangeFeed,
  type ChangePage,
  type ChangeReader,
  type CursoredChange,
} from './change-feed';
import type { ChangeSignals, Watcher } from './change-signals';
import type { ChangesObserver } from './changes-observer';
import { decodeCursor, encodeCursor } from './cursor';

/** Time limit of a read for a query. */
const READ_TIMEOUT_MS = 2000;
/** Maximum number of changes that one read for a watcher returns, and so of changes in memory per watcher. */
const PAGE_SIZE = 100;
/** Delays in ms before the next read while an earlier database transaction is in progress; each is twice the last. */
const MIN_BEHIND_DELAY_MS = 20;
const MAX_BEHIND_DELAY_MS = 250;
/** Delays in ms before the next read after failed ones, with jitter. */
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 10_000;

/** Time in ms without reads after which it is unknown whether they would still be behind. */
const FORGET_BEHIND_MS = 60_000;

export interface JournalChangeFeedOptions {
  journal: Pick<ChangeJournal, 'readChanges' | 'newestChange'>;
  clock: JournalClock;
  signals: ChangeSignals;
  service: string;
  observer: Pick<ChangesObserver, 'onDelivered'>;
}

const withCursor = (change: RecordedChange): CursoredChange => ({
  ...change,
  cursor: encodeCursor(change.position),
});

/** Translates the error of a read: the journal names a position, the caller a cursor. */
const asCursorError = (error: unknown): unknown =>
  error instanceof PositionExpired ? new CursorExpired(encodeCursor(error.oldest)) : error;

/** The change feed on the journal. */
export class JournalChangeFeed implements ChangeFeed {
  /** Reads in flight, by what they select. Watchers at the same position share them. */
  readonly #reads = new Map<string, Promise<ReadChanges>>();
  /** Runs reads for watchers outside the async context of the request that started them. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();
  /** Reads that did not reach the end of the record: time of the first and of the last, by the monotonic clock. */
  #behind: { since: number; until: number } | undefined;

  constructor(private readonly options: JournalChangeFeedOptions) {}

  /** For how long reads have not reached the newest change, because a database transaction is in progress, in ms. */
  get behindMs(): number {
    const { since, until } = this.#behind ?? { since: 0, until: 0 };
    return this.options.clock.monotonic() - until < FORGET_BEHIND_MS ? until - since : 0;
  }

  async read(reader: ChangeReader, after: string | null, limit: number): Promise<ChangePage> {
    let position = after === null ? null : decodeCursor(after);
    const deadline = performance.now() + READ_TIMEOUT_MS;
    for (;;) {
      const reading = this.#readPage(reader, position, limit);
      const page = await withTimeout(deadline - performance.now(), reading).catch((error: unknown) => {
        throw error instanceof PositionExpired ? asCursorError(error) : unreadableError();
      });
      // A page may be empty although more changes follow, because others are hidden from the reader.
      if (page.changes.length === 0 && page.hasMore) position = page.readUntil;
      else return toChangePage(page, after);
    }
  }

  watch(reader: ChangeReader, after: string | null): AsyncIterableIterator<CursoredChange, undefined> {
    // An invalid cursor is rejected before anything is started.
    const position = after === null ? null : decodeCursor(after);
    const watcher = this.options.signals.watch(reader.channel);
    const start = position ? Promise.resolve(position) : this.#newest(reader, watcher);
    const changes = this.#follow(reader, start, watcher);
    const iterator: AsyncIterableIterator<CursoredChange, undefined> = {
      next: () => this.#outsideRequests(() => changes.next()),
      return: () => {
        watcher.stop();
        void changes.return(undefined);
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /** Yields changes until the watcher is stopped. Reads the next page only when the last one has been consumed. */
  async *#follow(
    reader: ChangeReader,
    start: Promise<ChangePosition>,
    watcher: Watcher,
  ): AsyncGenerator<CursoredChange, undefined> {
    try {
      let position = await start;
      let behindDelay = MIN_BEHIND_DELAY_MS;
      /** Whether the consumer has received everything that was recorded before it began. */
      let isLive = false;
      while (!watcher.isStopped) {
        const seen = watcher.version;
        const page = await this.#readForWatcher(reader, position, watcher);
        if (!page) return undefined;
        for (const change of page.changes) {
          if (isLive) this.options.observer.onDelivered(this.options.clock.now() - change.recordedAt);
          yield withCursor(change);
        }
        position = page.readUntil;
        if (page.changes.length > 0 || page.hasMore) behindDelay = MIN_BEHIND_DELAY_MS;
        if (page.hasMore) continue;
        isLive = true;
        await watcher.waitForWake(seen, page.isBehind ? behindDelay : Infinity);
        behindDelay = page.isBehind ? Math.min(MAX_BEHIND_DELAY_MS, behindDelay * 2) : MIN_BEHIND_DELAY_MS;
      }
      return undefined;
    } finally {
      watcher.stop();
    }
  }

  /** Reads a page; undefined if the watcher was stopped. */
  #readForWatcher(reader: ChangeReader, after: ChangePosition, watcher: Watcher) {
    // A read that began before the last wake-up may lack the change, so it is not shared.
    const key = JSON.stringify([watcher.version, after, reader]);
    return this.#retry(watcher, () => {
      let reading = this.#reads.get(key);
      if (!reading) {
        reading = this.#readPage(reader, after, PAGE_SIZE).finally(() => this.#reads.delete(key));
        this.#reads.set(key, reading);
      }
      return reading;
    });
  }

  /** Returns the position of the newest change; that of the first one if the watcher was stopped. */
  async #newest({ channel }: ChangeReader, watcher: Watcher): Promise<ChangePosition> {
    const { journal, service } = this.options;
    const read = () => this.#outsideRequests(() => journal.newestChange(service, channel));
    return (await this.#retry(watcher, read)) ?? FIRST_POSITION;
  }

  async #readPage(reader: ChangeReader, after: ChangePosition | null, limit: number): Promise<ReadChanges> {
    const { journal, service, clock } = this.options;
    const { channel, creators } = reader;
    const page = await journal.readChanges({ service, channel, creators, after, limit });
    const now = clock.monotonic();
    // A page with changes is progress: on a busy journal a transaction is always in progress.
    const isStalled = page.isBehind && (page.changes.length === 0 || page.hasMore);
    this.#behind = isStalled ? { since: this.#behind?.since ?? now, until: now } : undefined;
    return page;
  }

  /** Repeats a read with exponential backoff until it succeeds or the watcher is stopped (undefined). */
  async #retry<T>(watcher: Watcher, read: () => Promise<T>): Promise<T | undefined> {
    for (let delay = MIN_RETRY_MS; !watcher.isStopped; delay = Math.min(MAX_RETRY_MS, delay * 2)) {
      try {
        return await read();
      } catch (error) {
        if (error instanceof PositionExpired) throw asCursorError(error);
      }
      await watcher.pause(delay * (0.75 + Math.random() / 2));
    }
    return undefined;
  }
}

function toChangePage({ changes, hasMore, readUntil }: ReadChanges, after: string | null): ChangePage {
  const cursored = changes.map(withCursor);
  const endCursor = cursored.at(-1)?.cursor ?? after ?? encodeCursor(readUntil);
  return { changes: cursored, endCursor, hasMore };
}

const unreadableError = (): Error => notTriedError("The gateway's journal cannot be read. Try again later.");
