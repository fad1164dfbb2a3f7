import { bulkhead, type BulkheadPolicy } from 'cockatiel';
import DataLoader from 'dataloader';
import type { LookupKey } from './client';

/** Maximum number of concurrent lookups of one GraphQL operation. */
const MAX_CONCURRENT = 16;

/**
 * Returns the cache key of a lookup: the ids, separated by spaces. The external id is last, because it may contain
 * spaces itself.
 */
const cacheKeyOf = ({ channel, transactionId = '', externalId }: LookupKey): string =>
  externalId === undefined ? `${channel} ${transactionId}` : `${channel} ${transactionId} ${externalId}`;

type LookUp<T> = (key: LookupKey) => Promise<T | null>;

interface SharedLookup<T> {
  channel: string;
  /** Undefined after the end of the lookup, to free memory: V8 may keep a deleted Map entry for a long time. */
  inFlightResult: Promise<T | null> | undefined;
}

/** Lets concurrent lookups of the same ids share one request. Does not cache results. */
export class LookupCoalescer<T> {
  readonly #inFlight = new Map<string, SharedLookup<T>>();

  constructor(private readonly lookUp: LookUp<T>) {}

  load(key: LookupKey): Promise<T | null> {
    const name = cacheKeyOf(key);
    const inFlight = this.#inFlight.get(name)?.inFlightResult;
    if (inFlight) return inFlight;
    const inFlightResult = this.lookUp(key);
    const shared: SharedLookup<T> = { channel: key.channel, inFlightResult };
    const onEnd = (): void => {
      shared.inFlightResult = undefined;
      if (this.#inFlight.get(name) === shared) this.#inFlight.delete(name);
    };
    inFlightResult.then(onEnd, onEnd);
    this.#inFlight.set(name, shared);
    return inFlightResult;
  }

  /**
   * Makes later lookups on a channel send new requests. Must be called after a mutation, because a lookup that is
   * already in flight may return the state from before the mutation.
   */
  invalidateChannel(channel: string): void {
    for (const [name, shared] of this.#inFlight) {
      if (shared.channel === channel) this.#inFlight.delete(name);
    }
  }
}

/** Returns the bulkhead that limits the concurrent lookups of one GraphQL operation. */
export type LookupLimit = () => BulkheadPolicy;

type Loader<T> = DataLoader<LookupKey, T | null, string>;

/** Creates the limit of concurrent lookups that all loaders of one GraphQL operation share. */
export function createLookupLimit(): LookupLimit {
  let limit: BulkheadPolicy | undefined;
  return () => (limit ??= bulkhead(MAX_CONCURRENT, Infinity));
}

/**
 * Creates a DataLoader for one GraphQL operation. The loader calls `lookUp` once per key, because the service cannot
 * look up several transactions in one request.
 */
export function createLookupLoader<T>(lookUp: LookUp<T>, limit: LookupLimit): Loader<T> {
  const loadAll = (keys: readonly LookupKey[]): Promise<(T | null | Error)[]> => {
    // Most operations look up only one transaction, which needs no limit.
    const run = keys.length === 1 ? lookUp : (key: LookupKey) => limit().execute(() => lookUp(key));
    return Promise.all(keys.map((key) => run(key).catch((error: Error) => error)));
  };
  return new DataLoader(loadAll, { cacheKeyFn: cacheKeyOf });
}
