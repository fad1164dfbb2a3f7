import type { AttemptKind } from '../../datasources/journal/journal';
import type { PollResult } from '../background';

/**
 * Result of a due transaction. `postponed`: another lookup of this instance has just shown its state, so none was sent.
 * `expired`: FOLLOW_DAYS have passed, and it is looked up no more.
 */
export type FollowResult = PollResult | 'postponed' | 'expired';

/** Observes the record of changes for metrics. The methods must return quickly and must not throw. */
export interface ChangesObserver {
  /** Called when this instance has recorded a change, or dropped an observation that it could not record. */
  onChange(kind: AttemptKind, status: string, isRecorded: boolean): void;
  onFollow(kind: AttemptKind, result: FollowResult): void;
  /** @param ageMs time since the change was recorded, when a subscriber gets it */
  onDelivered(ageMs: number): void;
}
