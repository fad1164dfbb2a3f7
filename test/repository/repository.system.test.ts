import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../support/cleanup';
import { serverOf } from '../support/http-server';
import { TSC } from '../support/type-check';

const ROOT = path.resolve(__dirname, '../..');
const read = (file: string, root = ROOT): string => readFileSync(path.join(root, file), 'utf8');

describe('Lint', () => {
  type Import = readonly [from: string, to: string];
  const FORBIDDEN: Import[] = [
    ['src/schema/a.ts', 'src/core/a.ts'],
    ['src/datasources/a.ts', 'src/resolvers/a.ts'],
    ['src/core/a.ts', 'src/http/a.ts'],
    ['src/resolvers/a.ts', 'src/app/a.ts'],
    ['src/shared/a.ts', 'src/config/a.ts'],
    ['src/sandbox/a.ts', 'src/datasources/a.ts'],
    ['src/datasources/a.ts', 'src/sandbox/a.ts'],
    ['src/loose.ts', 'src/shared/a.ts'],
  ];
  const ALLOWED: Import[] = [
    ['src/app/a.ts', 'src/http/a.ts'],
    ['src/resolvers/a.ts', 'src/core/a.ts'],
    ['src/core/a.ts', 'src/datasources/a.ts'],
    ['src/sandbox/a.ts', 'src/schema/methods/a.ts'],
  ];

  test('rejects imports that violate the layers of src, and import cycles, but no other imports', () => {
    const copy = temporaryFolder();
    cpSync(path.join(ROOT, 'tsconfig.json'), path.join(copy, 'tsconfig.json'));
    const imports: Import[] = [
      ...FORBIDDEN,
      ...ALLOWED,
      ['src/auth/a.ts', 'src/auth/b.ts'],
      ['src/auth/b.ts', 'src/auth/a.ts'],
    ];
    const names = new Set(imports.flat());
    for (const name of names) {
      const pathTo = (to: string): string => path.relative(path.dirname(name), to).replace('.ts', '');
      const lines = imports
        .filter(([from]) => from === name)
        .map(([, to]) => `import type {} from '${pathTo(to).replace(/^(?!\.)/, './')}';`);
      mkdirSync(path.dirname(path.join(copy, name)), { recursive: true });
      writeFileSync(path.join(copy, name), `${lines.join('\n')}\nexport {};\n`);
    }
    const { stdout } = spawnSync(
      process.execPath,
      [
        path.join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
        ...['src', '--config', path.join(ROOT, '.dependency-cruiser.mjs'), '--output-type', 'json'],
      ],
      { cwd: copy, encoding: 'utf8' },
    );
    const { summary } = JSON.parse(stdout) as {
      summary: { violations: { from: string; to: string; rule: { name: string } }[] };
    };
    const rejected = summary.violations
      .filter(({ rule }) => rule.name !== 'no-cycles')
      .map(({ from, to }) => `${from} ${to}`);
    expect([...new Set(rejected)].sort()).toEqual(FORBIDDEN.map((each) => each.join(' ')).sort());
    const cycles = summary.violations.filter(({ rule }) => rule.name === 'no-cycles');
    expect(cycles.map(({ from }) => from)).toEqual(expect.arrayContaining(['src/auth/a.ts']));
  });

  test('rejects imports of packages that a folder must not use, and process.env outside src/config', () => {
    const texts = [
      ['src/core/a.ts', "import 'undici';\n"],
      ['src/schema/a.ts', "import 'fastify';\n"],
      ['src/app/gateway.ts', "import process from 'node:process';\nexport const home = process.env;\n"],
      ['src/config/index.ts', "import process from 'node:process';\nexport const home = process.env;\n"],
    ];
    // A separate process, because ESLint loads its configuration as an ES module, which jest cannot.
    const printed = execFileSync(process.execPath, [path.join(__dirname, 'lint-texts.mjs')], {
      cwd: ROOT,
      input: JSON.stringify(texts.map(([file, text]) => ({ file, text }))),
      encoding: 'utf8',
    });
    const isRejected = (JSON.parse(printed) as string[][]).map((errors) => errors.length > 0);
    expect(isRejected).toEqual([true, true, true, false]);
  });
});

describe('Generated files', () => {
  test('are up to date, including schema.graphql', () => {
    const codegen = path.join(ROOT, 'node_modules/@graphql-codegen/cli/esm/bin.js');
    const words = [codegen, '--check', '--config', 'codegen.yml'];
    const { status } = spawnSync(process.execPath, words, { cwd: ROOT, stdio: 'inherit' });
    expect(status).toBe(0);
  });
});

test('The text that a deliberate or planted bug replaces occurs exactly once in its file', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/deliberate-bugs.mjs', '--list'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('npm run new-method', () => {
  const FOLDERS = ['src', 'test', 'scripts'];
  const FILES = ['package.json', 'jest.config.js', 'tsconfig.json', 'tsconfig.build.json'];
  let copy: string;

  beforeAll(() => {
    copy = temporaryFolder();
    [...FOLDERS, ...FILES].forEach((name) =>
      cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true }),
    );
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  });

  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });

  test('creates a method that compiles, is in the schema and passes its golden bodies', () => {
    expect(run('scripts/new-method.mjs', 'example_wallet').status).toBe(0);
    const compiled = run(TSC, '--noEmit', '-p', 'tsconfig.build.json');
    expect(compiled).toMatchObject({ status: 0, stdout: '' });

    writeFileSync(
      path.join(copy, 'jest.copy.config.js'),
      `const { globalSetup, globalTeardown, ...config } = require('./jest.config.js'); module.exports = config;`,
    );
    const tests = [
      'test/methods/golden',
      'test/methods/registry',
      '-t',
      'example_wallet|golden file with its kinds',
    ];
    const { status, stderr } = run(
      'node_modules/jest/bin/jest.js',
      '-i',
      '-c',
      'jest.copy.config.js',
      ...tests,
    );
    expect({ status, failed: status === 0 ? '' : stderr }).toEqual({ status: 0, failed: '' });
    expect(Number(/Tests:.* (\d+) passed/.exec(stderr)?.[1])).toBeGreaterThan(2);
  });

  test('refuses a type that is not in snake case, or that already exists', () => {
    for (const type of ['', 'PayNow', 'pay now', '../x', 'jazz_cash'])
      expect({ type, status: run('scripts/new-method.mjs', type).status }).toEqual({ type, status: 1 });
  });
});

