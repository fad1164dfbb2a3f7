// The built gateway in its own process, which reports its memory.
import { createRequire } from 'node:module';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { clientKeysFile, temporaryFile } from '../journal/client-key.mjs';
import { serve } from '../journal/processes.mjs';
import { sleep } from './clock.mjs';

const require = createRequire(import.meta.url);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** Returns the memory after garbage collection, in bytes. */
async function memory() {
  for (let turn = 0; turn < 4; turn += 1) {
    collectGarbage({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    // Event loop callbacks may release more memory meanwhile.
    await sleep(100);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heapUsed, external };
}

// bin/paygraph.mjs enables source maps, too.
process.setSourceMapsEnabled(true);

await serve(async ({ serviceUrl, settings }) => {
  require('reflect-metadata');
  const { pino } = require('pino');
  const { readConfig } = require('../../dist/config/index.js');
  const { startGateway } = require('../../dist/app/gateway.js');
  const { systemClock } = require('../../dist/shared/clock.js');
  const config = readConfig({
    PORT: '0',
    CLIENT_KEYS_FILE: clientKeysFile(),
    RATE_LIMIT_PER_MINUTE: '0',
    MAX_SUBSCRIPTIONS: '20000',
    MAX_SUBSCRIPTIONS_PER_CLIENT: '20000',
    AUDIT_LOG_FILE: temporaryFile('audit.log'),
    DATABASE_URL: `file:${temporaryFile('journal.db')}`,
    SERVICE_BASE_URL: serviceUrl,
    SERVICE_API_KEY: 'bench-api-key-0123456789',
    SERVICE_SECRET_KEY: 'bench-secret-key-0123456789',
    ...settings,
  });
  const log = pino({ level: 'info' }, pino.destination({ dest: '/dev/null', sync: true }));
  const gateway = await startGateway(config, log, systemClock, {});
  return {
    ready: { url: gateway.url, pid: process.pid },
    answer: memory,
    stop: () => gateway.close(),
  };
});
