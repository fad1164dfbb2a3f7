// Runs the gateway as bin/paygraph.mjs does, but with a longer timeout of the journal.
import cluster from 'node:cluster';
import { createRequire } from 'node:module';
import process from 'node:process';
import { build, isFresh } from '../../scripts/build.mjs';

if (cluster.isPrimary && !isFresh() && !build()) process.exit(1);
process.setSourceMapsEnabled(true);
const require = createRequire(import.meta.url);
const { openJournal } = require('../../dist/datasources/journal/create-journal.js');
const { main } = require('../../dist/server.js');
main((url) => openJournal(url, Number(process.argv[2])));
