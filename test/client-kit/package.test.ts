import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { newApp, ROOT, typeFaults, type App } from './support/installed-kit';

let app: App;
beforeAll(() => {
  app = newApp();
});
afterAll(() => app.remove());

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

test('import and require find the same, and print the same documents', () => {
  const print = `const { print } = await import('graphql');
    console.log(JSON.stringify(Object.entries(kit).map(([name, value]) => [name, 'kind' in value ? print(value) : value])));`;
  const imported = app.run(
    process.execPath,
    '--input-type=module',
    '-e',
    `import * as kit from '@paygraph/client';${print}`,
  );
  const required = app.run(
    process.execPath,
    '--input-type=commonjs',
    '-e',
    `const kit = require('@paygraph/client'); void (async () => {${print}})();`,
  );
  const sorted = (text: string) =>
    (JSON.parse(text) as [string, unknown][]).sort(([a], [b]) => (a < b ? -1 : 1));
  expect(sorted(imported)).toEqual(sorted(required));
  expect(sorted(imported).map(([name]) => name)).toContain('CreatePaymentDocument');
});

test('TypeScript takes right uses and refuses wrong ones, in ES modules and in CommonJS', () => {
  const files = ['use.mts', 'use.cts'].map((name) => path.join(app.folder, name));
  for (const file of files) copyFileSync(path.join(__dirname, 'typed-use.ts'), file);
  expect(typeFaults(files)).toEqual([]);
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
  expect(text).not.toMatch(/PaymentFields|CreatePayout|possibleTypes|RedirectAction/);
});
