import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './cleanup';

export { temporaryFolder };

/** A file of that text, or of those bytes. */
export function fileOf(text: string | Buffer): string {
  const file = path.join(temporaryFolder(), 'manifest.json');
  writeFileSync(file, text);
  return file;
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Entry {
  id?: string;
  name?: string;
  body: string;
}

/** The text of a manifest in Apollo's format; an id is the hash of the body unless the test gives one. */
export const apolloManifest = (...operations: readonly Entry[]): string =>
  JSON.stringify({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: operations.map(({ body, id = sha256(body), name = 'Payment' }) => ({
      id,
      name,
      type: 'query',
      body,
    })),
  });

/** What @apollo/generate-persisted-query-manifest 1.4.0 writes for the documents in shop, with a line break at its end. */
export const APOLLO_GENERATED = path.join(__dirname, '../gateway/fixtures/shop-apollo.json');
/** What the client preset of graphql-codegen, 6.2.0, writes for the same documents with `persistedDocuments: true`. */
export const CODEGEN_GENERATED = path.join(__dirname, '../gateway/fixtures/shop-codegen.json');
/** The documents of a frontend. */
export const SHOP = path.join(__dirname, '../gateway/fixtures/shop');
