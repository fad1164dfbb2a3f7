// Compiles src and bundles the explorer into a new directory, which then replaces dist, so that a gateway that starts
// meanwhile never loads an incomplete build.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const stamp = path.join(dist, '.built');

const newestChange = (place) => {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(place).map((name) => newestChange(path.join(place, name))));
};

/** Whether dist is up to date. Always true without src, in a production image. */
export function isFresh() {
  if (!existsSync(path.join(root, 'src'))) return true;
  const built = statSync(stamp, { throwIfNoEntry: false });
  if (!built) return false;
  const sources = [
    'src',
    'explorer',
    'scripts/build-explorer.mjs',
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
  ];
  return sources.every((name) => newestChange(path.join(root, name)) <= built.mtimeMs);
}

/** Replaces dist by a fresh build. If another build has finished at the same time, its result stays. */
function swapIn(newDist, oldDist) {
  try {
    if (existsSync(dist)) renameSync(dist, oldDist);
    renameSync(newDist, dist);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code)) throw error;
  }
}

/** Bundles the explorer in a child process, because production images have no bundler. Returns whether it succeeded. */
function bundleExplorer(into) {
  if (!existsSync(path.join(root, 'explorer'))) return true;
  const program = path.join(import.meta.dirname, 'build-explorer.mjs');
  return spawnSync(process.execPath, [program, into], { stdio: 'inherit' }).status === 0;
}

export function build() {
  const startedAt = new Date();
  const newDist = path.join(root, `dist-${process.pid}`);
  const oldDist = path.join(root, `dist-${process.pid}-old`);
  const tsc = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript-7/package.json')),
    'bin/tsc',
  );
  try {
    const compilation = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', newDist], {
      cwd: root,
      stdio: 'inherit',
    });
    if (compilation.status !== 0 || !bundleExplorer(path.join(newDist, 'explorer'))) return false;
    mkdirSync(newDist, { recursive: true });
    writeFileSync(path.join(newDist, '.built'), '');
    utimesSync(path.join(newDist, '.built'), startedAt, startedAt);
    // Another process may have built the same sources meanwhile.
    if (isFresh()) return true;
    swapIn(newDist, oldDist);
    // Sources that changed meanwhile are built by the next start.
    return existsSync(stamp);
  } finally {
    rmSync(newDist, { recursive: true, force: true });
    rmSync(oldDist, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  process.exitCode = build() ? 0 : 1;
}
