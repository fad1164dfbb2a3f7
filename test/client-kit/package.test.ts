import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { newApp, ROOT, typeFaults, type App } from './support/installed-kit';

let app: App;
let with17: App;
beforeAll(() => {
  app = newApp();
  with17 = newApp([], 'graphql-17');
});
afterAll(() => [app, with17].forEach((each) => each.remove()));

/** Both major versions of graphql that the kit may stand beside. */
const VERSIONS: [name: string, installed: () => App][] = [
  ['16', () => app],
  ['17', () => with17],
];

test('the package holds the schema, the possible types, the documents and what was made of them, and nothing else', () => {
  const files = readdirSync(app.kit('.'), { recursive: true, encoding: 'utf8' });
  expect(files.filter((name) => !name.startsWith('operations')).sort()).toEqual([
    'README.md',
    'index.d.mts',
    'index.d.ts',
    'index.js',
    'index.mjs',
    'package.json',
    'possible-types.json',
    'schema.graphql',
  ]);
  expect(files.filter((name) => name.endsWith('.graphql'))).toHaveLength(7);
});

test('its schema and possible types are the gateway’s', () => {
  for (const name of ['schema.graphql', 'possible-types.json'])
    expect(readFileSync(app.kit(name), 'utf8')).toBe(readFileSync(path.join(ROOT, name), 'utf8'));
});

test.each(VERSIONS)(
  'import and require find the same, and print the same documents, with graphql %s',
  (version, installed) => {
    const print = `const { print, versionInfo } = await import('graphql');
    console.log(JSON.stringify([String(versionInfo.major), Object.entries(kit).map(([name, value]) => [name, 'kind' in value ? print(value) : value])]));`;
    const { run } = installed();
    const imported = run(
      process.execPath,
      '--input-type=module',
      '-e',
      `import * as kit from '@paygraph/client';${print}`,
    );
    const required = run(
      process.execPath,
      '--input-type=commonjs',
      '-e',
      `const kit = require('@paygraph/client'); void (async () => {${print}})();`,
    );
    const sorted = (text: string) => {
      const [graphql, entries] = JSON.parse(text) as [string, [string, unknown][]];
      return [graphql, entries.sort(([a], [b]) => (a < b ? -1 : 1))] as const;
    };
    expect(sorted(imported)).toEqual(sorted(required));
    const [graphql, entries] = sorted(imported);
    expect(graphql).toBe(version);
    expect(entries.map(([name]) => name)).toEqual(
      expect.arrayContaining(['CreatePaymentDocument', 'gatewayError']),
    );
  },
);

test('its code needs nothing that is installed', () => {
  const run = `const { gatewayError, formatMoney } = require(${JSON.stringify(app.kit('index.js'))});
    console.log(gatewayError([]), formatMoney({ value: '1', currency: 'EUR' }, 'en'));`;
  const loaded = "process.stdout.write(Object.keys(require.cache).join('\\n'))";
  const files = app
    .run(process.execPath, '--input-type=commonjs', '-e', `${run}${loaded}`)
    .split('\n')
    .slice(1);
  expect(files.map((file) => path.basename(file))).toEqual(['index.js']);
});

test.each(VERSIONS)(
  'TypeScript takes right uses and refuses wrong ones, in ES modules and in CommonJS, with graphql %s',
  (_version, installed) => {
    const files = ['use.mts', 'use.cts'].map((name) => path.join(installed().folder, name));
    for (const file of files) copyFileSync(path.join(__dirname, 'typed-use.ts'), file);
    // graphql 17 has AbortSignal in its types.
    expect(typeFaults(files, { lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'] })).toEqual([]);
  },
);

test('accepts every graphql version of these tests as a peer', () => {
  const { peerDependencies } = JSON.parse(readFileSync(app.kit('package.json'), 'utf8')) as {
    peerDependencies: { graphql: string };
  };
  expect(peerDependencies.graphql).toBe(VERSIONS.map(([major]) => `^${major}.0.0`).join(' || '));
});

test('a bundle holds the documents that are used, and no others', async () => {
  const { outputFiles } = await build({
    stdin: { contents: "export { PayoutDocument } from '@paygraph/client';", resolveDir: app.folder },
    bundle: true,
    write: false,
    format: 'esm',
    minify: true,
  });
  const text = outputFiles[0]?.text ?? '';
  expect(text).toContain('PayoutFields');
  expect(text).not.toMatch(
    /PaymentFields|CreatePayout|possibleTypes|RedirectAction|retryable|NumberFormat|confirmWith/,
  );
});
