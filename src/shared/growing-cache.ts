import { LRUCache } from 'lru-cache';

/** Creates an LRU cache of `max` entries that allocates memory as it fills. LRUCache({ max }) allocates all at once. */
export const growingCache = <K extends NonNullable<unknown>, V extends NonNullable<unknown>>(
  max: number,
): LRUCache<K, V> => new LRUCache<K, V>({ maxSize: max, sizeCalculation: () => 1 });
