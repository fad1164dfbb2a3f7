// The only client of the benchmarks, with all scopes.
import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const CLIENT_KEY = 'pgk_bench-client-key';

/** Returns the path of a file that does not exist yet, in a new temporary folder that is not removed. */
export const temporaryFile = (name) => path.join(mkdtempSync(path.join(tmpdir(), 'paygraph-bench-')), name);

/** Writes a CLIENT_KEYS_FILE with this client and returns its path. */
export function clientKeysFile() {
  const file = temporaryFile('clients.json');
  const keySha256 = createHash('sha256').update(CLIENT_KEY).digest('hex');
  const scopes = [
    'payments:read',
    'payments:create',
    'payments:confirm',
    'payouts:read',
    'payouts:create',
    'cards:direct',
  ];
  writeFileSync(file, JSON.stringify([{ id: 'bench', keySha256, scopes, channels: ['*'] }]));
  return file;
}
