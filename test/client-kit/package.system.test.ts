import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { paymentInput } from './samples';
import { TOP, readPage } from '../docs/support/markdown';
import { temporaryFolder } from '../support/cleanup';
import { CLIENT_KEY } from '../support/credentials';
import { testGateway, testSandbox } from '../support/gateway';
import { findTypeFaults } from '../support/type-check';

class App {
  readonly folder = temporaryFolder();

  constructor(packed: string, graphql: string, packages: readonly string[] = []) {
    mkdirSync(this.kit('.'), { recursive: true });
    this.run('tar', '-xzf', packed, '-C', this.kit('.'), '--strip-components=1');
    const here = (name: string): string => path.join(TOP, 'node_modules', name);
    const installed = (name: string): string => path.join(this.folder, 'node_modules', name);
    symlinkSync(here(graphql), installed('graphql'));
    // A copy, because a link would resolve to the graphql of this project.
    const copied = '@graphql-typed-document-node';
    cpSync(here(copied), installed(copied), { recursive: true });
    for (const name of packages) symlinkSync(here(name), installed(name));
  }

  kit(name: string): string {
    return path.join(this.folder, 'node_modules/@paygraph/client', name);
  }

  run(tool: string, ...args: string[]): string {
    const { status, error, stdout, stderr } = spawnSync(tool, args, { cwd: this.folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${tool}: ${error?.message ?? stderr + stdout}`);
    return stdout;
  }

  node(type: 'module' | 'commonjs', code: string): string {
    return this.run(process.execPath, `--input-type=${type}`, '-e', code);
  }

  write(name: string, text: string): string {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Writes typed-use.ts as an ES module and as CommonJS. */
  writeUses(): string[] {
    const code = readFileSync(path.join(__dirname, 'typed-use.ts'), 'utf8');
    return ['use.mts', 'use.cts'].map((name) => this.write(name, code));
  }
}

const OPTIONS = {
  noUncheckedIndexedAccess: true,
  module: 'nodenext',
  moduleResolution: 'nodenext',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: [],
  skipDefaultLibCheck: true,
};

let app: App;
let with17: App;

beforeAll(() => {
  const folder = temporaryFolder();
  spawnSync('npm', ['pack', path.join(TOP, 'client'), '--silent'], { cwd: folder });
  const packed = path.join(folder, readdirSync(folder)[0] ?? '');
  app = new App(packed, 'graphql', ['@apollo', '@urql', 'rxjs', '@graphql-codegen', '@0no-co']);
  with17 = new App(packed, 'graphql-17');
});

describe('The package of the client kit', () => {
  test('contains the schema, the possible types, the operations and the generated code, and nothing else', () => {
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
    expect(files.filter((name) => name.endsWith('.graphql'))).toHaveLength(8);
    for (const name of ['schema.graphql', 'possible-types.json'])
      expect(readFileSync(app.kit(name), 'utf8')).toBe(readFileSync(path.join(TOP, name), 'utf8'));
  });

  test.each([
    ['16', () => app],
    ['17', () => with17],
  ])('exports the same values to import and to require, with graphql %s', (version, installed) => {
    const print = `const { print, versionInfo } = await import('graphql');
      console.log(JSON.stringify([String(versionInfo.major), Object.entries(kit).map(([name, value]) => [name, 'kind' in value ? print(value) : value]).sort()]));`;
    const imported = installed().node('module', `import * as kit from '@paygraph/client';${print}`);
    const required = installed().node(
      'commonjs',
      `const kit = require('@paygraph/client'); void (async () => {${print}})();`,
    );
    expect(JSON.parse(imported)).toEqual(JSON.parse(required));
    expect(JSON.parse(imported)).toEqual([
      version,
      expect.arrayContaining([['CreatePaymentDocument', expect.stringContaining('mutation')]]),
    ]);
    const { peerDependencies } = JSON.parse(readFileSync(app.kit('package.json'), 'utf8')) as {
      peerDependencies: { graphql: string };
    };
    expect(peerDependencies.graphql.split(' || ')).toContain(`^${version}.0.0`);
  });

  test('is tree-shaken to the documents that an application uses', async () => {
    const { outputFiles } = await build({
      stdin: { contents: "export { PayoutDocument } from '@paygraph/client';", resolveDir: app.folder },
      bundle: true,
      write: false,
      minify: true,
    });
    const { text } = outputFiles[0]!;
    expect(text).toContain('PayoutFields');
    expect(text).not.toMatch(
      /PaymentFields|CreatePayout|possibleTypes|RedirectAction|retryable|NumberFormat|confirmWith|CursorExpired|WatchChanges/,
    );
  });

  test('has types for ES modules and CommonJS, with graphql 17', () => {
    expect(findTypeFaults(with17.folder, with17.writeUses(), OPTIONS)).toEqual([]);
  });
});

describe('The samples of docs/clients.md', () => {
  const samples = new Map(
    readPage('docs/clients.md').fences.flatMap(({ words: [name], code }) => (name ? [[name, code]] : [])),
  );
  const CODEGEN = ['documents/card.graphql', 'codegen.yml'];

  /** The names that the samples take from the application. */
  const SURROUNDINGS = `import type { CreatePaymentInput } from '@paygraph/client';
    declare global {
      const token: string;
      const input: CreatePaymentInput;
      function show(result: unknown): void;
    }`;

  const USE_OF_CODEGEN = `import type { ResultOf } from '@graphql-typed-document-node/core';
    import type { CardOfPaymentDocument } from './documents/index.js';
    type Payment = NonNullable<ResultOf<typeof CardOfPaymentDocument>['payment']>;
    export const shown = (payment: Payment) => payment.__typename === 'CardPayment' && payment.cardMask;
    // @ts-expect-error Only a CardPayment has a cardMask.
    export const other = (payment: Payment & { __typename: 'UpiPayment' }) => payment.cardMask;`;
  test('create a payment with fetch', async () => {
    const sandbox = await testSandbox();
    const { url } = await testGateway(sandbox.url);
    const code = (samples.get('fetch') ?? '').replace('https://gateway.example/graphql', url);
    const outfile = path.join(app.folder, 'sending.mjs');
    await build({
      entryPoints: [app.write('fetch.ts', code)],
      nodePaths: [path.join(TOP, 'node_modules')],
      outfile,
      bundle: true,
      platform: 'node',
      mainFields: ['module', 'main'],
      format: 'esm',
      define: { token: JSON.stringify(CLIENT_KEY) },
      banner: {
        js: `globalThis.show = (result) => console.log(JSON.stringify(result));
          globalThis.input = ${JSON.stringify(paymentInput())};`,
      },
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
    expect(JSON.parse(stdout)).toMatchObject({
      __typename: 'PaymentSuccess',
      payment: { __typename: 'CardPayment', status: 'PENDING' },
    });
    expect(sandbox.controlPlane.counts().payment.created).toBe(1);
  });

  test('type-check with graphql 16, and so does the output of graphql-codegen', () => {
    expect([...samples.keys()]).toEqual(['fetch', 'errors', ...CODEGEN]);
    app.write('package.json', '{ "type": "module" }');
    for (const name of CODEGEN) app.write(name, samples.get(name) ?? '');
    const cli = path.join(TOP, 'node_modules/@graphql-codegen/cli/esm/cli.js');
    app.node(
      'module',
      `import { runCli } from ${JSON.stringify(cli)};
       process.argv = [process.execPath, 'graphql-codegen', '--config', 'codegen.yml'];
       process.exitCode = await runCli(undefined);`,
    );
    const files = [
      ...app.writeUses(),
      ...['fetch', 'errors'].map((name) => app.write(`${name}.mts`, samples.get(name) ?? '')),
      app.write('surroundings.d.mts', SURROUNDINGS),
      app.write('own.ts', USE_OF_CODEGEN),
    ];
    expect(findTypeFaults(app.folder, files, { ...OPTIONS, skipLibCheck: true })).toEqual([]);
  });
});
