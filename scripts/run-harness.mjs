// Runs the main.ts of a folder of test without jest: compiles its TypeScript as jest does.
//   npm run attack -- [--seconds 50]
//   npm run chaos -- [--seed 1] [--seconds 30] [--store sqlite|postgres|both] [--instances 2] [--callers 40] [--rate 100]
//   npm run check-history -- history.jsonl ledger.jsonl
//   npm run check-feed -- [--seed 1] [--seconds 60] [--payments 1000] [--store sqlite|postgres|both] [--cost]
//   npm run replay -- trails [--trace]
//   npm run simulate -- [--seeds 1000] [--seed 1] [--instances 3] [--processes 2] [--doublecheck] [--planted-bugs]
import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import jestConfig from '../jest.config.js';

const [, compilerOptions] = jestConfig.transform['^.+\\.ts$'];

const [name, ...args] = process.argv.slice(2);

/** The bug of test/simulation/planted-bugs.mjs that is put into a file while it is loaded; undefined if there is none. */
async function findPlantedBug() {
  const place = args.indexOf('--planted-bug');
  if (place < 0) return undefined;
  const { bugs } = await import('../test/simulation/planted-bugs.mjs');
  const bug = bugs.find(({ id }) => id === args[place + 1]);
  if (!bug) throw new Error(`No bug has the id ${args[place + 1]}.`);
  return { ...bug, path: path.resolve(import.meta.dirname, '..', bug.file) };
}

const plantedBug = await findPlantedBug();

/** Returns the text of a file, with the planted bug if it is in this file. */
function readSource(filename) {
  const source = readFileSync(filename, 'utf8');
  if (filename !== plantedBug?.path) return source;
  const parts = source.split(plantedBug.find);
  if (parts.length !== 2) throw new Error(`find occurs ${parts.length - 1} times in ${plantedBug.file}`);
  return parts.join(plantedBug.replace);
}

registerHooks({
  resolve(specifier, context, next) {
    const isRelative = specifier.startsWith('.');
    const urls = isRelative
      ? ['.ts', '/index.ts'].map((end) => new URL(specifier + end, context.parentURL))
      : [];
    const url = urls.find((each) => existsSync(each));
    return url ? { url: url.href, format: 'commonjs', shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readSource(filename), { ...compilerOptions, filename });
    return { format: 'commonjs', source: code, shortCircuit: true };
  },
});

// As the program itself sets it.
process.env.NODE_ENV ??= 'production';
// The default export, because Node.js does not find the names of some modules that SWC compiles.
const { main } = (await import(`../test/${name}/main`)).default;
try {
  const exitCode = await main(args);
  // exit() would lose what the reader of a pipe has not read yet.
  process.stdout.write('', () => process.exit(exitCode));
} catch (error) {
  if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}
