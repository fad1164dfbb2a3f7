import { spawnSync } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(__dirname, '../../..');

/** What the build made for browsers. */
export const BUILT = path.join(root, 'dist/explorer');

const BUILD_IF_STALE = `import { build, isFresh } from './scripts/build.mjs';
process.exitCode = isFresh() || build() ? 0 : 1;`;

/** Builds where the sources are newer than what was built, as a start does. */
export function buildIfStale(): void {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', BUILD_IF_STALE], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}
