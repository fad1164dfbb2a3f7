import { bulkhead, type BulkheadPolicy } from 'cockatiel';
import DataLoader from 'dataloader';
import type { LookupKey } from './client';

/** Maximum number of concurrent lookups of one GraphQL operation. */
const MAX_CONCURRENT = 16;

/** Returns a string that identifies a lookup. Only the external id can contain spaces, so it comes last. */
const cacheKeyOf = ({ channel, transactionId = '', externalId }: LookupKey): string =>
  externalId === undefined ? `${channel} ${transactionId}` : `${channel} ${transactionId} ${externalId}`;

type LookUp<T> = (key: LookupKey) => Promise<T | null>;

interface SharedLookup<T> {
  channel: string;
  /** Undefined after the end of the lookup: V8 may keep a deleted Map entry, and so its result, for a long time. */
  inFlightResult: Promise<T | null> | undefined;
}

/** Coalesces identical concurrent lookups into one request. Does not cache results. */
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

  /** Must be called after a mutation on a channel: later lookups no longer share lookups that started before it. */
  invalidateChannel(channel: string): void {
    for (const [name, shared] of this.#inFlight) {
      if (shared.channel === channel) this.#inFlight.delete(name);
    }
  }
}

/** Returns the bulkhead that limits the concurrent lookups of one GraphQL operation. */
export type LookupLimit = () => BulkheadPolicy;

type Loader<T> = DataLoader<LookupKey, T | null, string>;

/** Creates a LookupLimit for all loaders of one GraphQL operation. Its first call creates the bulkhead. */
export function lookupLimit(): LookupLimit {
  let limit: BulkheadPolicy | undefined;
  return () => (limit ??= bulkhead(MAX_CONCURRENT, Infinity));
}

/** Creates a DataLoader for one GraphQL operation. Sends a request per key, because the service has no bulk lookup. */
export function createLoader<T>(lookUp: LookUp<T>, limit: LookupLimit): Loader<T> {
  const loadAll = (keys: readonly LookupKey[]): Promise<(T | null | Error)[]> => {
    // Most operations look up one transaction. They need no limit.
    const run = keys.length === 1 ? lookUp : (key: LookupKey) => limit().execute(() => lookUp(key));
    return Promise.all(keys.map((key) => run(key).catch((error: Error) => error)));
  };
  return new DataLoader(loadAll, { cacheKeyFn: cacheKeyOf });
}
