import { bulkhead, type BulkheadPolicy } from 'cockatiel';
import DataLoader from 'dataloader';
import type { LookupKey } from './client';

const MAX_CONCURRENT = 16;

/** Returns a unique key for a lookup. Only the external id can contain spaces, so it comes last. */
const cacheKeyOf = ({ channel, transactionId = '', externalId }: LookupKey): string =>
  externalId === undefined ? `${channel} ${transactionId}` : `${channel} ${transactionId} ${externalId}`;

type LookUp<T> = (key: LookupKey) => Promise<T | null>;

interface SharedLookup<T> {
  channel: string;
  /** Cleared when the lookup ends, because V8 may retain a deleted Map entry for a long time. */
  inFlightResult: Promise<T | null> | undefined;
}

/** Coalesces identical lookups in flight into one request, which callers cannot cancel. Results are not cached. */
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

  /** Stops sharing the lookups in flight of a channel, because their results may be older than a change. */
  invalidateChannel(channel: string): void {
    for (const [name, shared] of this.#inFlight) {
      if (shared.channel === channel) this.#inFlight.delete(name);
    }
  }
}

export type LookupLimit = () => BulkheadPolicy;

type Loader<T> = DataLoader<LookupKey, T | null, string>;

/** Creates the limit of concurrent lookups for all loaders of one operation. */
export function lookupLimit(): LookupLimit {
  let limit: BulkheadPolicy | undefined;
  return () => (limit ??= bulkhead(MAX_CONCURRENT, Infinity));
}

/** Creates a loader for one GraphQL operation. Sends one request per key, because the service has no bulk lookup. */
export function createLoader<T>(lookUp: LookUp<T>, limit: LookupLimit): Loader<T> {
  const loadAll = (keys: readonly LookupKey[]): Promise<(T | null | Error)[]> => {
    // Most operations look up one transaction, for which no limit is needed.
    const run = keys.length === 1 ? lookUp : (key: LookupKey) => limit().execute(() => lookUp(key));
    return Promise.all(keys.map((key) => run(key).catch((error: Error) => error)));
  };
  return new DataLoader(loadAll, { cacheKeyFn: cacheKeyOf });
}
