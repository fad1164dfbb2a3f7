import type { ChangeSettings, PollSettings } from '../../config/types';
import type { Clock } from '../../shared/clock';
import { nextPollDelay, type PollCategory } from '../polling/poll-schedule';

/** Beyond the poll intervals, a transaction is looked up each time this share of the time since its last change has passed. */
const SHARE_OF_AGE = 1 / 60;

/** When followed transactions are due, by the poll intervals of subscriptions. Times are in journal time. */
export class FollowSchedules {
  constructor(
    private readonly clock: Clock,
    private readonly intervals: PollSettings['schedule'],
    private readonly settings: ChangeSettings,
  ) {}

  /** Returns when a transaction is due that has just changed; null if the gateway does not look it up. */
  afterChange(category: PollCategory): number | null {
    if (category === 'done' || this.settings.followMs === 0) return null;
    return this.clock.now() + this.delay(category, 0, 0);
  }

  /** Returns the delay in ms until the next lookup. @param failures number of consecutive failed lookups */
  delay(category: Exclude<PollCategory, 'done'>, sinceChangeMs: number, failures: number): number {
    const age = Math.max(0, sinceChangeMs);
    return Math.max(nextPollDelay(this.intervals[category], age, failures), Math.round(age * SHARE_OF_AGE));
  }

  /** Whether the gateway stops to look up a transaction. @param createdAt when its create was recorded */
  isExpired(createdAt: number): boolean {
    return this.clock.now() - createdAt >= this.settings.followMs;
  }
}
