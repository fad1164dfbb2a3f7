import { bulkhead, type BulkheadPolicy } from 'cockatiel';
import DataLoader from 'dataloader';
import type { LookupKey } from './client';

const MAX_AT_A_TIME = 16;

/** What the client chose stands last: nothing in it can pass for another question. */
const nameOf = ({ channel, transactionId = '', externalId }: LookupKey): string =>
  externalId === undefined ? `${channel} ${transactionId}` : `${channel} ${transactionId} ${externalId}`;

type LookUp<T> = (key: LookupKey) => Promise<T | null>;

/**
 * Identical lookups in flight share one call, whichever operations ask: a caller that leaves does not cancel it for
 * the others, and nothing is kept once the answer has arrived.
 */
export class LookupCoalescer<T> {
  readonly #inFlight = new Map<string, Shared<T>>();

  constructor(private readonly lookUp: LookUp<T>) {}

  load(key: LookupKey): Promise<T | null> {
    const name = nameOf(key);
    const known = this.#inFlight.get(name)?.call;
    if (known) return known;
    const call = this.lookUp(key);
    const shared: Shared<T> = { channel: key.channel, call };
    const ended = (): void => {
      shared.call = undefined;
      if (this.#inFlight.get(name) === shared) this.#inFlight.delete(name);
    };
    call.then(ended, ended);
    this.#inFlight.set(name, shared);
    return call;
  }

  /** Something on this channel has changed: who asks from now on does not get an answer to an earlier question. */
  invalidateChannel(channel: string): void {
    for (const [name, shared] of this.#inFlight) {
      if (shared.channel === channel) this.#inFlight.delete(name);
    }
  }
}

interface Shared<T> {
  channel: string;
  /** Until it has ended: V8 may keep what once stood in a Map for long after it was deleted. */
  call: Promise<T | null> | undefined;
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A lookup failed.', { cause: error });

/** Every result in its place; a failure stands where its result would. */
const loadAll = <T>(
  keys: readonly LookupKey[],
  limit: LookupLimit,
  lookUp: LookUp<T>,
): Promise<(T | null | Error)[]> => {
  const [only, ...others] = keys;
  // Most operations look one transaction up: it needs not wait for its turn.
  if (only && others.length === 0)
    return lookUp(only).then(
      (found) => [found],
      (error: unknown) => [asError(error)],
    );
  const limited = limit();
  return Promise.all(keys.map((key) => limited.execute(() => lookUp(key)).catch(asError)));
};

export type LookupLimit = ReturnType<typeof lookupLimit>;

export type Loader<T> = DataLoader<LookupKey, T | null, string>;

/** What all loaders of one operation share: at most 16 lookups at a time. Made when there are several at once. */
export function lookupLimit(): () => BulkheadPolicy {
  let limit: BulkheadPolicy | undefined;
  return () => (limit ??= bulkhead(MAX_AT_A_TIME, Infinity));
}

/** The lookups of one GraphQL operation: one call per distinct transaction. The service has no bulk lookup. */
export const createLoader = <T>(lookUp: LookUp<T>, limit: LookupLimit): Loader<T> =>
  new DataLoader((keys) => loadAll(keys, limit, lookUp), { cacheKeyFn: nameOf });
