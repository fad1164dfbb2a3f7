// The built gateway in its own process, with an exchangeable journal.
import { createRequire } from 'node:module';
import process from 'node:process';
import { clientKeysFile, temporaryFile } from './client-key.mjs';
import { serve } from './processes.mjs';
import { counting, noJournal } from './fakes.mjs';

const require = createRequire(import.meta.url);

// bin/paygraph.mjs enables source maps, too.
process.setSourceMapsEnabled(true);

await serve(async ({ serviceUrl, journalUrl, count }) => {
  require('reflect-metadata');
  const { pino } = require('pino');
  const { readConfig } = require('../../dist/config/index.js');
  const { startGateway } = require('../../dist/app/gateway.js');
  const { systemClock } = require('../../dist/shared/clock.js');
  const { openJournal } = require('../../dist/datasources/journal/create-journal.js');
  const config = readConfig({
    PORT: '0',
    CLIENT_KEYS_FILE: clientKeysFile(),
    RATE_LIMIT_PER_MINUTE: '0',
    AUDIT_LOG_FILE: temporaryFile('audit.log'),
    SERVICE_BASE_URL: serviceUrl,
    SERVICE_API_KEY: 'bench-api-key-0123456789',
    SERVICE_SECRET_KEY: 'bench-secret-key-0123456789',
    ...(journalUrl && { DATABASE_URL: journalUrl }),
  });
  let counts = {};
  const open = async (url) => {
    if (!journalUrl) return noJournal();
    const journal = await openJournal(url);
    if (!count) return journal;
    const wrapped = counting(journal);
    counts = wrapped.counts;
    return wrapped.counted;
  };
  const log = pino({ level: 'info' }, pino.destination({ dest: '/dev/null', sync: true }));
  // If calls are counted, no timer fires. Without background work every counted call is caused by a request.
  const clock = count ? { ...systemClock, after: () => ({ cancel: () => {} }) } : systemClock;
  const gateway = await startGateway(config, log, clock, { openJournal: open });
  return {
    ready: gateway.url,
    /** Returns the journal calls since the last call. */
    answer: async () => {
      const since = { ...counts };
      Object.keys(counts).forEach((name) => delete counts[name]);
      return since;
    },
    stop: () => gateway.close(),
  };
});
