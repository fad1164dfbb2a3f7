// Runs test/adversarial or test/chaos without jest: compiles their TypeScript as jest does.
//   npm run attack -- [--seed 1] [--seconds 50]
//   npm run chaos -- [--seed 1] [--seconds 60] [--store sqlite|postgres|both]
import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import jestConfig from '../jest.config.js';

const [, compilerOptions] = jestConfig.transform['^.+\\.ts$'];

registerHooks({
  resolve(specifier, context, next) {
    const url = specifier.startsWith('.') ? new URL(`${specifier}.ts`, context.parentURL) : undefined;
    return url && existsSync(url)
      ? { url: url.href, format: 'commonjs', shortCircuit: true }
      : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { ...compilerOptions, filename });
    return { format: 'commonjs', source: code, shortCircuit: true };
  },
});

const [name, ...args] = process.argv.slice(2);
const { main } = await import(`../test/${name}/main`);
process.exit(await main(args));
