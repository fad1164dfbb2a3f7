import { parse } from 'graphql';
import { checkDocument } from '../../src/http/limits/document-limits';
import { createDocumentCache } from '../../src/http/limits/document-cache';
import { SubscriptionDocuments } from '../../src/http/subscriptions/subscription-documents';
import { schema } from '../methods/selection';
import { CHANNEL } from '../support/gateway';
import { heapInUse } from './support/resources';

/** A document of 8 KB that takes more than 1 MB when parsed: it consists of nested inline fragments. */
const denseDocument = (place: number): string =>
  `subscription S${place} { paymentUpdated(channel: "${CHANNEL}", transactionId: "${CHANNEL}") { ${`${'...{'.repeat(44)}__typename${'}'.repeat(44)}`.repeat(35)} } }`;

describe('A cache of parsed documents', () => {
  test('takes at most about 32 MB, whatever the documents consist of', () => {
    expect(checkDocument(denseDocument(0))).toEqual({ ok: true });
    const documents = new SubscriptionDocuments(schema, true);
    documents.parseAndValidate(denseDocument(0), undefined);
    const before = heapInUse();
    for (let place = 1; place <= 100; place += 1) documents.parseAndValidate(denseDocument(place), undefined);
    expect(heapInUse() - before).toBeLessThan(40);
  });

  test('keeps hundreds of ordinary documents', () => {
    const cache = createDocumentCache();
    const documentOf = (place: number): string =>
      `query Q${place}($c: UUID!, $id: UUID!) { payment(channel: $c, transactionId: $id) { ... on PaymentResource { status amount { currency value } } } }`;
    for (let place = 0; place < 900; place += 1) cache.set(documentOf(place), parse(documentOf(place)));
    expect(cache.has(documentOf(0))).toBe(true);
  });
});
