import type { Clock } from '../../clock';
import type { Siblings } from '../../siblings';
import type { ChangeFeed } from './changes';
import { PostgresChanges } from './postgres-changes';
import { SiblingChanges } from './sibling-changes';

/** A database in a file is one instance's own: there is nobody else to tell. */
const NOBODY: ChangeFeed = {
  reachesOthers: false,
  hearsOthers: false,
  listen: () => () => undefined,
  tell: () => undefined,
  onChange: () => undefined,
  close: () => Promise.resolve(),
};

interface ChangesOptions {
  databaseUrl: string;
  clock: Clock;
  /** Hears `false` when the others cannot be reached any more, and `true` when they can be again. */
  onReach?: ((reached: boolean) => void) | undefined;
  /** The other workers, where this is one of several. */
  siblings?: Siblings | undefined;
}

/**
 * Opens the way to the other instances that use the same database. One that cannot be reached is tried again for as
 * long as the feed is open.
 */
export function openChanges({ databaseUrl, clock, onReach, siblings }: ChangesOptions): ChangeFeed {
  if (!databaseUrl.startsWith('file:')) return new PostgresChanges(databaseUrl, clock, onReach);
  return siblings ? new SiblingChanges(siblings, clock) : NOBODY;
}
