import { bulkhead, type BulkheadPolicy } from 'cockatiel';
import DataLoader from 'dataloader';
import type { LookupKey } from './client';

const MAX_CONCURRENT = 16;

/** Unambiguous: only the external id, which comes last, may contain spaces. */
const nameOf = ({ channel, transactionId = '', externalId }: LookupKey): string =>
  externalId === undefined ? `${channel} ${transactionId}` : `${channel} ${transactionId} ${externalId}`;

type LookUp<T> = (key: LookupKey) => Promise<T | null>;

/** Identical lookups in flight share one request. A caller that leaves does not cancel it; nothing is cached. */
export class LookupCoalescer<T> {
  readonly #inFlight = new Map<string, SharedLookup<T>>();

  constructor(private readonly lookUp: LookUp<T>) {}

  load(key: LookupKey): Promise<T | null> {
    const name = nameOf(key);
    const known = this.#inFlight.get(name)?.result;
    if (known) return known;
    const result = this.lookUp(key);
    const shared: SharedLookup<T> = { channel: key.channel, result };
    const onEnd = (): void => {
      shared.result = undefined;
      if (this.#inFlight.get(name) === shared) this.#inFlight.delete(name);
    };
    result.then(onEnd, onEnd);
    this.#inFlight.set(name, shared);
    return result;
  }

  /** Stops sharing lookups in flight of a channel: their results may be older than a change. */
  invalidateChannel(channel: string): void {
    for (const [name, shared] of this.#inFlight) {
      if (shared.channel === channel) this.#inFlight.delete(name);
    }
  }
}

interface SharedLookup<T> {
  channel: string;
  /** Cleared at the end: V8 may retain a deleted Map entry for long. */
  result: Promise<T | null> | undefined;
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A lookup failed.', { cause: error });

export type LookupLimit = () => BulkheadPolicy;

export type Loader<T> = DataLoader<LookupKey, T | null, string>;

/** Limit of concurrent lookups that all loaders of one operation share; created on first use. */
export function lookupLimit(): LookupLimit {
  let limit: BulkheadPolicy | undefined;
  return () => (limit ??= bulkhead(MAX_CONCURRENT, Infinity));
}

/** Loader of one GraphQL operation: one request per distinct transaction, as the service has no bulk lookup. */
export function createLoader<T>(lookUp: LookUp<T>, limit: LookupLimit): Loader<T> {
  const loadAll = (keys: readonly LookupKey[]): Promise<(T | null | Error)[]> => {
    // Most operations look up one transaction: no limit is needed.
    const run = keys.length === 1 ? lookUp : (key: LookupKey) => limit().execute(() => lookUp(key));
    return Promise.all(keys.map((key) => run(key).catch(asError)));
  };
  return new DataLoader(loadAll, { cacheKeyFn: nameOf });
}
