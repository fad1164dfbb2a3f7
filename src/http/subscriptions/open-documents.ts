import type { DocumentNode } from 'graphql';
import { memorySizeOf } from '../limits/document-cache';
import { QuotaLimiter } from '../limits/quota-limiter';

/** Maximum memory of the documents of all open subscriptions. Subscriptions with the same document share it. */
const MAX_OPEN_DOCUMENT_BYTES = 128 * 1024 * 1024;
/** Maximum memory of the documents that one caller was the first to use. Enough for 100 ordinary documents. */
const MAX_OPEN_DOCUMENT_BYTES_PER_CALLER = 8 * 1024 * 1024;

/** Limits the memory of the documents that open subscriptions use. Counts each document once. */
export class OpenDocuments {
  readonly #entryByDocument = new Map<DocumentNode, { openCount: number; releaseQuota: () => void }>();
  readonly #quota: QuotaLimiter;

  /** @param onRejected called for each subscription that is rejected because of a limit */
  constructor(onRejected: () => void) {
    this.#quota = new QuotaLimiter({
      maxTotal: MAX_OPEN_DOCUMENT_BYTES,
      maxPerCaller: MAX_OPEN_DOCUMENT_BYTES_PER_CALLER,
      unit: 'bytes of different documents in open subscriptions',
      onRejected,
    });
  }

  /**
   * Counts a subscription with this document. Throws a RequestError (RATE_LIMITED) if no open subscription has the
   * document and a limit is reached. Returns a function that must be called once, when the subscription ends.
   */
  acquire(document: DocumentNode, callerId: string): () => void {
    const entry = this.#entryByDocument.get(document) ?? {
      openCount: 0,
      releaseQuota: this.#quota.acquire(callerId, memorySizeOf(document)),
    };
    entry.openCount += 1;
    this.#entryByDocument.set(document, entry);
    return () => {
      entry.openCount -= 1;
      if (entry.openCount > 0) return;
      this.#entryByDocument.delete(document);
      entry.releaseQuota();
    };
  }
}
