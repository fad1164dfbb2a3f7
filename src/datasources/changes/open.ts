import type { Clock } from '../../clock';
import type { ChangeFeed } from './changes';
import { PostgresChanges } from './postgres-changes';

/** A database in a file is one instance's own: there is nobody else to tell. */
const NOBODY: ChangeFeed = {
  reachesOthers: false,
  tell: () => undefined,
  onChange: () => undefined,
  close: () => Promise.resolve(),
};

/**
 * Opens the way to the other instances that use the same database. One that cannot be reached is tried again for as
 * long as the feed is open.
 * @param onReach hears `false` when the others cannot be reached any more, and `true` when they can be again
 */
export function openChanges(
  databaseUrl: string,
  clock: Clock,
  onReach?: (reached: boolean) => void,
): ChangeFeed {
  return databaseUrl.startsWith('file:') ? NOBODY : new PostgresChanges(databaseUrl, clock, onReach);
}
