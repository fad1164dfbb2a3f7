import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const open: { close(): Promise<void> }[] = [];
const folders: string[] = [];

// `npm run attack` and `npm run chaos` run without jest, and close everything themselves.
if (typeof afterAll === 'function')
  afterAll(async () => {
    for (const part of open.splice(0).reverse()) await part.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

/** Closes `part` when the test file ends, in reverse order of registration. Returns `part`. */
export const closeAfterTests = <T extends { close(): Promise<void> }>(part: T): T => {
  open.push(part);
  return part;
};

/** Creates a folder that is removed when the test file ends. Returns its path. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(path.join(parent, 'paygraph-test-'));
  folders.push(folder);
  return folder;
}
