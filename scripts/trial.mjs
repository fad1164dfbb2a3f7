// Runs test/attack or test/chaos without jest: Node.js strips the types itself, and only has to be told where the files are.
//   npm run attack -- [--seed 1] [--seconds 50]
//   npm run chaos -- [--seed 1] [--seconds 60] [--store sqlite|postgres|both]
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import process from 'node:process';

registerHooks({
  resolve(specifier, context, next) {
    const url = new URL(`${specifier}.ts`, context.parentURL);
    const isOurs = specifier.startsWith('.') && url.protocol === 'file:' && existsSync(url);
    return isOurs
      ? { url: url.href, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context);
  },
});

const [name, ...args] = process.argv.slice(2);
const { main } = await import(`../test/${name}/main`);
process.exit(await main(args));
