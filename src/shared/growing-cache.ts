import { LRUCache } from 'lru-cache';

/** Returns a cache of `max` entries that takes memory as it fills; with `max`, an LRUCache takes all of it at once. */
export const growingCache = <K extends NonNullable<unknown>, V extends NonNullable<unknown>>(
  max: number,
): LRUCache<K, V> => new LRUCache<K, V>({ maxSize: max, sizeCalculation: () => 1 });
