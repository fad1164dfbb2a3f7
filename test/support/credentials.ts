import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The key of a client with all scopes and channels. */
export const CLIENT_KEY = 'pgk_test-client-key-0123456789abcdef';
export const AUTHORIZED = { authorization: `Bearer ${CLIENT_KEY}` } as const;
export const CLIENT_ID = 'service:test';

export const ALL_SCOPES = [
  'payments:read',
  'payments:create',
  'payments:confirm',
  'payouts:read',
  'payouts:create',
  'cards:direct',
];

/** Scopes that are limited to the caller's own transactions. */
export const OWN_SCOPES = ['payments:read:own', 'payments:confirm:own', 'payouts:read:own'];

export interface TestClientKey {
  id: string;
  key: string;
  scopes?: string[];
  channels?: string[];
  label?: string;
  createdAt?: string;
  expiresAt?: string;
}

export const clientKeysText = (clients: readonly TestClientKey[]): string =>
  JSON.stringify(
    clients.map(({ id, key, scopes = ALL_SCOPES, channels = ['*'], ...more }) => ({
      id,
      keySha256: createHash('sha256').update(key).digest('hex'),
      scopes,
      channels,
      ...more,
    })),
  );

const EVERYTHING: TestClientKey = { id: 'test', key: CLIENT_KEY };

/** Writes a CLIENT_KEYS_FILE with these clients and the one with all rights to a temporary folder. Returns its path. */
export function clientKeysFile(...clients: TestClientKey[]): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'paygraph-keys-')), 'clients.json');
  writeFileSync(file, clientKeysText([EVERYTHING, ...clients]));
  return file;
}
