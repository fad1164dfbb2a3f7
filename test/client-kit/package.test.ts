import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';

const ROOT = path.resolve(__dirname, '../..');

/** An application of its own, with the kit installed as a registry would hand it out. */
let app: string;

/** Runs a program in the application, and returns what it prints. */
function run(program: string, ...args: string[]): string {
  const done = spawnSync(program, args, { cwd: app, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${program}: ${done.error?.message ?? done.stderr}`);
  return done.stdout;
}

beforeAll(() => {
  app = mkdtempSync(path.join(tmpdir(), 'paygraph-app-'));
  run('npm', 'pack', path.join(ROOT, 'client'), '--silent');
  const [packed = ''] = readdirSync(app);
  mkdirSync(path.join(app, 'node_modules/@paygraph/client'), { recursive: true });
  run('tar', '-xzf', packed, '-C', 'node_modules/@paygraph/client', '--strip-components=1');
  for (const name of ['graphql', '@graphql-typed-document-node'])
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(app, 'node_modules', name));
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

/** A file of the installed kit. */
const installed = (name: string): string => path.join(app, 'node_modules/@paygraph/client', name);

test('the package holds the schema, the possible types, the documents and what was made of them, and nothing else', () => {
  const files = readdirSync(installed('.'), { recursive: true, encoding: 'utf8' });
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
    expect(readFileSync(installed(name), 'utf8')).toBe(readFileSync(path.join(ROOT, name), 'utf8'));
});

test('import and require find the same, and print the same documents', () => {
  const print = `const { print } = await import('graphql');
    console.log(JSON.stringify(Object.entries(kit).map(([name, value]) => [name, 'kind' in value ? print(value) : value])));`;
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
  const sorted = (text: string) =>
    (JSON.parse(text) as [string, unknown][]).sort(([a], [b]) => (a < b ? -1 : 1));
  expect(sorted(imported)).toEqual(sorted(required));
  expect(sorted(imported).map(([name]) => name)).toContain('CreatePaymentDocument');
});

test('TypeScript takes right uses and refuses wrong ones, in ES modules and in CommonJS', () => {
  const files = ['use.mts', 'use.cts'].map((name) => path.join(app, name));
  for (const file of files) copyFileSync(path.join(__dirname, 'typed-use.ts'), file);
  const program = ts.createProgram(files, {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    lib: ['lib.es2024.d.ts'],
    types: [],
  });
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  expect(faults).toEqual([]);
});

test('a bundle holds the documents that are used, and no others', async () => {
  const { outputFiles } = await build({
    stdin: { contents: "export { PayoutDocument } from '@paygraph/client';", resolveDir: app },
    bundle: true,
    write: false,
    format: 'esm',
    minify: true,
  });
  const text = outputFiles[0]?.text ?? '';
  expect(text).toContain('PayoutFields');
  expect(text).not.toMatch(/PaymentFields|CreatePayout|possibleTypes|RedirectAction/);
});
