#!/usr/bin/env node
// The command line. Builds when the sources are newer than dist, then becomes the program: no process in between, so that
// signals reach it. An old Node.js has to get as far as the message, so nothing that is new is imported by name.
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

function stop(message, code) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

/** Where there are sources; a production image has none, and runs what is in dist. */
async function buildWhereStale() {
  if (!existsSync(path.join(root, 'src'))) return;
  const { build, isFresh } = await import('../scripts/build.mjs');
  if (!isFresh() && !build()) process.exit(1);
}

const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const needed = Number(/\d+/.exec(engines.node));
if (Number.parseInt(process.versions.node, 10) < needed)
  stop(
    `paygraph needs Node.js ${needed} or newer; this is ${process.versions.node}. In a checkout \`npm ci\` brings it, for npm run and npx.`,
    2,
  );

// What graphql-js checks beyond that helps who develops with it, and costs every request.
process.env.NODE_ENV ??= 'production';
await buildWhereStale();
module.enableCompileCache();
module.setSourceMapsSupport(true, { nodeModules: false });
await module
  .createRequire(import.meta.url)('../dist/cli/main.js')
  .main();
