// The gateway as `npm start` runs it, but for a journal that keeps nothing: no setting leads to this.
import { createRequire, enableCompileCache } from 'node:module';
import process from 'node:process';
import { noJournal } from '../journal/fakes.mjs';

enableCompileCache();
process.setSourceMapsEnabled(true);
createRequire(import.meta.url)('../../dist/server.js').main(async () => noJournal());
