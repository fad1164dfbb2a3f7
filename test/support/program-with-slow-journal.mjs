// Runs the gateway as bin/paygraph.mjs does, but with a longer timeout of the journal.
import module from 'node:module';
import process from 'node:process';
import { build, isFresh } from '../../scripts/build.mjs';

if (!isFresh() && !build()) process.exit(1);
module.setSourceMapsSupport(true, { nodeModules: false });
const require = module.createRequire(import.meta.url);
const { openJournal } = require('../../dist/datasources/journal/create-journal.js');
const { main } = require('../../dist/server.js');
main((url) => openJournal(url, Number(process.argv[2])));
