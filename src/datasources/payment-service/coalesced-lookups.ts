import type { LookupKey } from './client';

/** Returns a lookup's cache key: space-separated ids. The external id is last, because it may contain spaces. */
export const lookupCacheKey = ({ channel, transactionId = '', externalId }: LookupKey): string =>
  externalId === undefined ? `${channel} ${transactionId}` : `${channel} ${transactionId} ${externalId}`;

interface LookupEntry<T> {
  channel: string;
  /** Undefined after the end of the lookup, to free memory: V8 may keep a deleted Map entry for a long time. */
  inFlightResult: Promise<T | null> | undefined;
}

/** Lets concurrent lookups of the same ids share one request. Does not cache results. */
export class LookupCoalescer<T> {
  readonly #entryByCacheKey = new Map<string, LookupEntry<T>>();

  constructor(private readonly lookUp: (lookupKey: LookupKey) => Promise<T | null>) {}

  load(lookupKey: LookupKey): Promise<T | null> {
    const cacheKey = lookupCacheKey(lookupKey);
    const existingResult = this.#entryByCacheKey.get(cacheKey)?.inFlightResult;
    if (existingResult) return existingResult;
    const inFlightResult = this.lookUp(lookupKey);
    const entry: LookupEntry<T> = { channel: lookupKey.channel, inFlightResult };
    const removeSharedLookup = (): void => {
      entry.inFlightResult = undefined;
      if (this.#entryByCacheKey.get(cacheKey) === entry) this.#entryByCacheKey.delete(cacheKey);
    };
    inFlightResult.then(removeSharedLookup, removeSharedLookup);
    this.#entryByCacheKey.set(cacheKey, entry);
    return inFlightResult;
  }

  /**
   * Makes later lookups on a channel send new requests. Must be called after a mutation, because a lookup that is
   * already in flight may return the state from before the mutation.
   */
  invalidateChannel(channel: string): void {
    for (const [cacheKey, entry] of this.#entryByCacheKey) {
      if (entry.channel === channel) this.#entryByCacheKey.delete(cacheKey);
    }
  }
}
