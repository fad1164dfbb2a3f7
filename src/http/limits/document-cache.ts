import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

/** Maximum memory of one cache of parsed documents, as estimated by memorySizeOf(). */
const MAX_CACHE_BYTES = 32 * 1024 * 1024;
/** Memory of a token with its location, and of its share of the nodes of the document. Measured with graphql-js 16. */
const BYTES_PER_TOKEN = 300;

/**
 * Estimates the memory of a parsed document with locations, in bytes. Counts tokens, because a document that consists
 * of inline fragments takes 150 times the memory of its text.
 */
export function memorySizeOf({ loc }: DocumentNode): number {
  let tokenCount = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) tokenCount += 1;
  return tokenCount * BYTES_PER_TOKEN + 2 * (loc?.source.body.length ?? 0);
}

/** Creates a cache of documents that were parsed with locations. The cache is limited by their estimated memory. */
export const createDocumentCache = (): LRUCache<string, DocumentNode> =>
  new LRUCache({ maxSize: MAX_CACHE_BYTES, sizeCalculation: memorySizeOf });
