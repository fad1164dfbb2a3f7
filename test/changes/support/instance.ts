import { randomUUID } from 'node:crypto';
import { ChangeSignals } from '../../../src/core/changes/change-signals';
import { ChangeFeed, type ChangePage, type ChangeReader } from '../../../src/core/changes/change-feed';
import { ClockGuard, JournalClock } from '../../../src/core/clocks';
import {
  createNotifier,
  type ChangeNotifier,
} from '../../../src/datasources/change-notifier/change-notifier';
import type { ChangePosition, ChangeRange, RecordedChange } from '../../../src/datasources/journal/changes';
import type { Journal } from '../../../src/datasources/journal/journal';
import { systemClock } from '../../../src/shared/clock';
import { systemRuntime } from '../../../src/shared/runtime';
import { AdvancingClock } from '../../../src/sandbox/clock';
import { until } from '../../support/latch';
import { COMPLETED, CREATED, created, observationOf } from '../../journal/support/observations';

/** The part of a gateway that records changes and watches them. */
export class Instance {
  /** Ranges that were read from the journal. */
  readonly reads: ChangeRange[] = [];
  /** Set to reject reads. */
  failure: Error | undefined;
  readonly clock: AdvancingClock;
  /** Number of notifications from other instances. */
  notified = 0;
  readonly feed: ChangeFeed;
  readonly #signals: ChangeSignals;
  readonly #notifier: ChangeNotifier;

  constructor(
    readonly journal: Journal,
    readonly service: string,
    { url = 'file:', clock = new AdvancingClock(systemClock) }: { url?: string; clock?: AdvancingClock } = {},
  ) {
    this.clock = clock;
    this.#notifier = createNotifier({ databaseUrl: url, clock: systemClock });
    const journalClock = new JournalClock(
      journal,
      this.clock,
      new ClockGuard(this.clock, 0, () => undefined),
    );
    this.#signals = new ChangeSignals({
      clock: this.clock,
      notifier: this.#notifier,
      runtime: systemRuntime,
      service,
    });
    this.#notifier.subscribe((change) => {
      this.notified += 1;
      this.#signals.onRemoteChange(change);
    });
    const counted = {
      readChanges: (range: ChangeRange) => {
        this.reads.push(range);
        return this.failure ? Promise.reject(this.failure) : journal.readChanges(range);
      },
      newestChange: journal.newestChange.bind(journal),
    };
    const observer = { onDelivered: () => undefined };
    const signals = this.#signals;
    this.feed = new ChangeFeed({
      journal: counted,
      clock: journalClock,
      runtime: systemRuntime,
      signals,
      service,
      observer,
    });
  }

  /** Records a payment that is created and completed: two changes. Returns its id. */
  async pay(channel: string, client = 'shop', pause = Promise.resolve()): Promise<string> {
    const payment = await created(this.journal, { service: this.service, channel, client }, CREATED);
    this.#signals.onRecorded(channel);
    await pause;
    await this.journal.recordObservation(observationOf(payment, COMPLETED));
    this.#signals.onRecorded(channel);
    return payment.transactionId;
  }

  close(): Promise<void> {
    return this.#notifier.close();
  }
}

export const readerOf = (channel: string): ChangeReader => ({
  channel,
  creators: { payment: null, payout: null },
});

export const newChannel = (): string => randomUUID();

/** Returns the next `count` changes of a watcher, or those until it ends. */
export async function take(
  watching: AsyncIterableIterator<RecordedChange, undefined>,
  count: number,
): Promise<RecordedChange[]> {
  const changes: RecordedChange[] = [];
  while (changes.length < count) {
    const { value } = await watching.next();
    if (!value) break;
    changes.push(value);
  }
  return changes;
}

export const textOf = ({ transactionId, status }: RecordedChange): string => `${transactionId} ${status}`;

/**
 * Reads every change of a channel page by page, once there are `count`. On PostgreSQL a change is not readable while an
 * earlier transaction of any database of the server is in progress.
 */
export const readAll = (instance: Instance, channel: string, count: number): Promise<RecordedChange[]> =>
  until(
    () => readPages(instance, channel),
    ({ length }) => length >= count,
  );

async function readPages(instance: Instance, channel: string): Promise<RecordedChange[]> {
  const changes: RecordedChange[] = [];
  for (let after: ChangePosition | null = null; ;) {
    const page: ChangePage = await instance.feed.read(readerOf(channel), after, 100);
    changes.push(...page.changes);
    after = page.end;
    if (!page.hasMore) return changes;
  }
}
