import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { temporaryFolder } from '../support/cleanup';
import { serverOf } from '../support/http-server';

const ROOT = path.resolve(__dirname, '../..');
const read = (file: string, root = ROOT): string => readFileSync(path.join(root, file), 'utf8');

/** Runs a program of Node.js. */
function run(args: readonly string[], cwd = ROOT) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('Lint', () => {
  test('rejects imports that violate the layers of src, and import cycles, but no other imports', () => {
    const forbidden = [
      ['src/core/a.ts', 'src/http/a.ts'],
      ['src/loose.ts', 'src/shared/a.ts'],
      ['src/sandbox/a.ts', 'src/datasources/a.ts'],
      ['src/schema/a.ts', 'src/core/a.ts'],
    ] as const;
    const imports = [
      ...forbidden,
      ['src/app/a.ts', 'src/http/a.ts'],
      ['src/core/a.ts', 'src/datasources/a.ts'],
      ['src/sandbox/a.ts', 'src/schema/methods/a.ts'],
      ['src/auth/a.ts', 'src/auth/b.ts'],
      ['src/auth/b.ts', 'src/auth/a.ts'],
    ] as const;
    const copy = temporaryFolder();
    cpSync(path.join(ROOT, 'tsconfig.json'), path.join(copy, 'tsconfig.json'));
    for (const name of new Set(imports.flat())) {
      const folder = path.dirname(name);
      const lines = imports
        .filter(([from]) => from === name)
        .map(([, to]) => `import type {} from './${path.relative(folder, to).replace('.ts', '')}';\n`);
      mkdirSync(path.join(copy, folder), { recursive: true });
      writeFileSync(path.join(copy, name), `${lines.join('')}export {};\n`);
    }
    const cruiser = path.join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
    const config = ['--config', path.join(ROOT, '.dependency-cruiser.mjs')];
    const { summary } = JSON.parse(
      run([cruiser, 'src', ...config, '--output-type', 'json'], copy).stdout,
    ) as { summary: { violations: { from: string; to: string; rule: { name: string } }[] } };
    const [cycles = [], others = []] = [true, false].map((isCycle) =>
      summary.violations.filter(({ rule }) => (rule.name === 'no-cycles') === isCycle),
    );
    expect(new Set(others.map(({ from, to }) => `${from} ${to}`))).toEqual(
      new Set(forbidden.map((each) => each.join(' '))),
    );
    expect(cycles).toContainEqual(expect.objectContaining({ from: 'src/auth/a.ts' }));
  });
});

test('Generated files are up to date, including schema.graphql', () => {
  const codegen = path.join(ROOT, 'node_modules/@graphql-codegen/cli/esm/bin.js');
  expect(run([codegen, '--check', '--config', 'codegen.yml'])).toMatchObject({ status: 0 });
});

test('Each deliberate bug (test/deliberate-bugs) replaces a text that occurs exactly once in its source file', () => {
  expect(run(['scripts/deliberate-bugs.mjs', '--list'])).toMatchObject({ status: 0, stderr: '' });
});

describe('npm run new-method', () => {
  const COPIED = 'src test scripts package.json jest.config.js tsconfig.json tsconfig.build.json'.split(' ');
  let copy: string;

  beforeAll(() => {
    copy = temporaryFolder();
    for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  });

  test('creates a method that compiles, is in the schema and passes the golden tests', () => {
    expect(run(['scripts/new-method.mjs', 'example_wallet'], copy).status).toBe(0);
    expect(run(['scripts/build.mjs'], copy)).toMatchObject({ status: 0, stdout: '' });
    writeFileSync(
      path.join(copy, 'jest.copy.config.js'),
      `const { globalSetup, globalTeardown, ...config } = require('./jest.config.js'); module.exports = config;`,
    );
    const jest = ['node_modules/jest/bin/jest.js', '-i', '-c', 'jest.copy.config.js'];
    const tests = ['test/methods/golden', 'test/methods/registry'];
    const names = ['-t', 'example_wallet|golden file with its kinds'];
    const { status, stderr } = run([...jest, ...tests, ...names], copy);
    expect({ status, failed: status === 0 ? '' : stderr }).toEqual({ status: 0, failed: '' });
    expect(Number(/Tests:.* (\d+) passed/.exec(stderr)?.[1])).toBeGreaterThan(2);
  });
});