describe('The supply chain', () => {
  interface Ended {
    code: number;
    stdout: string;
    stderr: string;
  }
  const run = (script: string, env: Record<string, string> = {}): Promise<Ended> =>
    new Promise((resolve) => {
      const options = { cwd: ROOT, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
      execFile(process.execPath, [path.join(ROOT, 'scripts', script)], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });

  test('is listed by npm run sbom: exactly the production packages, with their hashes', async () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { name?: string; version: string; dev?: boolean; link?: boolean }>;
    };
    const installed = Object.entries(packages)
      .filter(([place, { dev, link }]) => place !== '' && !dev && !link)
      .map(([place, { name, version }]) => `${name ?? place.split('node_modules/').pop()}@${version}`);
    const { code, stdout } = await run('sbom.mjs');
    expect(code).toBe(0);
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
    ['fails and names a package that has a high vulnerability', 'high', 1, /^ws /m],
    ['passes when the vulnerability is moderate', 'moderate', 0, /(?:)/],
    ['passes with a warning when the registry offers no audit', undefined, 0, /WARNING/],
  ])('is checked by npm run dependency-audit, which %s', async (_title, severity, code, warning) => {
    const registry = await serverOf((request, response) => {
      request.resume();
      const isAudit = request.method === 'POST';
      response.statusCode = isAudit ? (severity ? 200 : 405) : 404;
      const found = { id: 1, url: 'https://example.com/1', title: 'memory' };
      const advisory = { ...found, severity, vulnerable_versions: '*' };
      response.end(JSON.stringify(isAudit && severity ? { ws: [advisory] } : {}));
    });
    // A separate cache, because npm caches advisories.
    const cache = temporaryFolder();
    const ended = await run('dependency-audit.mjs', {
      npm_config_registry: `${registry}/`,
      npm_config_fetch_retries: '0',
      npm_config_cache: cache,
    });
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(warning) as unknown });
  });
});

describe('npm run schema-check', () => {
  const released = read('api/released.graphql');

  function run(cwd: string, ...args: string[]) {
    const script = path.join(ROOT, 'scripts/schema-check.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
      cwd,
      encoding: 'utf8',
    });
    return { code: status, output: stdout + stderr };
  }

  /** Runs the check with a current schema. Returns the result, and the released schema after it. */
  function check(current: string, ...args: string[]) {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, 'api'));
    writeFileSync(path.join(folder, 'api/released.graphql'), released);
    writeFileSync(path.join(folder, 'schema.graphql'), current);
    return { ...run(folder, ...args), recorded: read('api/released.graphql', folder) };
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
  const newMember = (fields: string) =>
    [
      ['union Payment = ', 'union Payment = MoonPayment | '],
      [/$/, `\n"""New."""\ntype MoonPayment implements ${fields}\n`],
    ] as const;
  /** The fields of another payment type. */
  const [, fields = ''] = /^type HavalePayment [^{]*\{(.*?)^\}/ms.exec(released) ?? [];

  test('passes for the committed schema', () => {
    expect(run(ROOT)).toMatchObject({ code: 0 });
  });

  test('names every breaking change, and keeps the released schema', () => {
    const { code, output, recorded } = check(
      altered(
        [/ {2}"""The merchant channel\."""\n {2}channel: UUID!\n\n/, ''],
        [/rawStatus: String!/g, 'rawStatus: String'],
        ['node(\n', 'node(\n    """Why."""\n    why: String!\n'],
        added('input AmountInput', 'why: String!'),
        ['first: Int = 20', 'first: Int = 50'],
        added('enum AttemptOutcome', 'LOST'),
      ),
    );
    expect({ code, recorded: recorded === released }).toEqual({ code: 1, recorded: true });
    for (const name of [
      'Attempt.channel',
      'PaymentResource.rawStatus',
      'Query.node.why',
      'AmountInput.why',
      'Query.attempts.first',
      'AttemptOutcome.LOST',
    ])
      expect(output).toContain(name);
  });

  test('lists and allows additions that clients have to expect', () => {
    const { code, output } = check(
      altered(...newMember(`PaymentResource & Node {${fields}}`), added('enum DeclineCode', 'MOON_CLOSED'), [
        'node(\n',
        'node(\n    """Why."""\n    why: String\n',
      ]),
    );
    expect(code).toBe(0);
    for (const name of ['MoonPayment', 'DeclineCode.MOON_CLOSED', 'Query.node.why'])
      expect(output).toContain(name);
  });

  test.each([
    ['minor', added('type Amount', 'why: String')],
    ['major', ['first: Int = 20', 'first: Int = 50'] as const],
  ])('records a %s release', (kind, change) => {
    const current = altered(change);
    expect(check(current, '--release')).toMatchObject({
      code: 0,
      output: expect.stringContaining(kind) as unknown,
      recorded: current,
    });
  });
});
