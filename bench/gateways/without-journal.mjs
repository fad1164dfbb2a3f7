// Runs the gateway as `npm start` does, but with a journal that stores nothing. No setting leads to this.
import { createRequire, enableCompileCache } from 'node:module';
import process from 'node:process';
import { noJournal } from '../journal/fakes.mjs';

enableCompileCache();
process.setSourceMapsEnabled(true);
createRequire(import.meta.url)('../../dist/server.js').main(async () => noJournal());
