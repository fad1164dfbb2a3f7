import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(__dirname, '../..');
const COPIED = [
  'src',
  'test',
  'scripts',
  'package.json',
  'jest.config.js',
  'tsconfig.json',
  'tsconfig.build.json',
];

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'paygraph-new-method-'));
  COPIED.forEach((name) => cpSync(path.join(root, name), path.join(copy, name), { recursive: true }));
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

const run = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: copy, encoding: 'utf8', stdio: 'pipe' });

test('a method begun with the scaffold compiles, is in the schema and passes its golden bodies, and nothing else is touched', () => {
  const said = run('scripts/new-method.mjs', 'pay_now');
  expect(said).toContain('src/schema/methods/pay-now.ts');

  run('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.build.json');
  run(
    'node_modules/jest/bin/jest.js',
    'test/methods/golden.test.ts',
    'test/methods/registry.test.ts',
    '--silent',
  );

  const before = readFileSync(path.join(root, 'src/schema/methods/registry.ts'), 'utf8').split('\n');
  const after = readFileSync(path.join(copy, 'src/schema/methods/registry.ts'), 'utf8').split('\n');
  expect(after.filter((line) => !before.includes(line))).toEqual(["export { payNow } from './pay-now';"]);
}, 120_000);

test.each(['', 'PayNow', 'pay now', '../x'])('the scaffold refuses %j and says what it wants', (type) => {
  expect(() => run('scripts/new-method.mjs', type)).toThrow(/Usage: npm run new-method/);
});

test('the scaffold refuses a method that exists', () => {
  expect(() => run('scripts/new-method.mjs', 'jazz_cash')).toThrow(/is there already/);
});
