import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const ROOT = join(__dirname, '../..');

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const run = (script: string, env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [join(ROOT, 'scripts', script)], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

interface Locked {
  name?: string;
  version: string;
  dev?: boolean;
  link?: boolean;
}

/** Name and version of every package that `npm ci --omit=dev` installs. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const installed = Object.entries(packages).filter(([path, { dev, link }]) => path !== '' && !dev && !link);
  const named = installed.map(
    ([path, { name, version }]) => `${name ?? path.split('node_modules/').pop()}@${version}`,
  );
  return [...new Set(named)].sort();
}

describe('npm run sbom', () => {
  test('lists every production package of the lock file with its hash, and no development package', async () => {
    const { code, stdout } = await run('sbom.mjs');
    expect(code).toBe(0);
    const bom = JSON.parse(stdout) as {
      bomFormat: string;
      metadata: { component: { name: string } };
      components: { name: string; version: string; hashes?: unknown[] }[];
    };
    expect([bom.bomFormat, bom.metadata.component.name]).toEqual(['CycloneDX', 'paygraph']);
    const listed = new Set(bom.components.map(({ name, version }) => `${name}@${version}`));
    expect([...listed].sort()).toEqual(productionPackages());
    expect([...listed].some((name) => name.startsWith('graphql@'))).toBe(true);
    expect(bom.components.filter(({ hashes }) => !hashes?.length)).toEqual([]);
  });
});

describe('npm run dependency-audit', () => {
  let registry: Server | undefined;
  let cache = '';
  // npm keeps advisories in its cache.
  beforeEach(() => (cache = mkdtempSync(join(tmpdir(), 'paygraph-npm-'))));
  afterEach(() => {
    registry?.close();
    rmSync(cache, { recursive: true });
  });

  /** A registry that reports one vulnerability of `ws`, or answers 405 to the audit. */
  async function registryWith(severity: string | undefined): Promise<Record<string, string>> {
    registry = createServer((request, response) => {
      request.resume();
      const isAudit = request.method === 'POST';
      response.statusCode = isAudit ? (severity ? 200 : 405) : 404;
      const advisory = {
        id: 1,
        url: 'https://example.com/1',
        title: 'memory',
        severity,
        vulnerable_versions: '*',
      };
      response.end(JSON.stringify(isAudit && severity ? { ws: [advisory] } : {}));
    });
    await new Promise<void>((resolve) => registry?.listen(0, '127.0.0.1', resolve));
    const { port } = registry.address() as AddressInfo;
    return {
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_fetch_retries: '0',
      npm_config_cache: cache,
    };
  }

  test('fails and names the package when a production package has a high vulnerability', async () => {
    const { code, stderr } = await run('dependency-audit.mjs', await registryWith('high'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ws /m);
  });

  test('passes when the vulnerability is moderate', async () => {
    expect((await run('dependency-audit.mjs', await registryWith('moderate'))).code).toBe(0);
  });

  test('passes and warns that nothing was audited when the registry offers no audit', async () => {
    const { code, stderr } = await run('dependency-audit.mjs', await registryWith(undefined));
    expect(code).toBe(0);
    expect(stderr).toContain('WARNING');
  });
});
