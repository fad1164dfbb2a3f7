import { LRUCache } from 'lru-cache';

/** Returns a cache of `max` entries that allocates memory as it fills. LRUCache's `max` allocates all at creation. */
export const growingCache = <K extends NonNullable<unknown>, V extends NonNullable<unknown>>(
  max: number,
): LRUCache<K, V> => new LRUCache<K, V>({ maxSize: max, sizeCalculation: () => 1 });
