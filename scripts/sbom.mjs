// Prints the software bill of materials (CycloneDX, JSON) of what `npm ci --omit=dev` installs.
// `npm sbom --omit=dev` leaves out production packages that development packages use as well, graphql among them
// (https://github.com/npm/cli/issues/7909), so it runs on a copy of the lock file without development packages.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const manifest = { ...read('package.json'), devDependencies: {} };
const lock = read('package-lock.json');
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).filter(([path, { dev, link }]) => path === '' || !(dev || link)),
);
lock.packages[''].devDependencies = {};

const temporary = mkdtempSync(join(tmpdir(), 'paygraph-sbom-'));
// The folder has the name of the package, because npm names the application after it.
const folder = join(temporary, manifest.name);
try {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const options = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  process.stdout.write(execFileSync('npm', options, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }));
} finally {
  rmSync(temporary, { recursive: true });
}
