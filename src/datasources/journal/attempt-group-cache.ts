import { LRUCache } from 'lru-cache';
import type { NewAttempt } from './journal';

type GroupOfAttempt = Pick<NewAttempt, 'service' | 'client' | 'channel' | 'kind'>;

const keyOf = ({ service, client, channel, kind }: GroupOfAttempt): string =>
  JSON.stringify([service, client, channel, kind]);

/**
 * Cache of attempt groups that are known to exist. A group is a row of the table `attempt_groups`: the service, client,
 * channel and kind that attempts share. An insert need not first create a group that is in the cache.
 */
export class AttemptGroupCache {
  readonly #keys = new LRUCache<string, true>({ max: 10_000 });

  has(attempt: GroupOfAttempt): boolean {
    return this.#keys.has(keyOf(attempt));
  }

  add(attempt: GroupOfAttempt): void {
    this.#keys.set(keyOf(attempt), true);
  }
}
