import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './cleanup';

export { temporaryFolder };

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

/** Returns a manifest in Apollo's format; the default id of an operation is the hash of its body. */
export const apolloManifest = (...operations: readonly Entry[]): string =>
  JSON.stringify({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: operations.map(({ body, id = sha256(body), name = 'Payment' }) => {
      return { id, name, type: 'query', body };
    }),
  });

/** Output of @apollo/generate-persisted-query-manifest 1.4.0 for the documents in shop, plus a line break. */
export const APOLLO_GENERATED = path.join(__dirname, '../gateway/fixtures/shop-apollo.json');
/** Output of graphql-codegen's client preset 6.2.0 for the same documents with `persistedDocuments: true`. */
export const CODEGEN_GENERATED = path.join(__dirname, '../gateway/fixtures/shop-codegen.json');
export const SHOP = path.join(__dirname, '../gateway/fixtures/shop');
