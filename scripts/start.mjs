// Builds when the sources are newer than dist, then becomes the program: no process in between, so that signals reach it.
import cluster from 'node:cluster';
import { createRequire, enableCompileCache } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { build, isFresh } from './build.mjs';

// One of several workers runs what the first process found fresh.
if (cluster.isPrimary && !isFresh() && !build()) process.exit(1);
enableCompileCache();
process.setSourceMapsEnabled(true);
// What follows the program's name is for the program.
const [name = 'server.js'] = process.argv.splice(2, 1);
const program = path.resolve(import.meta.dirname, '..', 'dist', name);
createRequire(import.meta.url)(program).main();