describe('The production dependencies', () => {
  test('are listed completely by npm run sbom, with their hashes', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { name?: string; version: string; dev?: boolean; link?: boolean }>;
    };
    const installed = Object.entries(packages)
      .filter(([place, { dev, link }]) => place !== '' && !dev && !link)
      .map(([place, { name, version }]) => `${name ?? place.split('node_modules/').pop()}@${version}`);
    const { status, stdout } = run(['scripts/sbom.mjs']);
    expect(status).toBe(0);
    const bom = JSON.parse(stdout) as {
      bomFormat: string;
      components: { name: string; version: string; hashes?: unknown[] }[];
    };
    expect(bom.bomFormat).toBe('CycloneDX');
    const listed = new Set(bom.components.map(({ name, version }) => `${name}@${version}`));
    expect([...listed].sort()).toEqual([...new Set(installed)].sort());
    expect(bom.components.filter(({ hashes }) => !hashes?.length)).toEqual([]);
  });

  test.each([
    ['fails and names a package that has a vulnerability of high severity', 'high', 1, /^ws /m],
    ['passes when the vulnerability has moderate severity', 'moderate', 0, /(?:)/],
    ['passes with a warning when the registry offers no audit', undefined, 0, /WARNING/],
  ])('are checked by npm run dependency-audit, which %s', async (_title, severity, code, warning) => {
    const registry = await serverOf((request, response) => {
      request.resume();
      response.statusCode = request.method !== 'POST' ? 404 : severity ? 200 : 405;
      const advisory = { id: 1, url: 'https://a.test', title: 'memory', severity, vulnerable_versions: '*' };
      response.end(JSON.stringify(response.statusCode === 200 ? { ws: [advisory] } : {}));
    });
    const settings = {
      npm_config_registry: `${registry}/`,
      npm_config_fetch_retries: '0',
      // A separate cache, because npm caches advisories.
      npm_config_cache: temporaryFolder(),
    };
    const audit = execFile(process.execPath, ['scripts/dependency-audit.mjs'], {
      cwd: ROOT,
      env: { ...process.env, ...settings },
    });
    const [stderr, [status]] = await Promise.all([readText(audit.stderr!), once(audit, 'close')]);
    expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringMatching(warning) as unknown });
  });
});

describe('npm run schema-check', () => {
  const released = read('api/released.graphql');

  const SCRIPT = path.join(ROOT, 'scripts/schema-check.mjs');

  /** Runs the check with a current schema. Returns the result, and the released schema after it. */
  function check(current: string, ...args: string[]) {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, 'api'));
    writeFileSync(path.join(folder, 'api/released.graphql'), released);
    writeFileSync(path.join(folder, 'schema.graphql'), current);
    const { status, stdout, stderr } = run([SCRIPT, ...args], folder);
    return { status, output: stdout + stderr, recorded: read('api/released.graphql', folder) };
  }

  /** Returns the released schema with replacements. Throws if a replacement does not apply. */
  const altered = (...changes: (readonly [text: string | RegExp, by: string])[]): string =>
    changes.reduce((schema, [text, by]) => {
      const changed = schema.replace(text, by);
      expect(changed).not.toBe(schema);
      return changed;
    }, released);

  const added = (type: string, what: string) =>
    [`${type} {`, `${type} {\n  """New."""\n  ${what}\n`] as const;
  /** The fields of another payment type. */
  const [, fields = ''] = /^type HavalePayment [^{]*\{(.*?)^\}/ms.exec(released) ?? [];

  test('passes for the committed schema', () => {
    expect(run([SCRIPT])).toMatchObject({ status: 0 });
  });

  test('names every breaking change, and keeps the released schema', () => {
    const { status, output, recorded } = check(
      altered(
        [/ {2}"""The merchant channel\."""\n {2}channel: UUID!\n\n/, ''],
        [/rawStatus: String!/g, 'rawStatus: String'],
        added('input AmountInput', 'why: String!'),
        ['first: Int = 20', 'first: Int = 50'],
        added('enum AttemptOutcome', 'LOST'),
      ),
    );
    expect([status, recorded === released]).toEqual([1, true]);
    const names = ['Attempt.channel', 'PaymentResource.rawStatus', 'AmountInput.why'];
    for (const name of [...names, 'Query.attempts.first', 'AttemptOutcome.LOST'])
      expect(output).toContain(name);
  });

  test('lists and allows additions that clients have to expect', () => {
    const { status, output } = check(
      altered(
        ['union Payment = ', 'union Payment = MoonPayment | '],
        [/$/, `\n"""New."""\ntype MoonPayment implements PaymentResource & Node {${fields}}\n`],
        added('enum DeclineCode', 'MOON_CLOSED'),
        ['node(\n', 'node(\n    """Why."""\n    why: String\n'],
      ),
    );
    expect(status).toBe(0);
    for (const name of ['MoonPayment', 'DeclineCode.MOON_CLOSED', 'Query.node.why'])
      expect(output).toContain(name);
  });

  test.each([
    ['minor', added('type Amount', 'why: String')],
    ['major', ['first: Int = 20', 'first: Int = 50'] as const],
  ])('records the schema of a %s release', (kind, change) => {
    const current = altered(change);
    const { output, ...result } = check(current, '--release');
    expect(result).toEqual({ status: 0, recorded: current });
    expect(output).toContain(kind);
  });
});
