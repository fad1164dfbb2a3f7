import { LRUCache } from 'lru-cache';

/**
 * Creates an LRU cache of at most `maxEntries` entries that allocates memory while it fills. LRUCache({ max }) would
 * allocate the memory for all entries immediately.
 */
export const lazyLruCache = <K extends NonNullable<unknown>, V extends NonNullable<unknown>>(
  maxEntries: number,
): LRUCache<K, V> => new LRUCache<K, V>({ maxSize: maxEntries, sizeCalculation: () => 1 });
