import type { ChangeSettings, PollSettings } from '../../config/types';
import type { ChangeNotifier } from '../../datasources/change-notifier/change-notifier';
import type { FollowedCounts } from '../../datasources/journal/changes';
import type { TransactionKind } from '../../datasources/journal/journal';
import { withTimeout } from '../../shared/timeout';
import type { BackgroundObserver, RunInBackgroundSpan } from '../background';
import type { JournalSession } from '../journal-session';
import type { TransactionFeed } from '../polling/transaction-feed';
import { ChangeFeed } from './change-feed';
import { ChangeRecorder } from './change-recorder';
import { ChangeSignals } from './change-signals';
import { TransactionFollower, type ServiceAvailability } from './transaction-follower';
import type { TransactionResource } from '../../schema/transaction';

/** Maximum time in ms that a shutdown waits for observations to be recorded. */
const FLUSH_TIMEOUT_MS = 2000;

interface ChangeTrackingOptions {
  journalSession: JournalSession;
  notifier: ChangeNotifier | null;
  config: { changeSettings: ChangeSettings; pollSettings: PollSettings };
  observer: Pick<BackgroundObserver, 'onRecordedOrDropped' | 'onFollowLookup' | 'onChangeDelivered'>;
}

interface TrackingStartOptions {
  transactionFeeds: Readonly<
    Record<TransactionKind, Pick<TransactionFeed<TransactionResource>, 'lookUpAsPoll' | 'onRemoteChange'>>
  >;
  requestTimeoutMs: number;
  serviceAvailability: ServiceAvailability;
  runInSpan: RunInBackgroundSpan;
}

/** Connects the parts of the record of changes (docs/changes.md): recorder, feed for readers, signals and follower. */
export class ChangeTracking {
  readonly recorder: ChangeRecorder;
  readonly changeFeed: ChangeFeed;
  readonly #signals: ChangeSignals;
  #follower: TransactionFollower | undefined;

  constructor(private readonly options: ChangeTrackingOptions) {
    const { journalSession, notifier, config, observer } = options;
    const signals = new ChangeSignals(journalSession, notifier);
    this.#signals = signals;
    this.recorder = new ChangeRecorder(journalSession, config, ({ kind, status, channel }, isRecorded) => {
      observer.onRecordedOrDropped(kind, status, isRecorded);
      if (isRecorded) signals.signalChange(channel);
    });
    this.changeFeed = new ChangeFeed(journalSession, signals, observer);
  }

  /** Subscribes to other instances' messages. Starts the lookups of followed transactions, unless FOLLOW_DAYS is 0. */
  start({ transactionFeeds, ...options }: TrackingStartOptions): void {
    const { journalSession, notifier, config, observer } = this.options;
    notifier?.setListener((notification) => {
      if (this.#signals.onRemoteChange(notification)) return;
      for (const transactionFeed of Object.values(transactionFeeds))
        transactionFeed.onRemoteChange(notification);
    });
    if (config.changeSettings.followAfterCreateMs === 0) return;
    this.#follower = new TransactionFollower({
      journalSession,
      config,
      observer,
      ...options,
      recorder: this.recorder,
      lookUp: (kind, channel, transactionId) => transactionFeeds[kind].lookUpAsPoll(channel, transactionId),
    });
  }

  /** Sources of the metrics of change tracking, read at each scrape. */
  readonly metrics = {
    /** Counts the followed transactions; null if FOLLOW_DAYS is 0. Rejects if the journal cannot be read. */
    followed: async (): Promise<FollowedCounts | null> =>
      this.#follower
        ? this.options.journalSession.journal.countFollowed(this.options.journalSession.serviceName)
        : null,
    backlog: () => ({ ...this.recorder.backlog(), stalledMs: this.changeFeed.stalledMs }),
    now: (): number => this.options.journalSession.clock.now(),
  };

  /** Stops the lookups of followed transactions. Resolves when those in flight have ended. */
  async stopFollowing(): Promise<void> {
    await this.#follower?.stop();
  }

  /** Records the queued observations. Gives up after FLUSH_TIMEOUT_MS or if the journal fails. Never rejects. */
  async flush(): Promise<void> {
    // If a state is not recorded in time, a later lookup finds it, or the state that has followed it.
    await withTimeout(FLUSH_TIMEOUT_MS, this.recorder.flush()).catch(() => undefined);
  }
}
