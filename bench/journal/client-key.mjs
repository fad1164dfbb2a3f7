// The one client of the benchmarks, which may do everything.
import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const CLIENT_KEY = 'pgk_bench-client-key';

/** A path at which there is no file yet; left to the operating system to remove. */
export const temporaryFile = (name) => path.join(mkdtempSync(path.join(tmpdir(), 'paygraph-bench-')), name);

/** A CLIENT_KEYS_FILE that knows it. */
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
