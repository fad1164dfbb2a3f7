import type { ChangeSettings, PollSettings } from '../../config/types';
import type { ChangeNotifier } from '../../datasources/change-notifier/change-notifier';
import type { FollowCount, ObservedState } from '../../datasources/journal/changes';
import type { AttemptKind } from '../../datasources/journal/journal';
import { withTimeout } from '../../shared/timeout';
import type { BackgroundRunner } from '../background';
import type { JournalSession } from '../journal-session';
import type { Snapshot } from '../polling/snapshot';
import type { TransactionFeed } from '../polling/transaction-feed';
import { ChangeRecorder } from './change-recorder';
import { ChangeSignals } from './change-signals';
import type { ChangesObserver } from './changes-observer';
import { FollowCheck } from './follow-check';
import { FollowSchedules } from './follow-schedules';
import { Follower, type ServiceLoad } from './follower';
import { JournalChangeFeed } from './journal-change-feed';
import { ObservationQueue } from './observation-queue';

/** Maximum time in ms that a shutdown waits for observations to be recorded. */
const FLUSH_TIMEOUT_MS = 2000;

interface ChangesOptions {
  session: JournalSession;
  notifier: ChangeNotifier;
  config: { changes: ChangeSettings; watching: PollSettings };
  observer: ChangesObserver;
}

interface StartOptions {
  feeds: Readonly<Record<AttemptKind, Pick<TransactionFeed<Snapshot>, 'poll' | 'onRemoteChange'>>>;
  timeoutMs: number;
  serviceLoad: ServiceLoad;
  background: BackgroundRunner;
}

/** The record of changes of this instance. */
export class Changes {
  readonly recorder: ChangeRecorder;
  readonly feed: JournalChangeFeed;
  readonly #signals: ChangeSignals;
  readonly #queue: ObservationQueue;
  readonly #check: FollowCheck;
  readonly #schedules: FollowSchedules;
  #follower: Follower | undefined;

  constructor(private readonly options: ChangesOptions) {
    const { notifier, config, observer } = options;
    const { journal, clock, service, runtime } = options.session;
    const settings = config.changes;
    this.#schedules = new FollowSchedules(clock, config.watching.schedule, settings);
    this.#signals = new ChangeSignals({ clock, notifier, service });
    this.#queue = new ObservationQueue({
      journal,
      clock,
      runtime,
      onEnd: ({ kind, status, channel }, result) => {
        if (result === 'dropped') observer.onChange(kind, status, false);
        if (result === 'recorded') this.#onRecorded(kind, status, channel);
      },
    });
    const schedules = this.#schedules;
    this.#check = new FollowCheck({
      journal,
      clock,
      runtime,
      onMayBeFollowed: (seen) => this.recorder.onMayBeFollowed(seen),
      onDropped: ({ found }) => observer.onChange(found.kind, found.status, false),
    });
    const [queue, check] = [this.#queue, this.#check];
    this.recorder = new ChangeRecorder({ clock, runtime, service, schedules, queue, check });
    this.feed = new JournalChangeFeed({ journal, clock, signals: this.#signals, service, observer });
  }

  observedByCreate(found: Snapshot): ObservedState {
    return this.recorder.observedByCreate(found);
  }

  /** Handles a create whose outcome, and with it the first change, was recorded. */
  onCreateRecorded(found: Snapshot): void {
    this.recorder.onCreateRecorded(found);
    this.#onRecorded(found.kind, found.status, found.channel);
  }

  /** Handles the changes of other instances, and looks up the followed transactions, unless FOLLOW_DAYS is 0. */
  start({ feeds, ...options }: StartOptions): void {
    const { session, notifier, config, observer } = this.options;
    notifier.subscribe((change) => {
      if (this.#signals.onRemoteChange(change)) return;
      for (const feed of Object.values(feeds)) feed.onRemoteChange(change);
    });
    if (config.changes.followMs === 0) return;
    this.#follower = new Follower({
      journal: session.journal,
      clock: session.clock,
      runtime: session.runtime,
      service: session.service,
      observer,
      settings: config.changes,
      ...options,
      schedules: this.#schedules,
      recorder: this.recorder,
      lookUp: (kind, channel, transactionId) => feeds[kind].poll(channel, transactionId),
    });
  }

  /** State for metrics. */
  readonly state = {
    /** Counts the followed transactions; null if none is looked up. Rejects if the journal cannot be read. */
    followed: async (): Promise<FollowCount | null> =>
      this.#follower ? this.options.session.journal.countFollowed(this.options.session.service) : null,
    record: () => ({
      queued: this.#queue.size + this.#check.size,
      oldestQueuedMs: this.#oldestQueuedMs(),
      behindMs: this.feed.behindMs,
    }),
    now: (): number => this.options.session.clock.now(),
  };

  /** Starts no further lookup. Resolves when those in flight have ended. */
  async stopFollowing(): Promise<void> {
    await this.#follower?.stop();
  }

  /** Records what is queued; gives up after FLUSH_TIMEOUT_MS or at the first failure. */
  async flush(): Promise<void> {
    const flushed = this.#check.flush().then(() => this.#queue.flush());
    // Another lookup shows again a state that is not recorded in time.
    await withTimeout(FLUSH_TIMEOUT_MS, flushed).catch(() => undefined);
  }

  #oldestQueuedMs(): number {
    const now = this.options.session.clock.now();
    return Math.max(0, now - Math.min(this.#queue.oldestAt ?? now, this.#check.oldestAt ?? now));
  }

  #onRecorded(kind: AttemptKind, status: string, channel: string): void {
    this.options.observer.onChange(kind, status, true);
    this.#signals.onRecorded(channel);
  }
}
