// Runs test/attack without jest: Node.js strips the types itself, and only has to be told where the files are.
//   npm run attack -- [--seed 1] [--seconds 50]
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

const { main } = await import('../test/attack/main');
process.exit(await main(process.argv.slice(2)));
