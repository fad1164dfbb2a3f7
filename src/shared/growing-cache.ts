import { LRUCache } from 'lru-cache';

/** Returns an LRU cache of `max` entries. It allocates memory as it fills, unlike LRUCache with its option `max`. */
export const growingCache = <K extends NonNullable<unknown>, V extends NonNullable<unknown>>(
  max: number,
): LRUCache<K, V> => new LRUCache<K, V>({ maxSize: max, sizeCalculation: () => 1 });
