import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { CLIENT_KEY } from '../support/credentials';
import { paymentInput } from '../clients/samples';
import { testGateway, testSandbox } from '../support/gateway';
import { newApp, ROOT, typeFaults, type App } from './support/installed-kit';

const DOCUMENT = readFileSync(path.join(ROOT, 'docs/clients.md'), 'utf8');
const FENCES = new Map(
  [...DOCUMENT.matchAll(/^```(\w+) (\S+)\n(.*?)^```$/gms)].map(([, , name = '', code = '']) => [name, code]),
);
const SENDING = ['apollo-client', 'urql', 'fetch'];
/** What a browser brings. */
const LIB = ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'];
/** Samples that are compiled and not run. */
const COMPILED = ['errors', 'confirming', 'money', 'exhaustive'];
const FILES = ['documents/card.graphql', 'codegen.yml'];
const PRESET_FILES = ['codegen-preset.yml', 'src/shown.ts'];

/** What the samples take from the application around them. */
const SURROUNDINGS = `import type { CreatePaymentInput } from '@paygraph/client';
declare global {
  const token: string;
  const input: CreatePaymentInput;
  function show(result: unknown): void;
}`;

let app: App;
beforeAll(() => {
  app = newApp(['@apollo', '@urql', 'rxjs', '@graphql-codegen', '@0no-co']);
});
afterAll(() => app.remove());

const write = (name: string, text: string): string => {
  const file = path.join(app.folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

test('every sample of docs/clients.md is run by a test', () => {
  expect([...FENCES.keys()]).toEqual([...SENDING, ...COMPILED, ...FILES, ...PRESET_FILES]);
});

test('TypeScript has nothing against them', () => {
  const samples = [...SENDING, ...COMPILED].map((name) => write(`${name}.mts`, FENCES.get(name) ?? ''));
  const files = [write('surroundings.d.mts', SURROUNDINGS), ...samples];
  expect(typeFaults(files, { lib: LIB, skipLibCheck: true })).toEqual([]);
});

test('each way of sending creates a payment', async () => {
  const { url } = await testGateway((await testSandbox()).url);
  for (const name of SENDING) {
    const code = (FENCES.get(name) ?? '').replace('https://gateway.example/graphql', url);
    const outfile = path.join(app.folder, `${name}.mjs`);
    await build({
      stdin: { contents: code, resolveDir: app.folder, loader: 'ts' },
      nodePaths: [path.join(ROOT, 'node_modules')],
      outfile,
      bundle: true,
      platform: 'node',
      mainFields: ['module', 'main'],
      format: 'esm',
      define: { token: JSON.stringify(CLIENT_KEY), input: JSON.stringify(paymentInput()) },
      banner: { js: 'globalThis.show = (result) => console.log(JSON.stringify(result));' },
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
    expect(JSON.parse(stdout)).toMatchObject({
      __typename: 'PaymentSuccess',
      payment: { __typename: 'CardPayment', status: 'PENDING' },
    });
  }
});

const codegen = (config: string): string =>
  app.run(
    process.execPath,
    path.join(ROOT, 'node_modules/@graphql-codegen/cli/esm/bin.js'),
    '--config',
    config,
  );

test('codegen makes your own documents with its fragments, and they have types', () => {
  for (const name of FILES) write(name, FENCES.get(name) ?? '');
  codegen('codegen.yml');
  const own = `import type { ResultOf } from '@graphql-typed-document-node/core';
    import type { CardOfPaymentDocument } from './documents/index.js';
    type Payment = NonNullable<ResultOf<typeof CardOfPaymentDocument>['payment']>;
    export const shown = (payment: Payment): (string | null)[] => [
      payment.transactionId,
      payment.__typename === 'CardPayment' ? payment.cardMask : null,
    ];
    // @ts-expect-error Only a card has one.
    export const other = (payment: Payment & { __typename: 'UpiPayment' }) => payment.cardMask;`;
  expect(typeFaults([write('own.ts', own)])).toEqual([]);
});

test('the client preset of codegen makes types that its functions take, in ES modules', () => {
  write('package.json', '{ "type": "module" }');
  for (const name of PRESET_FILES) write(name, FENCES.get(name) ?? '');
  codegen('codegen-preset.yml');
  const own = `import type { ResultOf } from '@graphql-typed-document-node/core';
    import type { ShownPayment } from './shown.js';
    type Payment = NonNullable<ResultOf<typeof ShownPayment>['payment']>;
    export const texts = ({ transactionId, amount, externalId }: Payment): (string | null)[] => [
      transactionId, externalId, amount?.value ?? null,
    ];
    // @ts-expect-error An amount is text, never a number.
    export const sum = ({ amount }: Payment): number => amount?.value ?? 0;
    // @ts-expect-error A payment by card has no UPI id.
    export const upi = (payment: Payment & { __typename: 'CardPayment' }) => payment.upiId;`;
  const made = ['src/gql/index.ts', 'src/gql/graphql.ts'].map((name) => path.join(app.folder, name));
  const sample = path.join(app.folder, 'src/shown.ts');
  const files = [...made, sample, write('src/own.ts', own)];
  expect(typeFaults(files, { verbatimModuleSyntax: true })).toEqual([]);
});
